"""What a flat model is once it is trained: weights, groups, and how to decode. No scikit-learn needed.

`MLGTClassifier` makes and saves it, `Predictor` uses it; loading one checks that its parts fit together.
"""

import operator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..classifiers.margins import group_margins
from ..decoding import DECODERS, DESIGN_DECODERS
from ..decoding.index import LabelIndex
from ..groups.saffron import SaffronDesign
from ..ranking import BEFORE_BLENDS, Blend, Companions, LabelRanker
from ..ranking.centroids import CentroidIndex
from .fitted import Matching, Reading, make_matching, make_reading

SETTINGS = ("normalize", "decoder", "decoder_params", "tail")
"""Parameters of the estimator that prediction needs as they are."""


@dataclass(frozen=True)
class FlatModel:
    coef: np.ndarray  # (p, m) float32, or int8 in units of coef_scale
    intercept: np.ndarray  # (m,) float32
    groups: sp.csr_array | None  # (m, d); None for those of a design, which are made when asked for
    label_counts: np.ndarray  # (d,) training rows of each label
    n_rows: int  # training rows in all
    classes: np.ndarray  # (d,) names, or 0 .. d-1
    feature_names: list[str] | None
    settings: dict[str, Any]  # normalize, power, and what `make_matching` wants
    ranker: LabelRanker | None = None
    centroids: CentroidIndex | None = None
    companions: Companions | None = None
    coef_scale: np.ndarray | None = None  # (m,) float32
    design: SaffronDesign | None = None

    def group_matrix(self):
        """A (m, d)."""
        return self.groups if self.design is None else self.design.A

    def matching(self) -> Matching | Reading:
        weights = {"coef": self.coef, "intercept": self.intercept, "scale": self.coef_scale}
        margins = partial(
            group_margins, **{n: w if w is None else np.asarray(w) for n, w in weights.items()}
        )
        if self.settings["decoder"] in DESIGN_DECODERS:
            return make_reading(margins, self.design, self.label_counts, self.settings)
        groups = self.group_matrix()
        return make_matching(
            margins, groups, LabelIndex(groups), self.label_counts, self.settings, self.ranker,
            self.centroids, self.companions,
        )  # fmt: skip

    @property
    def n_features(self) -> int:
        return self.coef.shape[0]

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays of a model folder, by name."""
        arrays = {
            "coef": self.coef,
            "coef_scale": self.coef_scale,
            "intercept": self.intercept,
            "label_counts": self.label_counts,
        }
        if self.design is not None:
            arrays |= self.design.to_arrays()
        elif self.groups is not None:
            arrays |= {"groups_indptr": self.groups.indptr, "groups_indices": self.groups.indices}
        arrays |= ranking_arrays(self.ranker, self.centroids, self.companions)
        return {name: array for name, array in arrays.items() if array is not None}

    @classmethod
    def from_state(cls, facts, arrays):
        """Of a model folder's header and arrays; raises when they do not fit together."""
        p, m, d = facts["n_features"], facts["n_groups"], facts["n_labels"]
        params, names = facts["params"], facts["label_names"]
        _check_shapes(arrays, {"coef": (p, m), "intercept": (m,), "label_counts": (d,)})
        scale = arrays.get("coef_scale")
        if scale is not None and (scale.shape != (m,) or arrays["coef"].dtype != np.int8):
            raise ValueError("coef_scale does not go with coef")
        _check_numbers(arrays, "intercept", *(["coef"] if scale is None else ["coef_scale"]))
        design = _stored_design(arrays, m, d)
        if names is not None and len(names) != d:
            raise ValueError(f"{len(names)} names for {d} labels")
        if params["decoder"] not in DECODERS | DESIGN_DECODERS:
            raise ValueError(f"decoder={params['decoder']!r} is unknown")
        return cls(
            coef=arrays["coef"],
            intercept=arrays["intercept"],
            groups=_stored_groups(arrays, m, d) if design is None else None,
            label_counts=arrays["label_counts"],
            n_rows=operator.index(facts["n_rows"]),
            feature_names=facts["feature_names"],
            classes=np.arange(d) if names is None else np.array(names, object),
            settings=stored_settings(facts, "ranker_bias" in arrays),
            ranker=stored_ranker(arrays, p, d),
            centroids=stored_centroids(arrays, p, d),
            companions=stored_companions(arrays, d),
            coef_scale=scale,
            design=design,
        )


def stored_settings(facts, ranked):
    params = facts["params"]
    blend = facts.get("blend", BEFORE_BLENDS.to_facts() if ranked else None)
    final = facts.get("final_blend")
    return {name: params.get(name, 0.0 if name == "tail" else None) for name in SETTINGS} | {
        "n_candidates": operator.index(facts["n_candidates"]),
        "candidate_prior": float(facts.get("candidate_prior", params["candidate_prior"])),
        "power": float(facts.get("power", 1.0)),
        "blend": None if blend is None else Blend.from_facts(blend),
        "final_blend": None if final is None else Blend.from_facts(final),
        "n_rows": operator.index(facts["n_rows"]),
    }


def _stored_groups(arrays, m, d):
    indptr, indices = arrays["groups_indptr"], arrays["groups_indices"]
    _check_shapes(arrays, {"groups_indptr": (m + 1,), "groups_indices": (int(indptr[-1]),)})
    _check_pointers(arrays, "groups_indptr")
    if indices.dtype.kind != "i":
        raise ValueError("groups_indices are no whole numbers")
    if len(indices) and not 0 <= indices.min() <= indices.max() < d:
        raise ValueError(f"groups_indices has ids outside 0 .. {d - 1}")
    return sp.csr_array((np.ones(len(indices), np.float32), indices, indptr), shape=(m, d))


def _stored_design(arrays, m, d):
    if "saffron_header" not in arrays:
        return None
    if arrays["saffron_header"].tolist() not in ([d, 0], [d, 1]):
        raise ValueError(f"saffron_header is not that of a design of {d} labels")
    design = SaffronDesign.from_arrays(arrays)
    if design.n_groups != m:
        raise ValueError(f"the SAFFRON design has {design.n_groups} groups, not {m}")
    return design


def _check_shapes(arrays, shapes):
    for name, shape in shapes.items():
        if arrays[name].shape != shape:
            raise ValueError(f"{name} has shape {arrays[name].shape}, not {shape}")


def _check_numbers(arrays, *names):
    for name in names:
        if arrays[name].dtype != np.float32 or not np.isfinite(arrays[name]).all():
            raise ValueError(f"{name} is not all finite float32 numbers")


def _check_pointers(arrays, name):
    """Row pointers that do not rise from 0 would send the kernels out of bounds."""
    pointers = arrays[name]
    if pointers.dtype.kind != "i" or pointers[0] != 0 or (np.diff(pointers) < 0).any():
        raise ValueError(f"{name} does not rise from 0")


def ranking_arrays(ranker, centroids, companions=None):
    """What a model folder holds of them, by name; any may be None."""
    arrays: dict[str, np.ndarray] = {}
    if ranker is not None:
        arrays |= {f"ranker_{part}": getattr(ranker, name) for part, name in _RANKER.items()}
    if centroids is not None:
        arrays |= {f"centroids_{name}": getattr(centroids, name) for name in _CENTROIDS}
    if companions is not None:
        arrays |= {f"companions_{name}": getattr(companions, name) for name in _COMPANIONS}
    return arrays


_RANKER = {"indptr": "indptr", "indices": "columns", "values": "values", "scale": "scale", "bias": "bias"}
_CENTROIDS = ("indptr", "labels", "values", "scale")
_COMPANIONS = ("indptr", "labels", "values")


def stored_ranker(arrays, p, d):
    if "ranker_bias" not in arrays:
        return None
    scale = arrays.get("ranker_scale", np.ones(d, np.float32))
    _check_runs(arrays, "ranker", "indices", d, p)
    if arrays["ranker_bias"].shape != (d,):
        raise ValueError(f"the ranker is not one of {d} labels")
    _check_numbers(arrays, "ranker_bias", *(["ranker_values"] if "ranker_scale" not in arrays else []))
    indptr, columns, values = (arrays[f"ranker_{part}"] for part in ("indptr", "indices", "values"))
    return LabelRanker(indptr, columns, values, scale, arrays["ranker_bias"], p)


def stored_centroids(arrays, p, d):
    if "centroids_scale" not in arrays:
        return None
    _check_runs(arrays, "centroids", "labels", p, d)
    return CentroidIndex(*(arrays[f"centroids_{name}"] for name in _CENTROIDS))


def stored_companions(arrays, d):
    if "companions_values" not in arrays:
        return None
    _check_runs(arrays, "companions", "labels", d, d)
    if arrays["companions_values"].dtype != np.uint8:
        raise ValueError("companions_values are no bytes")
    return Companions(*(arrays[f"companions_{name}"] for name in _COMPANIONS))


def _check_runs(arrays, owner, ids, n_runs, n_ids):
    """Sparse rows: pointers, ids and values that fit together, scales that are numbers."""
    indptr, found, values = (arrays[f"{owner}_{part}"] for part in ("indptr", ids, "values"))
    if indptr.shape != (n_runs + 1,):
        raise ValueError(f"{owner}_indptr has shape {indptr.shape}, not {(n_runs + 1,)}")
    _check_pointers(arrays, f"{owner}_indptr")
    if not len(found) == len(values) == indptr[-1]:
        raise ValueError(f"the weights of {owner} are not all there")
    if found.dtype.kind not in "iu" or (len(found) and not 0 <= found.min() <= found.max() < n_ids):
        raise ValueError(f"{owner}_{ids} has ids outside 0 .. {n_ids - 1}")
    if f"{owner}_scale" in arrays:
        _check_numbers(arrays, f"{owner}_scale")
        if arrays[f"{owner}_scale"].shape != (n_runs,) or values.dtype.kind not in "if":
            raise ValueError(f"{owner}_scale does not go with {owner}_values")

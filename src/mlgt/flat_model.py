"""What a flat model is once it is trained: weights, groups, and how to decode. No scikit-learn needed.

`MLGTClassifier` makes and saves it, `Predictor` uses it; loading one checks that its parts fit together.
"""

import operator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from .decode import DECODERS
from .match import Matching, make_matching
from .rerank import LabelRanker
from .retrieve import LabelIndex, group_margins

SETTINGS = ("normalize", "decoder", "decoder_params", "n_candidates", "candidate_prior")


@dataclass(frozen=True)
class FlatModel:
    coef: np.ndarray  # (p, m) float32
    intercept: np.ndarray  # (m,) float32
    groups: sp.csr_array  # (m, d)
    label_counts: np.ndarray  # (d,) training rows of each label
    n_rows: int  # training rows in all
    classes: np.ndarray  # (d,) names, or 0 .. d-1
    feature_names: list[str] | None
    settings: dict[str, Any]  # normalize, and what `make_matching` wants
    ranker: LabelRanker | None = None

    def matching(self) -> Matching:
        margins = partial(group_margins, coef=np.asarray(self.coef), intercept=np.asarray(self.intercept))
        index = LabelIndex(self.groups)
        return make_matching(margins, self.groups, index, self.label_counts, self.settings, self.ranker)

    @classmethod
    def from_state(cls, facts, arrays):
        """Of a model folder's header and arrays; raises when they do not fit together."""
        p, m, d = facts["n_features"], facts["n_groups"], facts["n_labels"]
        params, names = facts["params"], facts["label_names"]
        indices = arrays["groups_indices"]
        shapes = {
            "coef": (p, m),
            "intercept": (m,),
            "groups_indptr": (m + 1,),
            "groups_indices": (int(arrays["groups_indptr"][-1]),),
            "label_counts": (d,),
        }
        for name, shape in shapes.items():
            if arrays[name].shape != shape:
                raise ValueError(f"{name} has shape {arrays[name].shape}, not {shape}")
        _check_numbers(arrays, "coef", "intercept")
        _check_pointers(arrays, "groups_indptr")
        if indices.dtype.kind != "i":
            raise ValueError("groups_indices are no whole numbers")
        if len(indices) and not 0 <= indices.min() <= indices.max() < d:
            raise ValueError(f"groups_indices has ids outside 0 .. {d - 1}")
        if names is not None and len(names) != d:
            raise ValueError(f"{len(names)} names for {d} labels")
        if params["decoder"] not in DECODERS:
            raise ValueError(f"decoder={params['decoder']!r} is unknown")
        ones = np.ones(len(indices), np.float32)
        return cls(
            coef=arrays["coef"],
            intercept=arrays["intercept"],
            groups=sp.csr_array((ones, indices, arrays["groups_indptr"]), shape=(m, d)),
            label_counts=arrays["label_counts"],
            n_rows=operator.index(facts["n_rows"]),
            feature_names=facts["feature_names"],
            classes=np.arange(d) if names is None else np.array(names, object),
            settings={name: params[name] for name in SETTINGS} | {"n_candidates": facts["n_candidates"]},
            ranker=_stored_ranker(arrays, p, d),
        )


def _check_numbers(arrays, *names):
    for name in names:
        if arrays[name].dtype != np.float32 or not np.isfinite(arrays[name]).all():
            raise ValueError(f"{name} is not all finite float32 numbers")


def _check_pointers(arrays, name):
    """Row pointers that do not rise from 0 would send the kernels out of bounds."""
    pointers = arrays[name]
    if pointers.dtype.kind != "i" or pointers[0] != 0 or (np.diff(pointers) < 0).any():
        raise ValueError(f"{name} does not rise from 0")


def ranker_arrays(ranker):
    """A ranker as arrays of a model folder; none without one."""
    if ranker is None:
        return {}
    weights = ranker.weights
    return {
        "ranker_indptr": weights.indptr,
        "ranker_indices": weights.indices,
        "ranker_values": weights.data,
        "ranker_bias": ranker.bias,
    }


def _stored_ranker(arrays, p, d):
    if "ranker_bias" not in arrays:
        return None
    indptr, indices, values = (arrays[f"ranker_{part}"] for part in ("indptr", "indices", "values"))
    if indptr.shape != (d + 1,) or arrays["ranker_bias"].shape != (d,):
        raise ValueError(f"the ranker is not one of {d} labels")
    if not len(indices) == len(values) == indptr[-1]:
        raise ValueError("the ranker's weights are not all there")
    _check_pointers(arrays, "ranker_indptr")
    _check_numbers(arrays, "ranker_values", "ranker_bias")
    if len(indices) and not 0 <= indices.min() <= indices.max() < p:
        raise ValueError(f"ranker_indices has ids outside 0 .. {p - 1}")
    return LabelRanker(sp.csr_array((values, indices, indptr), shape=(d, p)), arrays["ranker_bias"])

"""The model format: a `FittedModel` <-> the header and the arrays of a model folder.

Every part declares and checks its own arrays (`to_arrays`, `from_arrays` beside the class); this module
knows which parts there are, what the header holds, and how headers of older versions read. Version 2 added
powers, bytes, centroids, co-occurrence and blends; version 3 `solver_params`, `ranker_params` and the
reasons of settings; version 4 names, vocabularies and kept rows; version 5 shorter ids, kept rows
and group weights; version 6 ids as gaps (`model.packing`); version 7 deflated half bytes, and
bars of labels that came after training; version 8 kept rows and weights in deflated bytes; version 9
dense features of centroids, and far gaps in two bytes. `model.reading` and `model.writing` know folders,
files and checksums.
"""

import numbers
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from .._core.arrays import check_ids, check_kind, check_shapes
from .._core.ids import KnownIds, label_classes
from ..blocks import BlockClassifiers, Calibration, CountSketch, Router, stack_groups
from ..classifiers.train import EstimatorGroups, LinearGroups
from ..decoding import DESIGN_DECODERS, LabelIndex
from ..groups.files import groups_from_arrays, groups_to_arrays
from ..groups.saffron import SaffronDesign
from ..labels.partition import Partition
from ..ranking import Blend, CentroidIndex, CooccurrenceShares, LabelRanker, NameIndex, Rest
from ..text import FeatureWords, TextFeatures
from ..vocabulary import Vocabulary
from .entries import MAX_ROWS, NONE, OBJECT, check_entries, check_header, either
from .fitted import FittedModel
from .record import BlockStructure, TrainingRecord
from .sample import Sample

FORMAT = "mlgt-model"
VERSION = 9
READABLE = (1, 2, 3, 4, 5, 6, 7, 8, 9)
CLASSES = ("MLGTClassifier", "HierarchicalMLGTClassifier")
"""Estimators that a header may name."""

_RANKING: dict[str, tuple[str, Any, str]] = {
    "ranker": ("ranker_", LabelRanker, "pd"),
    "centroids": ("centroids_", CentroidIndex, "pd"),
    "cooccurrence": ("companions_", CooccurrenceShares, "d"),  # the name of its arrays since version 2
    "sample": ("sample/", Sample, "pd"),
}
"""Parts of the ranking: the prefix of their arrays, their class, and the sizes that it checks."""
_NAMES = {"vocabulary/": "vocabulary", "names_": "name_index", "name_features_": "feature_words"}
"""Parts of the model that know names, by the prefix of their arrays."""
_VERSION_1_BLEND = Blend(ranker=1.0, matcher=1.0)
"""The blend of models that were saved without one."""
MAX_LABELS_PER_ENTRY = 64
"""Labels of a block per entry of its groups. It bounds the memory of blocks that share separators."""


class Part(Mapping):
    """The arrays whose names begin with `prefix`, under the rest of their names."""

    def __init__(self, arrays: Mapping[str, np.ndarray], prefix: str) -> None:
        self.arrays, self.prefix = arrays, prefix

    def __getitem__(self, name: str) -> np.ndarray:
        return self.arrays[self.prefix + name]

    def __iter__(self) -> Iterator[str]:
        return (name[len(self.prefix) :] for name in self.arrays if name.startswith(self.prefix))

    def __len__(self) -> int:
        return sum(1 for _ in self)


# A model as a header and arrays.


def to_arrays(model: FittedModel) -> dict[str, np.ndarray]:
    """All arrays of the model by name."""
    arrays: dict[str, np.ndarray] = {"label_counts": model.label_counts}
    for name, known in (("label_ids", model.known_labels), ("feature_ids", model.known_features)):
        arrays |= {} if known is None else {name: known.ids}
    for name, (prefix, *_) in _RANKING.items():
        arrays |= _prefixed(prefix, getattr(model, name))
    for prefix, part in _NAMES.items():
        arrays |= _prefixed(prefix, getattr(model, part))
    if model.blocks is None:
        arrays |= model.classifiers.to_arrays(deflated=True)
        arrays |= groups_to_arrays(model.groups) if model.design is None else model.design.to_arrays()
    else:
        stacked, blocks = model.classifiers, model.blocks
        arrays |= _prefixed("partition/", blocks.partition)
        for i, (part, A) in enumerate(zip(stacked.parts, blocks.groups)):
            own = part.to_arrays() | groups_to_arrays(A)
            arrays |= {f"block-{i}/{name}": array for name, array in own.items()}
        for prefix, piece in (
            ("calibration/", blocks.calibration), ("sketch/", stacked.sketch), ("router/", stacked.router)
        ):  # fmt: skip
            arrays |= _prefixed(prefix, piece)
    return arrays | ({} if model.features is None else model.features.to_arrays())


def _prefixed(prefix, part):
    return {} if part is None else {prefix + name: array for name, array in part.to_arrays().items()}


def to_header(model: FittedModel, owner: Mapping[str, Any]) -> dict[str, Any]:
    """What the header states about the model.

    `owner` has `class` and `params` of the estimator; for texts also `text`, with the `params` of the
    tagger and whether its classifier is the default one.
    """
    record = model.record
    weights = record.column_weight if model.blocks is None else list(model.blocks.column_weights)
    header = {
        "class": owner["class"],
        "params": _portable(owner["params"]),
        "n_features": model.n_features,
        "feature_names": model.feature_names,
        "n_labels": model.n_labels,
        "label_names": None if model.classes.dtype.kind == "i" else list(model.classes),
        "n_groups": model.n_groups,
        "column_weight": weights,
        "column_weight_losses": list((record.column_weight_losses or {}).items()) or None,
        "reproducible": record.reproducible,
        "n_iter": model.classifiers.n_iter,
        "n_rows": model.n_rows,
        "n_candidates": model.n_candidates,
        "power": model.power,
        "C": record.C,
        "candidate_prior": model.candidate_prior,
        "blend": model.blend and asdict(model.blend),
        "final_blend": model.final_blend and asdict(model.final_blend),
        "rest": model.rest and asdict(model.rest),
        "tried": [[*setting, value] for setting, value in record.tried.items()],
        "held_out": dict(record.held_out),
        "reasons": dict(record.reasons),
    }
    if model.blocks is not None:
        header["blocks"] = _block_facts(model)
    if model.features is not None:
        header["text"] = {**owner["text"], "columns": model.columns, **model.features.to_facts()}
    return header


def _portable(params):
    """Parameters without objects that the arrays of the model hold already."""
    params = dict(params)
    params |= {"normalize": bool(params["normalize"]), "verbose": int(params["verbose"])}
    if params["n_jobs"] is not None:
        params["n_jobs"] = int(params["n_jobs"])
    if not isinstance(params["construction"], str):
        params["construction"] = None
    if not isinstance(params["random_state"], numbers.Integral):
        params["random_state"] = None
    if isinstance(params.get("partitioner"), Partition):
        params["partitioner"] = None
    return params


def _block_facts(model):
    blocks, calibration = model.blocks, model.blocks.calibration
    sketch, router = model.classifiers.sketch, model.classifiers.router
    return {
        "lost": blocks.partition.lost,
        "partitioner": blocks.partition.partitioner,
        "budget": blocks.partition.budget,
        "combination": blocks.combination,
        "bonus": None if calibration is None else calibration.bonus,
        "width": None if sketch is None else sketch.width,
        "routes": None if router is None else router.n_routes,
        "lost_routes": None if router is None else router.lost,
        "rows": list(blocks.n_rows),
    }


def check_portable(model: FittedModel) -> None:
    """Raise if the model has no file form: a scikit-learn classifier per group has no weights to write."""
    parts = model.classifiers.parts if model.blocks is not None else [model.classifiers]
    if isinstance(parts[0], EstimatorGroups):
        raise ValueError(
            "A model trained with a classifier of its own (classifier=...) has no linear weights and no "
            "portable file form. Keep it with joblib.dump(model, path) and use its predict_topk, or train "
            "with classifier=None."
        )


# And back.


def from_folder(header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> FittedModel:
    """The model; raises unless the header is right and fits the arrays."""
    check_header(header)
    known_labels = _known_ids(arrays, "label_ids", header["n_labels"])
    known_features = _known_ids(arrays, "feature_ids", header["n_features"])
    d = header["n_labels"] if known_labels is None else len(known_labels.ids)
    p = header["n_features"] if known_features is None else len(known_features.ids)
    params, names = header["params"], header["label_names"]
    check_kind(arrays, "label_counts", np.int64)
    check_shapes(arrays, label_counts=(d,))
    check_ids(arrays, "label_counts", MAX_ROWS + 1)
    if params["decoder"] in DESIGN_DECODERS and "saffron_header" not in arrays:
        raise ValueError(f"decoder={params['decoder']!r} needs a SAFFRON design")
    text = header.get("text")
    features = None if text is None else TextFeatures.from_arrays(text, arrays, header["n_features"])
    group_parts = _flat_parts if "blocks" not in header else _block_parts
    return FittedModel(
        **group_parts(header, arrays, p, d),
        **_ranking_parts(header, arrays, p, d),
        **_name_parts(arrays, features, header["n_features"]),
        features=features,
        columns=None if text is None else text["columns"],
        classes=label_classes(names, known_labels, d),
        known_labels=known_labels,
        known_features=known_features,
        label_counts=arrays["label_counts"],
        n_rows=header["n_rows"],
        n_features=header["n_features"],
        feature_names=header["feature_names"],
        vocabulary=_vocabulary(arrays, names, known_labels),
        normalize=params["normalize"],
        power=float(header["power"]),
        decoder_name=params["decoder"],
        decoder_params=params["decoder_params"] or {},
        n_candidates=header["n_candidates"],
        candidate_prior=float(header["candidate_prior"]),
        tail=params["tail"],
        record=_record(header),
    )


def _known_ids(arrays, name, total):
    """The ids of a model that leaves some out, else None."""
    if name not in arrays:
        return None
    check_ids(arrays, name, total)
    ids = arrays[name]
    if ids.ndim != 1 or not len(ids) or len(np.unique(ids)) != len(ids):
        raise ValueError(f"{name} are not distinct ids")
    return KnownIds(np.asarray(ids, np.int64), total)


def _vocabulary(arrays, names, known_labels):
    """The vocabulary of a model that has one, else None."""
    if "vocabulary/labels" not in arrays:
        return None
    if known_labels is not None:
        raise ValueError("a model with a vocabulary leaves out label ids")
    return Vocabulary.from_arrays(Part(arrays, "vocabulary/"), names)


def _ranking_parts(header, arrays, p, d):
    """The parts that rank candidates."""
    found = {}
    for name, (prefix, kind, sizes) in _RANKING.items():
        part = Part(arrays, prefix)
        if "values" in part:
            found[name] = kind.from_arrays(part, *({"p": p, "d": d}[size] for size in sizes))
    for name, kind in (("blend", Blend), ("final_blend", Blend), ("rest", Rest)):
        found[name] = None if header[name] is None else kind.from_facts(header[name])
    return found


def _name_parts(arrays, features, p):
    """The parts that make names evidence: an index, and the words of texts or of the features of rows."""
    names, words = Part(arrays, "names_"), Part(arrays, "name_features_")
    in_texts = features is not None and features.names is not None
    present = "idf" in names, in_texts, "words" in words
    if not any(present):
        return {}
    if present != (True, features is not None, features is None):
        raise ValueError("names, and the words of rows that are matched with them, do not go together")
    index = NameIndex.from_arrays(names, arrays["label_counts"])
    if features is None:
        return {"name_index": index, "feature_words": FeatureWords.from_arrays(words, p, len(index.idf))}
    if len(features.names.terms) != len(index.idf):
        raise ValueError(f"text/names are not {len(index.idf)} words")
    return {"name_index": index}


def _record(header):
    losses = header["column_weight_losses"]
    weight = header["column_weight"]
    return TrainingRecord(
        C=header["C"],
        column_weight=None if isinstance(weight, list) else weight,
        column_weight_losses=None if losses is None else dict(losses),
        reproducible=header["reproducible"],
        tried={(power, C): value for power, C, value in header["tried"]},
        held_out=header["held_out"],
        reasons=header["reasons"],
    )


def _flat_parts(header, arrays, p, d):
    m = header["n_groups"]
    check_shapes(arrays, intercept=(m,))
    classifiers = LinearGroups.from_arrays(Part(arrays, ""), p, header["n_iter"])
    if "saffron_header" in arrays:
        design = SaffronDesign.from_arrays(arrays, d)
        if design.n_groups != m:
            raise ValueError(f"the SAFFRON design has {design.n_groups} groups, not {m}")
        return {"classifiers": classifiers, "design": design}
    A = groups_from_arrays(arrays, m, d)
    return {"classifiers": classifiers, "groups": A, "index": LabelIndex(A)}


def _block_parts(header, arrays, p, d):
    facts = header["blocks"]
    tree = {name: facts[name] for name in ("lost", "partitioner", "budget")}
    partition = Partition.from_arrays(Part(arrays, "partition/"), d, **tree)
    n_blocks = partition.n_blocks
    if len(facts["rows"]) != n_blocks or len(header["column_weight"]) != n_blocks:
        raise ValueError(f"rows or column weights are not those of {n_blocks} blocks")
    sketch = router = calibration = None
    if facts["width"] is not None:
        sketch = CountSketch.from_arrays(Part(arrays, "sketch/"), p, facts["width"])
    width = p if sketch is None else sketch.width
    if facts["routes"] is not None:
        routing = n_blocks, facts["routes"], facts["lost_routes"]
        router = Router.from_arrays(Part(arrays, "router/"), width, *routing)
    if "calibration/slopes" in arrays:
        calibration = Calibration.from_arrays(Part(arrays, "calibration/"), n_blocks, facts["bonus"])
    elif facts["combination"] == "calibrated":
        raise ValueError("the calibration of the blocks is missing")
    parts, groups = [], []
    for i, size in enumerate(partition.sizes):
        own = Part(arrays, f"block-{i}/")
        if size > MAX_LABELS_PER_ENTRY * (1 + len(own["groups_indices"])):
            raise ValueError(f"block {i} has {size} labels, but hardly any is in a group")
        parts.append(LinearGroups.from_arrays(own, width, header["n_iter"]))
        groups.append(groups_from_arrays(own, parts[-1].n_groups, int(size)))
    if header["n_groups"] != sum(part.n_groups for part in parts):
        raise ValueError(f"the blocks do not have {header['n_groups']} groups together")
    blocks = BlockStructure(
        partition, groups, facts["combination"], calibration, header["column_weight"], facts["rows"]
    )
    A = stack_groups(groups, blocks.layout.labels, d)
    stacked = BlockClassifiers(parts, sketch, router)
    return {"classifiers": stacked, "groups": A, "index": LabelIndex(A), "blocks": blocks}


# Headers of older versions.

_MOVED = {
    "solver_params": ("loss", "tol", "max_iter", "class_weight"),
    "ranker_params": ("n_candidates", "candidate_prior", "centroids"),
}
"""Parameters of versions 1 and 2 that are keys of a dict since version 3."""
_TEXT_DEFAULTS: dict[str, Any] = {"languages": [], "language_shares": {}, "max_characters": None}
"""Models of texts that know no languages."""
_DEFAULTS = {"loss": "squared_hinge", "max_iter": 200}


def upgrade(header: Mapping[str, Any]) -> dict[str, Any]:
    """The header as versions from 4 on have it."""
    new = _upgrade_params(dict(header)) if header["format_version"] < 3 else dict(header)
    if header["format_version"] < 4:
        for name in ("blend", "final_blend"):
            check_entries({name: either(NONE, OBJECT)}, new)
            new[name] = new[name] and {"name": 0.0, "phrase": 0.0, "unseen": 0.0} | new[name]
        new.setdefault("rest", None)
        check_entries({"params": OBJECT}, new)
        new["params"] = {"quality": "normal"} | new["params"]
        if isinstance(new.get("text"), dict):
            new["text"] = _TEXT_DEFAULTS | new["text"]
    return new


def _upgrade_params(header):
    """The header as version 3 would have it, from version 1 or 2."""
    optional = [name for name in ("blend", "final_blend", "blocks") if header.get(name)]
    check_entries(dict.fromkeys(["params", "arrays", *optional], OBJECT), header)
    params = dict(header["params"])
    ranked = "ranker_bias" in header["arrays"]
    for name in ("blend", "final_blend"):
        default = asdict(_VERSION_1_BLEND) if ranked and name == "blend" else None
        blend = header.get(name, default)
        if blend is not None and "company" in blend:
            blend = {"cooccurrence" if key == "company" else key: value for key, value in blend.items()}
        header[name] = blend
    header |= {
        "candidate_prior": header.get("candidate_prior", params.get("candidate_prior", 0.0)),
        "power": header.get("power", 1.0),
        "C": header.get("C", params.get("C", 1.0)),
        "tried": header.get("tried", []),
        "held_out": header.get("held_out", {}),
        "reasons": {},
    }
    if "blocks" in header:
        header["blocks"] = {"routes": None, "lost_routes": None} | header["blocks"]
    params["tail"] = params.get("tail", 0.0)
    params.pop("weight_bits", None)
    for name, keys in _MOVED.items():
        given = {key: params.pop(key) for key in keys if key in params}
        default = {key: _DEFAULTS.get(key, "auto") for key in keys} | {"class_weight": None}
        params[name] = {key: value for key, value in given.items() if value != default[key]} or None
    if params.get("ranker") is None:
        params["ranker_params"] = None  # had no effect
    header["params"] = params
    return header

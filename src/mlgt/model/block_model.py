"""What a model of blocks is once it is trained: a partition, and a flat model's parts for each block.

`HierarchicalMLGTClassifier` makes and saves it, `Predictor` uses it. In a model folder the arrays of block
3 are `block-3/coef`, `block-3/intercept` and so on; its labels follow from the partition.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..blocks import (
    COMBINATIONS,
    BlockClassifiers,
    Calibration,
    CountSketch,
    Layout,
    Router,
    block_matching,
    stack_groups,
)
from ..classifiers.margins import group_margins
from ..classifiers.train import LinearGroups
from ..decoding.index import LabelIndex
from ..labels.partition import Partition
from ..ranking import Companions, LabelRanker
from ..ranking.centroids import CentroidIndex
from .fitted import Matching, make_matching
from .flat_model import (
    FlatModel,
    ranking_arrays,
    stored_centroids,
    stored_companions,
    stored_ranker,
    stored_settings,
)


@dataclass(frozen=True)
class BlockWeights:
    """The classifiers and groups of one block."""

    coef: np.ndarray  # (p, m_i) float32, or int8 in units of coef_scale
    intercept: np.ndarray  # (m_i,) float32
    coef_scale: np.ndarray | None  # (m_i,) float32
    groups: sp.csr_array  # (m_i, d_i)

    @property
    def n_groups(self):
        return len(self.intercept)

    @property
    def margins(self):
        scale = None if self.coef_scale is None else np.asarray(self.coef_scale)
        weights = {"coef": np.asarray(self.coef), "intercept": np.asarray(self.intercept), "scale": scale}
        return partial(group_margins, **weights)


@dataclass(frozen=True)
class BlockModel:
    partition: Partition
    blocks: Sequence[BlockWeights]
    label_counts: np.ndarray  # (d,) training rows of each label
    n_rows: int  # training rows in all
    classes: np.ndarray  # (d,) names, or 0 .. d-1
    n_features: int
    feature_names: list[str] | None
    settings: dict[str, Any]  # as of a flat model, and the combination
    calibration: Calibration | None = None
    sketch: CountSketch | None = None
    router: Router | None = None
    ranker: LabelRanker | None = None
    centroids: CentroidIndex | None = None
    companions: Companions | None = None

    def matching(self) -> Matching:
        groups = stack_groups(self.layout.groups, self.layout.labels, len(self.classes))
        parts = [SimpleNamespace(margins=block.margins, n_groups=block.n_groups) for block in self.blocks]
        return make_blocks_matching(
            BlockClassifiers(parts, self.sketch, self.router), groups, LabelIndex(groups),
            self.label_counts, self.settings, self.ranker, self.centroids, self.companions,
            layout=self.layout, calibration=self.calibration,
        )  # fmt: skip

    @property
    def layout(self):
        labels = [self.partition.labels(i) for i in range(self.partition.n_blocks)]
        return Layout([block.groups for block in self.blocks], labels, self.partition.n_labels)

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays of a model folder, by name."""
        arrays = {f"partition/{name}": getattr(self.partition, name) for name in _PARTITION}
        for i, block in enumerate(self.blocks):
            weights = {
                "coef": block.coef,
                "coef_scale": block.coef_scale,
                "intercept": block.intercept,
                "groups_indptr": block.groups.indptr,
                "groups_indices": block.groups.indices,
            }
            arrays |= {f"block-{i}/{name}": a for name, a in weights.items() if a is not None}
        arrays["label_counts"] = self.label_counts
        if self.calibration is not None:
            arrays["calibration/slopes"] = self.calibration.slopes
            arrays["calibration/intercepts"] = self.calibration.intercepts
        if self.sketch is not None:
            arrays |= {"sketch/columns": self.sketch.columns, "sketch/signs": self.sketch.signs}
        if self.router is not None:
            own = self.router.classifiers
            stored = {"coef": own.weights, "coef_scale": own.scale, "intercept": own.intercept}
            arrays |= {f"router/{name}": a for name, a in stored.items() if a is not None}
        return arrays | ranking_arrays(self.ranker, self.centroids, self.companions)

    def facts(self) -> dict[str, Any]:
        """What the header of a model folder tells of the blocks."""
        return {
            "lost": self.partition.lost,
            "partitioner": self.partition.partitioner,
            "budget": self.partition.budget,
            "combination": self.settings["combination"],
            "bonus": None if self.calibration is None else self.calibration.bonus,
            "width": None if self.sketch is None else self.sketch.width,
            "routes": None if self.router is None else self.router.n_routes,
            "lost_routes": None if self.router is None else self.router.lost,
        }

    @classmethod
    def from_state(cls, facts, arrays):
        """Of a model folder's header and arrays; raises when they do not fit together."""
        p, d, told = facts["n_features"], facts["n_labels"], facts["blocks"]
        permutation, offsets, parents = (np.asarray(arrays[f"partition/{name}"]) for name in _PARTITION)
        partition = Partition(
            permutation, offsets, parents, told["lost"], told["partitioner"], told["budget"]
        )
        if partition.n_labels != d or arrays["label_counts"].shape != (d,):
            raise ValueError(f"the partition or the label counts are not of {d} labels")
        if told["combination"] not in COMBINATIONS:
            raise ValueError(f"combination {told['combination']!r} is unknown")
        sketch = _stored_sketch(arrays, p, told["width"])
        width = p if sketch is None else sketch.width
        blocks = [
            _stored_block(facts, arrays, i, width, int(size)) for i, size in enumerate(partition.sizes)
        ]
        if facts["n_groups"] != sum(block.groups.shape[0] for block in blocks):
            raise ValueError(f"the blocks have not {facts['n_groups']} groups together")
        if len(told["rows"]) != len(blocks) or len(facts["column_weight"]) != len(blocks):
            raise ValueError(f"rows or column weights are not those of {len(blocks)} blocks")
        names = facts["label_names"]
        return cls(
            partition=partition,
            blocks=blocks,
            label_counts=arrays["label_counts"],
            n_rows=int(facts["n_rows"]),
            classes=np.arange(d) if names is None else np.array(names, object),
            n_features=p,
            feature_names=facts["feature_names"],
            settings={
                **stored_settings(facts, "ranker_bias" in arrays), "combination": told["combination"]
            },
            calibration=_stored_calibration(arrays, len(blocks), told["bonus"]),
            sketch=sketch,
            router=_stored_router(arrays, width, len(blocks), told),
            ranker=stored_ranker(arrays, p, d),
            centroids=stored_centroids(arrays, p, d),
            companions=stored_companions(arrays, d),
        )  # fmt: skip


_PARTITION = ("permutation", "offsets", "parents")


def make_blocks_matching(
    classifiers, groups, index, label_counts, settings, ranker=None, centroids=None, companions=None, *,
    layout, calibration,
):  # fmt: skip
    """`make_matching` for the stacked groups of several blocks."""
    matching = make_matching(
        classifiers.margins, groups, index, label_counts, settings, ranker, centroids, companions
    )
    matching = replace(matching, linear_at=classifiers.linear_at)
    if len(layout.groups) == 1:
        return matching
    return block_matching(matching, layout, settings["combination"], settings, label_counts, calibration)


def _stored_block(facts, arrays, i, width, d):
    """One block, checked as a flat model of its own."""
    names = ("coef", "coef_scale", "intercept", "groups_indptr", "groups_indices")
    own = {name: arrays[f"block-{i}/{name}"] for name in names if f"block-{i}/{name}" in arrays}
    own["label_counts"] = np.empty(d)
    m = own["intercept"].shape[0]
    flat = FlatModel.from_state(
        {**facts, "n_features": width, "n_groups": m, "n_labels": d, "label_names": None}, own
    )
    return BlockWeights(flat.coef, flat.intercept, flat.coef_scale, flat.groups)


def _stored_router(arrays, width, n_blocks, told):
    routes = told.get("routes")
    if routes is None:
        return None
    weights, intercept = (np.asarray(arrays[f"router/{name}"]) for name in ("coef", "intercept"))
    scale = arrays.get("router/coef_scale")
    scale = None if scale is None else np.asarray(scale)
    fits = weights.shape == (width, n_blocks) and intercept.shape == (n_blocks,)
    if not fits or not 1 <= routes <= n_blocks or not np.isfinite(intercept).all():
        raise ValueError(f"the router is not one of {n_blocks} blocks and {width} features")
    return Router(LinearGroups(weights, intercept, scale=scale), int(routes), float(told["lost_routes"]))


def _stored_calibration(arrays, n_blocks, bonus):
    if "calibration/slopes" not in arrays:
        return None
    slopes, intercepts = (np.asarray(arrays[f"calibration/{name}"]) for name in ("slopes", "intercepts"))
    for v in (slopes, intercepts):
        if v.shape != (n_blocks,) or v.dtype != np.float32 or not np.isfinite(v).all():
            raise ValueError(f"the calibration is not one of {n_blocks} blocks")
    return Calibration(slopes, intercepts, float(bonus))


def _stored_sketch(arrays, p, width):
    if width is None:
        return None
    columns, signs = (np.asarray(arrays[f"sketch/{name}"]) for name in ("columns", "signs"))
    inside = columns.shape == signs.shape == (p,) and columns.dtype == np.int32
    if not inside or (p and not 0 <= columns.min() <= columns.max() < width) or signs.dtype != np.int8:
        raise ValueError(f"the sketch is not one of {p} features to {width} columns")
    return CountSketch(columns, signs, width)

"""Sizes of synthetic data sets, with presets for those of the paper."""

import math
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from .._parse import MAX_COUNT

CROWDING = 4
"""Smallest ratio of all labels (words) to those of an average row: distinct ones are hard to draw below."""


@dataclass(frozen=True)
class Shape:
    """Counts and averages of a data set; docs/synth.md describes `shift` and `noise`."""

    rows: int
    features: int
    labels: int
    test_rows: int = 0  # 0 is a quarter of `rows`
    labels_per_row: float = 5.0
    words_per_row: float = 75.0
    shift: float = 5.0
    noise: float = 0.2

    def __post_init__(self):
        if self.test_rows == 0:
            object.__setattr__(self, "test_rows", max(1, self.rows // 4))
        for name in ("rows", "test_rows", "features", "labels"):
            count = getattr(self, name)
            if not isinstance(count, (int, np.integer)) or not 1 <= count <= MAX_COUNT:
                raise ValueError(f"{count} {_words(name)}: expected a whole number, 1 to {MAX_COUNT}.")
        for name, what in (("labels_per_row", "labels"), ("words_per_row", "features")):
            mean, most = getattr(self, name), getattr(self, what) / CROWDING
            if not 1 <= mean <= most:
                raise ValueError(
                    f"{mean:g} {_words(name)} with {getattr(self, what)} {what}: expected at least 1 and "
                    f"at most a quarter of the {what}, {most:g}. Pass fewer per row, or more {what}."
                )
        if not 0 <= self.shift < math.inf:
            raise ValueError(f"shift {self.shift:g}: expected a finite number of at least 0.")
        if not 0 <= self.noise <= 1:
            raise ValueError(f"noise {self.noise:g}: expected 0 (none) to 1 (nothing to learn).")

    def scaled(self, scale: float) -> "Shape":
        """Scale rows, features and labels; labels and words per row stay, up to 1 / CROWDING of all."""
        if not 0 < scale <= 1:
            raise ValueError(f"scale {scale:g}: expected a share above 0 and at most 1.")
        counts = {
            name: max(CROWDING, round(scale * getattr(self, name)))
            for name in ("rows", "test_rows", "features", "labels")
        }
        return replace(
            self,
            **counts,
            labels_per_row=min(self.labels_per_row, counts["labels"] / CROWDING),
            words_per_row=min(self.words_per_row, counts["features"] / CROWDING),
            shift=scale * self.shift,
        )


def _words(name):
    return name.replace("_", " ")


# Rows, features, labels and labels per row are the paper's; it subsampled rcv1x and amazoncat. Words per
# row are in neither the paper nor the Extreme Classification Repository; these are the averages commonly
# reported for its bag-of-words files, rounded and not verified. `shift` is our choice: the most frequent
# label has 25 % of the rows in rcv1x, 45 % in wiki10, 0.4 % in amazon670k.
PRESETS = {
    "rcv1x": Shape(30_000, 29_699, 2_016, 10_000, 4.76, 75, shift=0),
    "amazoncat": Shape(100_000, 57_645, 7_065, 50_000, 5.08, 71, shift=1),
    "wiki10": Shape(14_146, 101_850, 30_938, 6_616, 18.64, 673, shift=0),
    "wikilshtc": Shape(1_813_391, 85_600, 325_056, 78_743, 3.18, 42, shift=0),
    "amazon670k": Shape(490_449, 135_909, 670_091, 153_025, 5.45, 75, shift=180),
}


def make_shape(preset: str | None = None, scale: float = 1.0, **changes: Any) -> Shape:
    """Return a preset, scaled, then changed; or a shape of the given `rows`, `features` and `labels`."""
    changes = {name: value for name, value in changes.items() if value is not None}
    known = [field.name for field in fields(Shape)]
    for name in changes:
        if name not in known:
            raise ValueError(f"there is no setting {name!r}; choose among {', '.join(known)}.")
    if preset is not None:
        if preset not in PRESETS:
            raise ValueError(f"there is no preset {preset!r}; choose one of {', '.join(PRESETS)}.")
        return replace(PRESETS[preset].scaled(scale), **changes)
    if scale != 1:
        raise ValueError(f"scale {scale:g} has no effect without a preset; choose one, or leave it out.")
    missing = [name for name in ("rows", "features", "labels") if name not in changes]
    if missing:
        raise ValueError(
            f"how many {' and '.join(missing)}? Expected a preset ({', '.join(PRESETS)}), or rows, "
            "features and labels."
        )
    return Shape(**changes)

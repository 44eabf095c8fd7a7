"""What the training of a one-vs-all system would take, from some of the labels.

Such a system trains every label by itself on all rows, so its CPU seconds are T(m) = a + b m for m labels
of the same kind. Labels are sorted by their number of rows; T is measured on every `every`-th of them, and
on every tenth of these. The line through both gives T of all labels. This is not so for mlgt's solver,
which trains many labels at once: by 117 of the 11,705 labels of WordNet-hypernyms, DiSMEC would take 67 CPU
seconds, and it took 118.
"""

import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import scipy.sparse as sp

from mlgt._core.sparse import label_counts

FEWER = 10
"""How many times fewer labels the first of the two trainings has."""


def estimate_training(
    build: Callable[..., Any], X: sp.csr_array, Y: sp.csr_array, arguments: tuple, every: int
) -> dict[str, float]:
    """The CPU seconds of training on all labels, and what they were found from."""
    order = np.argsort(-label_counts(Y), kind="stable")
    columns, sizes, seconds = sp.csc_array(Y), [], []
    for step in (every * FEWER, every):
        some = sp.csr_array(columns[:, order[step // 2 :: step]])
        with TemporaryDirectory() as folder:
            began = time.process_time()
            build(X, some, *arguments, Path(folder))
            seconds.append(time.process_time() - began)
        sizes.append(some.shape[1])
    return {"seconds": extend(sizes, seconds, Y.shape[1]), "labels": sizes[-1], "of": Y.shape[1]}


def extend(sizes: list[int], seconds: list[float], size: int) -> float:
    """The value at `size` of the line through both; proportional to the size if the line falls."""
    growth = (seconds[1] - seconds[0]) / max(sizes[1] - sizes[0], 1)
    if growth <= 0:
        return seconds[1] * size / sizes[1]
    return seconds[1] + growth * (size - sizes[1])


def tell_estimate(found: dict[str, float]) -> str:
    """The estimate as a remark of the table of systems."""
    part = f"{found['labels']:,} of {found['of']:,} labels"
    return f"not run: by {part}, it would take about {_rounded(found['seconds'])} CPU seconds"


def _rounded(seconds):
    """Two digits."""
    return f"{float(f'{seconds:.2g}'):,.0f}" if seconds >= 10 else f"{seconds:.1f}"

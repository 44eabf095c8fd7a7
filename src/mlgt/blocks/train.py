"""One block: its groups, and their classifiers on the rows that matter to it.

A `BlockTask` holds all inputs, and `train_block` turns it into a `Block` without reading anything else:
blocks can be trained in any order, in parallel or elsewhere.

Rows without a label of the block are negatives for all its groups. The paper's authors drop them; a share
of them can be kept, so that a block learns to reject rows of other blocks.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.memory import is_mapped, on_disk
from .._core.progress import Progress
from .._core.rows import count_threads
from ..classifiers.train import LinearGroups, train
from ..groups import CONSTRUCTIONS, pool
from ..groups.column_weight import choose_column_weight
from ..tasks import Stage, run_stage


@dataclass(frozen=True)
class BlockTask:
    X: sp.csr_array  # (n, p) rows as the classifiers see them
    Y: sp.csr_array  # (n, d)
    labels: np.ndarray  # (d_i,) of the block and the separators above it, ascending
    n_groups: int
    seed: Any  # of numpy's default_rng
    construction: str = "nmf"
    column_weight: int | None = None
    """None searches it as in Remark 1."""
    construction_params: dict = field(default_factory=dict)
    training: dict = field(default_factory=dict)
    """Options of `classifiers.train.train`."""
    negatives: float = 0.0
    """Share of the rows without a label of the block that is kept."""
    row_weight: np.ndarray | None = None  # (n,), 0 for rows to leave out
    bits: int = 32
    """Bits that the weights are rounded to."""
    on_disk: bool = False
    """Write the weights to a file once trained, so that blocks need not fit in memory together."""


@dataclass(frozen=True)
class Block:
    labels: np.ndarray  # (d_i,)
    groups: sp.csr_array  # (m_i, d_i)
    classifiers: Any
    column_weight: int | None
    n_rows: int
    """Rows it was trained on."""
    reproducible: bool = True


def block_rows(
    Y: sp.csr_array, negatives: float, rng: np.random.Generator, row_weight: np.ndarray | None = None
) -> np.ndarray:
    """Rows of weight > 0 to train a block with labels Y (n, d_i) on, ascending: those with a label, and a
    share `negatives` of the others. A block without any labelled row keeps all as negatives."""
    usable = np.ones(Y.shape[0], bool) if row_weight is None else np.asarray(row_weight) > 0
    own = np.diff(Y.indptr) > 0
    foreign = np.flatnonzero(usable & ~own)
    own = np.flatnonzero(usable & own)
    count = len(foreign) if len(own) == 0 else int(np.ceil(negatives * len(foreign)))
    return np.sort(np.concatenate([own, rng.permutation(foreign)[:count]]))


def train_block(task: BlockTask, n_jobs: int | None = 1) -> Block:
    """Group the labels of one block, train its classifiers."""
    rng = np.random.default_rng(task.seed)
    Y = sp.csr_array(task.Y[:, task.labels])
    construction = CONSTRUCTIONS[task.construction]
    plan = construction.plan(Y, task.n_groups, rng, **task.construction_params)
    c = task.column_weight
    if construction.WEIGHTED and c is None:
        c, _ = choose_column_weight(plan.draw, Y, task.n_groups, rng) if Y.nnz else (1, None)
    A = plan.draw(c, rng)
    rows = block_rows(Y, task.negatives, rng, task.row_weight)
    X, row_weight = task.X, task.row_weight
    if len(rows) < X.shape[0]:
        X, Y = X[rows], Y[rows]
        row_weight = None if row_weight is None else row_weight[rows]
    classifiers = train(
        X, pool(Y, A), row_weight=row_weight, bits=task.bits, n_jobs=n_jobs, seed=int(rng.integers(2**31)),
        **task.training,
    )  # fmt: skip
    classifiers = classifiers.on_disk() if task.on_disk else classifiers
    return Block(task.labels, A, classifiers, c, len(rows), plan.reproducible)


def train_blocks(
    tasks: Sequence[BlockTask], n_jobs: int | None = None, progress: Progress | None = None
) -> list[Block]:
    """The blocks of all tasks, in their order. As many side by side as there are threads; threads that
    are left over work within the blocks."""
    threads = count_threads(n_jobs)
    side_by_side = max(1, min(threads, len(tasks)))
    blocks: list[Any] = [None] * len(tasks)

    shared = {name: getattr(tasks[0], name) for name in ("X", "Y", "row_weight")} if tasks else {}

    def inputs(i):
        return replace(tasks[i], **dict.fromkeys(shared), on_disk=False), threads // side_by_side

    def store(i, arrays):
        blocks[i] = _from_arrays(tasks[i], arrays)
        return len(tasks[i].labels)

    foreign = any(task.training.get("classifier") is not None for task in tasks)
    stage = Stage("blocks", _block_arrays, shared, len(tasks), inputs, store, here=foreign)
    run_stage(stage, side_by_side, progress, sum(len(task.labels) for task in tasks))
    return blocks


def _block_arrays(shared, inputs):
    """The result of one task as arrays; a scikit-learn classifier stays what it is."""
    task, n_jobs = inputs
    block = train_block(replace(task, **shared), n_jobs)
    A, found = block.groups, block.classifiers
    facts = [*A.shape, -1 if block.column_weight is None else block.column_weight, block.n_rows]
    facts += [block.reproducible, found.n_iter]
    arrays = np.array(facts, np.int64), A.data, A.indices, A.indptr
    if not isinstance(found, LinearGroups):
        return *arrays, found
    return *arrays, found.weights, found.intercept, *([] if found.scale is None else [found.scale])


def _from_arrays(task, result):
    (m, d, weight, n_rows, reproducible, n_iter), data, indices, indptr, *parts = result
    A = sp.csr_array((data, indices, indptr), shape=(m, d))
    if isinstance(parts[0], np.ndarray):
        weights, intercept, *scale = parts
        keep = on_disk if task.on_disk else _in_memory
        classifiers: Any = LinearGroups(keep(weights), intercept, int(n_iter), scale[0] if scale else None)
    else:
        classifiers = parts[0]
    column_weight = None if weight < 0 else int(weight)
    return Block(task.labels, A, classifiers, column_weight, int(n_rows), bool(reproducible))


def _in_memory(array):
    return array.copy() if is_mapped(array) else array

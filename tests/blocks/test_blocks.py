"""Blocks by themselves: rows, sketches, stacked groups, combinations, calibration."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from mlgt._core.topk import top_k
from mlgt.blocks import (
    BlockClassifiers,
    Calibration,
    Layout,
    calibrate_blocks,
    draw_sketch,
    stack_groups,
)
from mlgt.blocks.combine import N_BEST
from mlgt.blocks.train import Block, BlockTask, block_rows, train_block, train_blocks
from mlgt.classifiers.train import LinearGroups
from mlgt.decoding.soft import log_sigmoid
from mlgt.groups import constant_weight_groups
from mlgt.model.fitted import FittedModel
from mlgt.model.record import BlockStructure
from mlgt.ranking import logistic

LABELS = [np.array([0, 2, 3, 5, 8, 9]), np.array([1, 2, 4, 5, 6, 7, 10, 11])]  # 2 and 5 are shared
D = 12


@pytest.fixture
def layout(rng):
    return Layout([constant_weight_groups(9, len(l), 3, rng) for l in LABELS], LABELS, D)


@pytest.fixture
def margins(rng):
    return rng.normal(size=(40, 18)).astype(np.float32)


def twin(layout, margins, decoder, combination, calibration=None):
    """Label scores (n, d), block by block in plain NumPy; -inf where a combination names no label."""
    n, d = len(margins), layout.n_labels
    total, best = np.zeros((n, d)), np.full((n, d), -np.inf)
    blocks, named = np.zeros(d), np.zeros((n, d))
    first = 0
    for i, (A, labels) in enumerate(zip(layout.groups, layout.labels)):
        own = margins[:, first : first + A.shape[0]].astype(np.float64)
        first += A.shape[0]
        A = A.toarray()
        if decoder == "top_k":
            s = (own > 0) @ A
        else:
            s = log_sigmoid(3 * own) @ A / A.sum(axis=0)
        if calibration is not None:
            s = calibration.slopes[i] * s + calibration.intercepts[i]
        total[:, labels] += s
        blocks[labels] += 1
        for row in range(n):
            for place in np.argsort(-s[row], kind="stable")[:N_BEST]:
                if decoder == "soft" or s[row, place] > 0:
                    named[row, labels[place]] += 1
                    best[row, labels[place]] = max(best[row, labels[place]], s[row, place])
    if combination == "union":
        return best
    if combination == "count":
        squeezed = np.where(named, best, 0)
        return np.where(named, named + (1 + squeezed / (1 + abs(squeezed))) / 2, -np.inf)
    if combination == "sum":
        return total
    return total / blocks + (0 if calibration is None else calibration.bonus * (blocks > 1))


def model_of(layout, margins, decoder, combination, calibration=None):
    """A model of the blocks whose rows are numbers of rows of `margins`."""
    d = layout.n_labels
    partition = SimpleNamespace(n_blocks=2, n_labels=d, labels=lambda i: layout.labels[i])
    return FittedModel(
        classifiers=SimpleNamespace(margins=lambda rows: margins[rows]),
        classes=np.arange(d),
        label_counts=np.ones(d),
        n_rows=1,
        n_features=1,
        groups=stack_groups(layout.groups, layout.labels, d),
        decoder_name=decoder,
        blocks=BlockStructure(partition, layout.groups, combination, calibration),
    )


WAYS = [(d, c) for d in ("top_k", "soft") for c in ("sum", "weighted", "count", "union")]


@pytest.mark.parametrize(("decoder", "combination"), [*WAYS, ("soft", "calibrated")])
def test_combinations_are_what_their_formulas_say(layout, margins, decoder, combination):
    calibration = None
    if combination == "calibrated":
        calibration = Calibration(np.float32([2.0, 5.0]), np.float32([-1.0, 0.5]), 0.7)
    model = model_of(layout, margins, decoder, combination, calibration)
    expected = twin(layout, margins, decoder, combination, calibration)
    found = model.decoder.scores(margins, model.A)
    assert (np.isfinite(found) == np.isfinite(expected)).all()
    finite = np.isfinite(expected)
    np.testing.assert_allclose(found[finite], expected[finite], rtol=1e-4, atol=1e-5)
    labels, scores = model.top_k(np.arange(40), 5)
    best, values = top_k(found, 5)
    assert (labels == best).all()
    np.testing.assert_allclose(scores[labels >= 0], values[labels >= 0], rtol=1e-5)
    assert (scores[labels < 0] == -np.inf).all()


def test_a_block_without_votes_names_no_label(layout):
    model = model_of(layout, np.full((3, 18), -1.0, np.float32), "top_k", "union")
    assert (model.top_k(np.arange(3), 4)[0] == -1).all()


def test_stacked_groups_hold_each_block_in_its_place(layout):
    A = stack_groups(layout.groups, layout.labels, D).toarray()
    assert (A[:9, LABELS[0]] == layout.groups[0].toarray()).all()
    assert (A[9:, LABELS[1]] == layout.groups[1].toarray()).all()
    assert A.sum() == sum(part.sum() for part in layout.groups)
    assert layout.blocks_of_label.tolist() == [1, 1, 2, 1, 1, 2, 1, 1, 1, 1, 1, 1]


def test_a_sketch_is_linear_keeps_products_on_average_and_needs_no_adding_up(rng):
    X = sp.random_array((30, 400), density=0.1, format="csr", dtype=np.float32, random_state=0)
    exact = (X @ X.T).toarray()

    def sketched(seed):
        sketch = draw_sketch(400, 50, np.random.default_rng(seed))
        rows = sketch(X)
        S = np.zeros((400, 50))
        S[np.arange(400), sketch.columns] = sketch.signs
        XS = sp.csr_array((rows.data, rows.indices, rows.indptr), shape=rows.shape)
        np.testing.assert_allclose(XS.toarray(), X @ S, rtol=1e-5, atol=1e-6)
        return (XS @ XS.T).toarray()

    mean = np.mean([sketched(seed) for seed in range(300)], axis=0)
    assert abs(mean - exact).max() < 0.15 * exact.max()


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_rows_of_a_block(share, rng):
    Y = sp.csr_array((rng.random((80, 3)) < 0.1).astype(np.float32))
    own = np.flatnonzero(Y.sum(axis=1))
    weight = np.ones(80)
    weight[own[0]] = 0
    rows = block_rows(Y, share, rng, weight)
    foreign = np.setdiff1d(np.arange(80), own)
    assert (np.diff(rows) > 0).all()
    assert np.isin(own[1:], rows).all()
    assert own[0] not in rows
    assert np.isin(rows, foreign).sum() == np.ceil(share * len(foreign))


def test_a_block_whose_labels_never_occur_says_no(topics):
    X, Y = topics[0]
    Y = sp.csr_array((Y.data, Y.indices, Y.indptr), shape=(400, 34))
    task = BlockTask(X, Y, np.arange(30, 34), 4, 0, "constant_weight", 2)
    block = train_block(task)
    assert block.n_rows == 400
    assert (block.classifiers.margins(X) < 0).all()


def test_blocks_do_not_depend_on_threads_or_other_blocks(topics):
    X, Y = topics[0]
    tasks = [BlockTask(X, Y, np.arange(i, 30, 3), 12, i, column_weight=4) for i in range(3)]
    alone = [train_block(task) for task in tasks]
    for n_jobs in (1, 2, 8):
        for one, other in zip(alone, train_blocks(tasks, n_jobs)):
            assert (one.classifiers.coef == other.classifiers.coef).all()
            assert (one.groups != other.groups).nnz == 0


def test_threads_are_shared_between_blocks_and_never_more_than_requested(monkeypatch):
    seen = []
    none = LinearGroups(np.zeros((1, 1), np.float32), np.zeros(1, np.float32))
    block = Block(np.arange(2), sp.csr_array((1, 2), dtype=np.float32), none, 1, 0)
    monkeypatch.setattr("mlgt.blocks.train.train_block", lambda task, n_jobs: seen.append(n_jobs) or block)
    for threads, blocks in ((1, 3), (8, 3), (4, 9)):
        seen.clear()
        train_blocks([replace(EMPTY, seed=i) for i in range(blocks)], threads)
        assert min(threads, blocks) * max(seen) <= threads
        assert len(seen) == blocks


EMPTY = BlockTask(None, None, np.arange(2), 1, 0)


def test_logistic_regression_finds_what_made_the_data(rng):
    x = rng.normal(size=(20000, 2))
    p = 1 / (1 + np.exp(-(x @ [2.0, -1.0] + 0.5)))
    found = logistic(x, rng.random(20000) < p, [0.0, 0.0, 0.0])
    np.testing.assert_allclose(found, [2.0, -1.0, 0.5], atol=0.12)


def test_calibration_undoes_a_block_that_is_too_sure(rng):
    """Two blocks over the same labels; the margins of one are shifted up. Calibrated, both say the same."""
    d, n = 10, 3000
    labels = np.arange(d)
    layout = Layout([sp.eye_array(d, format="csr", dtype=np.float32)] * 2, [labels, labels], d)
    truth = rng.random((n, d)) < 0.2
    margins = (np.where(truth, 0.7, -0.7) + rng.normal(size=(n, d)) * 0.5).astype(np.float32)
    found = calibrate_blocks(layout, np.hstack([margins, margins + 1]), sp.csr_array(truth.astype(float)))
    s = [log_sigmoid(3 * shifted) for shifted in (margins, margins + 1)]
    odds = [found.slopes[i] * s[i] + found.intercepts[i] + found.bonus for i in range(2)]
    p = [1 / (1 + np.exp(-np.clip(value, -30, 30))) for value in odds]
    assert abs(p[0].mean() - p[1].mean()) < 0.03
    assert abs(s[0].mean() - s[1].mean()) > 0.5
    assert found.slopes[1] > found.slopes[0]


def test_calibration_without_rows_leaves_blocks_alike(layout):
    found = calibrate_blocks(layout, np.empty((0, 18), np.float32), sp.csr_array((0, D)))
    assert len(set(found.slopes)) == len(set(found.intercepts)) == 1
    assert found.bonus == 0


def test_classifiers_side_by_side(topics):
    X, Y = topics[0]
    tasks = [BlockTask(X, Y, np.arange(i, 30, 2), 10, i, column_weight=3) for i in range(2)]
    parts = [block.classifiers for block in train_blocks(tasks)]
    both = BlockClassifiers(parts).margins(X)
    assert (both == np.hstack([part.margins(X) for part in parts])).all()
    assert abs(BlockClassifiers([part.rounded(8) for part in parts]).margins(X) - both).max() < 0.1

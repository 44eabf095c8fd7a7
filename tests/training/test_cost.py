"""The cost reported before training: more of anything never costs less, and it is reported in words."""

import numpy as np
import pytest
import scipy.sparse as sp

from mlgt import HierarchicalMLGTClassifier, MLGTClassifier
from mlgt.data.datasets import load_debtags
from mlgt.training.cost import BlockSize, Workload, format_cost, pooled_work

SIZES = {"n": 15_000, "w": 200, "p": 5_000, "k": 5, "d": 4_000, "n_candidates": 50}
BLOCK = BlockSize(3_800, 512, 15_000)


@pytest.mark.parametrize("name", SIZES)
def test_more_takes_no_less_memory_and_no_less_time(name):
    few, more = Workload(**SIZES), Workload(**{**SIZES, name: 2 * SIZES[name]})
    assert more.bytes([BLOCK]) >= few.bytes([BLOCK])
    assert more.seconds([BLOCK]) >= few.seconds([BLOCK])
    if name in ("w", "n_candidates"):
        assert more.seconds([BLOCK]) > few.seconds([BLOCK])


@pytest.mark.parametrize("name", BlockSize._fields)
def test_larger_blocks_take_more(name):
    larger = BLOCK._replace(**{name: 2 * getattr(BLOCK, name)})
    work = Workload(**SIZES)
    assert work.bytes([larger]) >= work.bytes([BLOCK])
    assert work.seconds([larger]) > work.seconds([BLOCK])


def test_one_block_at_a_time_is_in_the_making():
    work = Workload(**SIZES | {"n_candidates": 0})
    assert work.bytes([BLOCK] * 9) == work.bytes([BLOCK])
    assert work.bytes([BLOCK] * 9, kept=1e6) == work.bytes([BLOCK]) + 1e6
    assert work.seconds([BLOCK] * 9) == pytest.approx(9 * work.seconds([BLOCK]))


def test_threads_share_the_work_and_need_more_memory():
    one, two = (Workload(**SIZES, threads=threads) for threads in (1, 2))
    assert two.seconds([BLOCK] * 2) == one.seconds([BLOCK] * 2) / 2
    assert two.bytes([BLOCK] * 2) > one.bytes([BLOCK] * 2)


def test_groups_that_are_not_factored_need_no_factors():
    work = Workload(**SIZES, factored=False)
    assert work.seconds([BLOCK]) < Workload(**SIZES).seconds([BLOCK])


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.2, "1 s"), (80, "80 s"), (600, "10 min"), (7200, "2.0 h")]
)
def test_in_words(seconds, words):
    assert format_cost(5e9, seconds) == f"about 5.0 GB of memory beside the data, and some {words} of time"


def test_blocks_report_their_cost(capsys):
    few = load_debtags().train
    model = HierarchicalMLGTClassifier(n_blocks=2, budget=0.2, n_groups=16, ranker=None, verbose=1)
    model.fit(few.X[:200], few.Y[:200])
    assert "mlgt: 200 rows, 554 labels: about 0.0 GB of memory beside the data" in capsys.readouterr().err


def test_the_cost_is_reported_before_training(capsys):
    few = load_debtags().train
    MLGTClassifier(n_groups=16, ranker=None, verbose=1).fit(few.X[:200], few.Y[:200])
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("mlgt: 200 rows, 554 labels: about 0.0 GB of memory beside the data")


@pytest.mark.parametrize(
    ("n", "w", "d", "m", "count", "least", "most"),
    [
        (60_000, 8, 2000, 320, 100, 0.0, 0.8),  # short rows, many labels
        (60_000, 8, 200, 128, 20, 2.0, 9.0),
        (12_000, 237, 600, 320, 37, 0.8, 2.0),  # long rows
        (12_000, 237, 4000, 512, 100, 0.0, 0.8),
    ],
)
def test_pooling_is_less_work_for_many_labels_and_short_rows(n, w, d, m, count, least, most):
    Y = sp.csr_array((n, d), dtype=np.float32)
    assert least <= pooled_work(Y, m, w, count) < most

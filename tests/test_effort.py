"""What is told before training: more of anything is never less effort, and it is told in words."""

import pytest

from mlgt import HierarchicalMLGTClassifier, MLGTClassifier
from mlgt.datasets import load_debtags
from mlgt.effort import (
    factor_bytes,
    groups_seconds,
    ranking_seconds,
    tile_bytes,
    told,
    training_bytes,
)

SIZES = {"n": 15_000, "w": 200, "d": 4_000, "m": 512, "n_candidates": 50, "k": 5, "p": 5_000, "threads": 1}


def needed(n, w, d, m, n_candidates, k, p, threads):
    factors, tiles = factor_bytes(d, m), tile_bytes(n, p, threads)
    return training_bytes(n, w, k, d, n_candidates, factors, 4 * p * m, tiles)


def seconds(n, w, d, m, n_candidates, **_):
    return groups_seconds(n, w, d, m) + ranking_seconds(n, w, d, n_candidates)


@pytest.mark.parametrize("name", SIZES)
def test_more_takes_no_less_memory_and_no_less_time(name):
    more = {**SIZES, name: 2 * SIZES[name]}
    assert needed(**more) >= needed(**SIZES)
    assert seconds(**more) >= seconds(**SIZES)
    if name not in ("k", "p", "threads"):
        assert seconds(**more) > seconds(**SIZES)


def test_groups_that_are_not_factored_need_no_factors():
    assert groups_seconds(100, 10, 1000, 64, factored=False) < groups_seconds(100, 10, 1000, 64)
    assert factor_bytes(1000, 64, factored=False) < factor_bytes(1000, 64)


def test_no_candidates_no_ranking():
    assert ranking_seconds(1000, 10, 500, 0) == 0


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.2, "1 s"), (80, "80 s"), (600, "10 min"), (7200, "2.0 h")]
)
def test_in_words(seconds, words):
    assert told(5e9, seconds) == f"about 5.0 GB of memory beside the data, and some {words} of time"


def test_blocks_tell_it_too(capsys):
    few = load_debtags().train
    model = HierarchicalMLGTClassifier(n_blocks=2, budget=0.2, n_groups=16, ranker=None, verbose=1)
    model.fit(few.X[:200], few.Y[:200])
    assert "mlgt: 200 rows, 554 labels: about 0.0 GB of memory beside the data" in capsys.readouterr().err


def test_it_is_told_before_training(capsys):
    few = load_debtags().train
    MLGTClassifier(n_groups=16, ranker=None, verbose=1).fit(few.X[:200], few.Y[:200])
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("mlgt: 200 rows, 554 labels: about 0.0 GB of memory beside the data")

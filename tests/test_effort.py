"""What is told before training: more of anything is never less effort, and it is told in words."""

import pytest

from mlgt import MLGTClassifier
from mlgt.datasets import load_debtags
from mlgt.effort import told, training_bytes, training_seconds

SIZES = {"n": 15_000, "w": 200, "d": 4_000, "m": 512, "n_candidates": 50}


@pytest.mark.parametrize("name", SIZES)
def test_more_takes_longer_and_no_less_memory(name):
    more = {**SIZES, name: 2 * SIZES[name]}
    assert training_seconds(**more) > training_seconds(**SIZES)
    rest = {"k": 5, "p": 5_000, "tile_bytes": 1e6}
    assert training_bytes(**more, **rest) >= training_bytes(**SIZES, **rest)


def test_threads_share_the_work():
    assert training_seconds(**SIZES, threads=2) == training_seconds(**SIZES) / 2


def test_groups_that_are_not_factored_need_no_factors():
    assert training_seconds(**SIZES, factored=False) < training_seconds(**SIZES)


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.2, "1 s"), (80, "80 s"), (600, "10 min"), (7200, "2.0 h")]
)
def test_in_words(seconds, words):
    assert told(5e9, seconds) == f"about 5.0 GB of memory beside the data, and some {words} of time"


def test_it_is_told_before_training(capsys):
    few = load_debtags().train
    MLGTClassifier(n_groups=16, ranker=None, verbose=1).fit(few.X[:200], few.Y[:200])
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("mlgt: 200 rows, 554 labels: about 0.0 GB of memory beside the data")

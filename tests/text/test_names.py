"""Lists of names as users have them."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from mlgt.errors import MissingTextWarning
from mlgt.text import check_label_lists, check_texts, label_matrix, probable_separator


def test_texts_of_every_kind():
    expected = ["a", "", "b"]
    assert check_texts(iter(expected)) == check_texts(tuple(expected)) == expected
    assert check_texts(np.array(["a", "b"])) == ["a", "b"]


def test_missing_texts_are_empty_and_counted():
    for texts in (["a", None, "b"], ("a", float("nan"), "b"), pd.Series(["a", None, "b"])):
        with pytest.warns(MissingTextWarning, match="1 of 3 texts are missing"):
            assert check_texts(texts) == ["a", "", "b"]
    with pytest.warns(MissingTextWarning, match="2 of 3"):
        assert check_texts(pd.Series(["a", pd.NA, None], dtype="string")) == ["a", "", ""]


def test_lists_of_every_kind():
    lists = [["b", "a", "b"], (), None, {"Law, civil ", "Law, civil"}, ["", 7, None]]
    expected = [["b", "a"], [], [], ["Law, civil"], ["7"]]
    for given in (lists, iter(lists), pd.Series(lists)):
        assert check_label_lists(given) == expected
    assert check_label_lists(np.array([["a", "b"], ["c"]], dtype=object)) == [["a", "b"], ["c"]]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("one text", "expected a list of them"),
        (["a", 3], "a int at position 1, 3"),
        ([b"a"], "a bytes at position 0"),
        (pd.DataFrame({"text": ["a"]}), "pass one column"),
        (3, "texts is a int"),
        ({"a": 1}, "texts is a dict"),
        ({"a", "b"}, "texts is a set, which has no order"),
    ],
)
def test_what_are_no_texts(texts, message):
    with pytest.raises(ValueError, match=message):
        check_texts(texts)


@pytest.mark.parametrize("lists", [["law"], [["law"], 3], np.eye(2), sp.eye_array(2), {"a": ["b"]}])
def test_what_are_no_lists(lists):
    with pytest.raises(ValueError, match="expected a list"):
        check_label_lists(lists)


@pytest.mark.parametrize(
    ("lists", "advice"),
    [
        (["law,history", "law"], r"\[row.split\(','\) for row in labels\]"),
        (["law;tax law, German", "law;history"], r"row.split\(';'\)"),
        (pd.Series(["law|history", "law"]), r"labels.str.split\('\|'\)"),
        (["law", "history"], r"pass \[\[label\] for label in labels\]"),
        ([3, 4], r"pass \[\[label\] for label in labels\]"),
        ("law", "labels is one text, 'law'"),
        ({"law", "history"}, "a set, which has no order"),
        ([["law"], "history;law"], r"row.split\(';'\)"),
    ],
)
def test_the_advice_fits_what_was_passed(lists, advice):
    with pytest.raises(ValueError, match=advice):
        check_label_lists(lists)


def test_a_separator_is_suspected_where_splitting_makes_far_fewer_labels():
    rng = np.random.default_rng(0)
    labels = [f"l{i}" for i in range(12)]
    rows = [rng.choice(labels, size, replace=False) for size in rng.integers(1, 4, 300)]
    for mark in (";", "|", ","):
        assert probable_separator([mark.join(row) for row in rows]) == mark
        assert probable_separator([f" {mark} ".join(row) for row in rows]) == mark
    assert probable_separator([row[0] for row in rows]) is None
    assert probable_separator([f"name {i}, given {i % 97}" for i in range(300)]) is None
    assert probable_separator(["a|b", "b|a"]) is None


def test_a_separator_is_suspected_where_parts_recur_though_they_are_many():
    """A chain of ever wider kinds: nearly as many parts as chains, as each has a part of its own."""
    chains = [f"kind:{i},kind of {i // 4},kind of {i // 16},all" for i in range(300)]
    assert probable_separator(chains) == ","
    places = [f"place {i}, land {i % 20}" for i in range(300)]
    assert probable_separator(places) is None
    assert probable_separator([name.replace(",", "|") for name in places]) == "|"


def test_names_become_columns_and_unknown_ones_follow():
    Y, names = label_matrix([["b", "a"], [], ["c"]])
    assert names == ["a", "b", "c"]
    assert Y.toarray().tolist() == [[1, 1, 0], [0, 0, 0], [0, 0, 1]]
    Y, names = label_matrix([["b", "z"], ["y"]], ["c", "b"])
    assert names == ["c", "b", "y", "z"]
    assert Y.toarray().tolist() == [[0, 1, 0, 1], [0, 0, 1, 0]]

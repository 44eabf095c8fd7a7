"""Lists of names as users have them."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from mlgt.text import check_label_lists, check_texts, label_matrix


def test_texts_of_every_kind():
    expected = ["a", "", "b"]
    for texts in (["a", None, "b"], ("a", float("nan"), "b"), pd.Series(["a", None, "b"]), iter(expected)):
        assert check_texts(texts) == expected
    assert check_texts(np.array(["a", "b"])) == ["a", "b"]
    assert check_texts(pd.Series(["a", pd.NA], dtype="string")) == ["a", ""]


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
    ],
)
def test_what_are_no_texts(texts, message):
    with pytest.raises(ValueError, match=message):
        check_texts(texts)


@pytest.mark.parametrize("lists", [["law"], [["law"], 3], np.eye(2), sp.eye_array(2), {"a": ["b"]}])
def test_what_are_no_lists(lists):
    with pytest.raises(ValueError, match="expected a list"):
        check_label_lists(lists)


def test_names_become_columns_and_unknown_ones_follow():
    Y, names = label_matrix([["b", "a"], [], ["c"]])
    assert names == ["a", "b", "c"]
    assert Y.toarray().tolist() == [[1, 1, 0], [0, 0, 0], [0, 0, 1]]
    Y, names = label_matrix([["b", "z"], ["y"]], ["c", "b"])
    assert names == ["c", "b", "y", "z"]
    assert Y.toarray().tolist() == [[0, 1, 0, 1], [0, 0, 1, 0]]

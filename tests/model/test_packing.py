"""Ids of a model's arrays as gaps, in the arrays of a folder and back."""

import numpy as np
import pytest

from mlgt.model.packing import Unpacked, packed

IDS = np.array([3, 70_000, 70_300, 140_000, 5, 6, 7, 8, 9, 10, 11], np.int32)
ARRAYS = {"a_indptr": np.array([0, 4, 4, 11]), "a_indices": IDS, "b_labels": IDS}


def test_packed_arrays_are_those_that_were_given():
    found = packed(ARRAYS)
    assert {name for name in found if name.startswith("a_indices")} == {
        f"a_indices_{part}" for part in ("gaps", "far", "farther")
    }
    assert found["a_indices_farther"].tolist() == [69_997, 69_700]
    again = Unpacked(found)
    assert set(again) == set(ARRAYS)
    for name, array in ARRAYS.items():
        assert again[name].dtype == array.dtype
        assert (again[name] == array).all()


def test_ids_that_do_not_fit_are_refused():
    found = packed(ARRAYS)
    del found["a_indices_farther"]  # the type of the far gaps is then that of the ids
    found["a_indices_far"] = found["a_indices_far"].clip(max=65_534)
    with pytest.raises(ValueError, match="do not fit into uint16"):
        Unpacked(found)["a_indices"]


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("farther", lambda a: a[:1]),
        ("farther", lambda a: np.append(a, a)),
        ("farther", lambda a: a.astype(np.float32)),
        ("farther", lambda a: a[None]),
        ("far", lambda a: a.astype(np.int32)),
        ("far", lambda a: np.append(a, a)),
        ("gaps", lambda a: a[:-1]),
    ],
)
def test_parts_that_do_not_fit_are_refused(part, change):
    found = packed(ARRAYS)
    found[f"a_indices_{part}"] = change(found[f"a_indices_{part}"])
    with pytest.raises(ValueError, match="a_ind"):
        Unpacked(found)["a_indices"]

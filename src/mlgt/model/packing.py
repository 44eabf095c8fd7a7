"""Arrays of a model with ids in one byte: those of sparse rows are stored as their gaps.

    NAME_indptr, NAME_labels   ->   NAME_indptr, NAME_labels_gaps, NAME_labels_far

for all ids (`labels`, `indices` or `columns`) that stand beside their pointers and are shorter so
(`_core.gaps`). Ids that are not packed stay mapped.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from .._core.arrays import ID_KINDS, check_kind, check_pointers
from .._core.gaps import FAR, pack_ids, unpack_ids

_IDS = ("indices", "labels", "columns")
_GAPS, _FAR = "_gaps", "_far"


def packed(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays with ids as gaps where these are shorter."""
    found = {}
    for name, array in arrays.items():
        pointers = arrays.get(_pointers(name))
        gaps = None if pointers is None else pack_ids(pointers, array)
        if gaps is None:
            found[name] = array
        else:
            found[name + _GAPS], found[name + _FAR] = gaps
    return found


class Unpacked(Mapping):
    """The arrays of `packed` under their own names; raises where gaps do not fit their pointers."""

    def __init__(self, arrays: Mapping[str, np.ndarray]) -> None:
        self.arrays = arrays
        self._ids: dict[str, np.ndarray] = {}

    def __getitem__(self, name: str) -> np.ndarray:
        if name + _GAPS not in self.arrays:
            return self.arrays[name]
        if name not in self._ids:
            self._ids[name] = self._unpack(name)
        return self._ids[name]

    def __iter__(self) -> Iterator[str]:
        return (name.removesuffix(_GAPS) for name in self.arrays if not name.endswith(_FAR))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _unpack(self, name):
        check_kind(self.arrays, name + _GAPS, np.uint8)
        check_kind(self.arrays, name + _FAR, *ID_KINDS)
        gaps, far, pointers = self.arrays[name + _GAPS], self.arrays[name + _FAR], _pointers(name)
        check_pointers(self.arrays, pointers, max(0, len(self.arrays[pointers]) - 1), len(gaps))
        if np.count_nonzero(gaps == FAR) != len(far):
            raise ValueError(f"{name}{_FAR} has {len(far)} gaps, not as many as {name}{_GAPS} names")
        return unpack_ids(self.arrays[pointers], gaps, far)


def _pointers(name):
    """The name of the pointers of ids with this name; no array has it if these are no ids of runs."""
    last = name.replace("/", "_").rpartition("_")[2]
    return name.removesuffix(last) + "indptr" if last in _IDS else ""

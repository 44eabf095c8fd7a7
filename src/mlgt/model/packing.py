"""Arrays of a model with ids in one byte: those of sparse rows are stored as their gaps.

    NAME_indptr, NAME_labels   ->   NAME_indptr, NAME_labels_gaps, NAME_labels_far

for all ids (`labels`, `indices` or `columns`) that stand beside their pointers and are shorter so
(`_core.gaps`). Ids that are not packed stay mapped. The bytes of the rows that a model keeps, their values
and the gaps of their columns, are zlib streams: NAME_deflated; and so are the gaps of centroids if nearly
all are 1, as in lists of all labels.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from .._core.arrays import ID_KINDS, check_kind, check_pointers
from .._core.gaps import FAR, pack_ids, unpack_ids
from .._core.quantize import deflate, inflate

_IDS = ("indices", "labels", "columns")
_GAPS, _FAR, _DEFLATED = "_gaps", "_far", "_deflated"
_STREAMS: dict[str, tuple[type, str]] = {
    "sample/values": (np.int8, "sample/indptr"),
    "sample/columns_gaps": (np.uint8, "sample/indptr"),
    "centroids_labels_gaps": (np.uint8, "centroids_indptr"),
}
"""Arrays of one byte for each entry of runs, with their kind and pointers."""
_WHOLE = 0.9
"""Share of gaps of 1 in centroids from which on they are a stream."""


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
    for name, (kind, _) in _STREAMS.items():
        plain = name not in found or found[name].dtype != kind
        if not plain and (name.startswith("sample/") or np.mean(found[name] == 1) > _WHOLE):
            found[name + _DEFLATED] = deflate(found.pop(name), runs=True)
    return found


class Unpacked(Mapping):
    """The arrays of `packed` under their own names; raises where gaps or streams do not fit pointers."""

    def __init__(self, arrays: Mapping[str, np.ndarray]) -> None:
        self.arrays = arrays
        self._made: dict[str, np.ndarray] = {}

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._made:
            if name + _DEFLATED in self.arrays:
                self._made[name] = self._inflate(name)
            elif name + _GAPS in self.arrays or name + _GAPS + _DEFLATED in self.arrays:
                self._made[name] = self._unpack(name)
            else:
                return self.arrays[name]
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        names = (name.removesuffix(_DEFLATED) for name in self.arrays)
        return (name.removesuffix(_GAPS) for name in names if not name.endswith(_FAR))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _inflate(self, name):
        if name not in _STREAMS:
            raise ValueError(f"{name} is not stored as a stream")
        check_kind(self.arrays, name + _DEFLATED, np.uint8)
        kind, run = _STREAMS[name]
        pointers = self.arrays[run]
        length = int(pointers[-1]) if pointers.ndim == 1 and len(pointers) else 0
        check_pointers(self.arrays, run, len(pointers) - 1, length)
        return inflate(self.arrays[name + _DEFLATED], (length,), name).view(kind)

    def _unpack(self, name):
        gaps, pointers = self[name + _GAPS], _pointers(name)
        check_kind({name: gaps}, name, np.uint8)
        check_kind(self.arrays, name + _FAR, *ID_KINDS)
        far = self.arrays[name + _FAR]
        check_pointers(self.arrays, pointers, max(0, len(self.arrays[pointers]) - 1), len(gaps))
        if np.count_nonzero(gaps == FAR) != len(far):
            raise ValueError(f"{name}{_FAR} has {len(far)} gaps, not as many as {name}{_GAPS} names")
        return unpack_ids(self.arrays[pointers], gaps, far)


def _pointers(name):
    """The name of the pointers of ids with this name; no array has it if these are no ids of runs."""
    last = name.replace("/", "_").rpartition("_")[2]
    return name.removesuffix(last) + "indptr" if last in _IDS else ""

"""Arrays of a model with ids in one byte: those of sparse rows are stored as their gaps.

    NAME_indptr, NAME_labels   ->   NAME_indptr, NAME_labels_gaps, NAME_labels_far, NAME_labels_farther

for all ids (`labels`, `indices` or `columns`) that stand beside their pointers and are shorter so
(`_core.gaps`). Ids that are not packed stay mapped. The bytes of the rows that a model keeps, their values
and the gaps of their columns, are zlib streams: NAME_deflated.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from .._core.arrays import ID_KINDS, check_kind, check_pointers
from .._core.gaps import FAR, FARTHER, MAX_PACKED, pack_ids, unpack_ids
from .._core.quantize import deflate, inflate

_IDS = ("indices", "labels", "columns")
_GAPS, _FAR, _FARTHER, _DEFLATED = "_gaps", "_far", "_farther", "_deflated"
_STREAMS = {"sample/values": np.int8, "sample/columns_gaps": np.uint8}
"""Arrays of one byte for each entry of the kept rows."""
_STREAM_POINTERS = "sample/indptr"


def packed(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays with ids as gaps where these are shorter."""
    found = {}
    for name, array in arrays.items():
        pointers = arrays.get(_pointers(name))
        gaps = None if pointers is None else pack_ids(pointers, array)
        if gaps is None:
            found[name] = array
        else:
            found |= {name + ending: part for ending, part in zip((_GAPS, _FAR, _FARTHER), gaps)}
    for name, kind in _STREAMS.items():
        if name in found and found[name].dtype == kind and found[name].size <= MAX_PACKED:
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
        return (name.removesuffix(_GAPS) for name in names if not name.endswith((_FAR, _FARTHER)))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _inflate(self, name):
        if name not in _STREAMS:
            raise ValueError(f"{name} is not stored as a stream")
        check_kind(self.arrays, name + _DEFLATED, np.uint8)
        pointers = self.arrays[_STREAM_POINTERS]
        length = int(pointers[-1]) if pointers.ndim == 1 and len(pointers) else 0
        if length > MAX_PACKED:
            raise ValueError(f"{name}{_DEFLATED} is a stream of {length} bytes, more than {MAX_PACKED}")
        check_pointers(self.arrays, _STREAM_POINTERS, len(pointers) - 1, length)
        return inflate(self.arrays[name + _DEFLATED], (length,), name).view(_STREAMS[name])

    def _unpack(self, name):
        pointers, parts = _pointers(name), [self[name + _GAPS], self.arrays[name + _FAR]]
        check_kind({name: parts[0]}, name, np.uint8)
        if name + _FARTHER in self.arrays:
            check_kind(self.arrays, name + _FAR, np.uint16)
            parts.append(self.arrays[name + _FARTHER])
        check_kind({name: parts[-1]}, name, *ID_KINDS)
        check_pointers(self.arrays, pointers, max(0, len(self.arrays[pointers]) - 1), len(parts[0]))
        for before, after, last in zip(parts, parts[1:], (FAR, FARTHER)):
            if np.count_nonzero(before == last) != len(after):
                raise ValueError(f"{name} has {len(after)} gaps from {last} on, not as many as are named")
        return unpack_ids(self.arrays[pointers], *parts)


def _pointers(name):
    """The name of the pointers of ids with this name; no array has it if these are no ids of runs."""
    last = name.replace("/", "_").rpartition("_")[2]
    return name.removesuffix(last) + "indptr" if last in _IDS else ""

"""Table of terms: the column of a term by its hash. Terms of the same hash are compared byte by byte."""

import json
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from .._core.arrays import Arrays, check_kind
from ..compile.kernels import MANY, is_spared
from . import _kernels
from .analysis import Stream

MAX_LOOKED_UP = 256
"""Terms of a stream that are looked up in a dict: nothing has to be compiled for a single text, and not for
a small file."""


def is_few(stream: Stream) -> bool:
    """Return whether the terms of a stream are looked up in a dict."""
    return len(stream.starts) <= MAX_LOOKED_UP or is_spared(_kernels.look_up, MANY)


class KnownTerms:
    """Terms whose columns are their positions."""

    def __init__(self, terms: Sequence[str]) -> None:
        self.terms = terms

    @cached_property
    def _by_term(self):
        return {term: column for column, term in enumerate(self.terms)}

    @cached_property
    def _table(self):
        return TermTable.of(self.terms)

    def columns(self, stream: Stream) -> np.ndarray:
        """Return the column of each term of the stream, int32; -1 if it is unknown."""
        if is_few(stream):
            return np.array(self.columns_of(stream.strings()), np.int32)
        return self._table.columns(stream)

    def columns_of(self, terms: Iterable[str]) -> list[int]:
        """Return the column of each of a few terms; -1 if it is unknown."""
        known = self._by_term
        return [known.get(term, -1) for term in terms]


class TermTable:
    """Terms and their columns 0, 1, ..., in the order in which they were learnt.

    Open addressing with at least two slots per term.
    """

    _n_terms: int
    _terms: np.ndarray  # (bytes,) uint8
    _bounds: np.ndarray  # (most terms + 1,) int64
    _slots: np.ndarray  # (slots,) int32
    _slot_hashes: np.ndarray  # (slots,) uint64

    def __init__(self, n_terms: int = 500, n_bytes: int = 4000) -> None:
        self._reset(n_terms, n_bytes)

    @classmethod
    def of(cls, terms: Sequence[str]) -> "TermTable":
        """Make a table of different terms, whose columns are their positions."""
        encoded = [term.encode("utf-8") for term in terms]
        bounds = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum([len(term) for term in encoded], out=bounds[1:])
        data = np.frombuffer(bytearray(b"".join(encoded) + b" "), np.uint8)
        table = cls(len(encoded), len(data))
        table.learn(Stream(bounds, bounds[:-1], bounds[1:], data))
        return table

    def __len__(self) -> int:
        return self._n_terms

    def columns(self, stream: Stream) -> np.ndarray:
        """Return the column of each term of the stream, int32; -1 if it is unknown."""
        columns = np.empty(len(stream.starts), np.int32)
        self._look_up(stream, 0, columns, learning=False)
        return columns

    def learn(self, stream: Stream) -> np.ndarray:
        """Return the column of each term of the stream, int32; unknown terms are added."""
        columns = np.empty(len(stream.starts), np.int32)
        done = 0
        while (done := self._look_up(stream, done, columns, learning=True)) < len(columns):
            self._grow(int(stream.ends[done] - stream.starts[done]))
        return columns

    def strings(self, columns: np.ndarray) -> list[bytes]:
        """Return the terms of columns, in UTF-8."""
        data = self._terms.tobytes()
        starts, ends = self._bounds[columns].tolist(), self._bounds[columns + 1].tolist()
        return [data[i:j] for i, j in zip(starts, ends)]

    def _look_up(self, stream, first, columns, learning):
        done, self._n_terms = _kernels.look_up(
            first, stream.data, stream.starts, stream.ends, stream.hashes, self._slots, self._slot_hashes,
            self._terms, self._bounds, self._n_terms, learning, columns,
        )  # fmt: skip
        return done

    def _grow(self, length):
        """Make room for a term of some length, and for twice as many terms and bytes."""
        n, bounds = self._n_terms, self._bounds
        known = Stream(bounds, bounds[:n], bounds[1 : n + 1], self._terms)
        self._reset(2 * n, 2 * (int(bounds[n]) + length))
        self.learn(known)

    def _reset(self, n_terms, n_bytes):
        """Make an empty table with room for so many terms and bytes."""
        n_slots = 2 << int(2 * n_terms + 1).bit_length()
        self._n_terms = 0
        self._terms, self._bounds = np.zeros(n_bytes, np.uint8), np.zeros(n_slots // 2, np.int64)
        self._slots, self._slot_hashes = np.full(n_slots, -1, np.int32), np.zeros(n_slots, np.uint64)


def pack_terms(terms: Sequence[str]) -> np.ndarray:
    """Return terms as an array of a model folder: a JSON list in UTF-8."""
    return np.frombuffer(json.dumps(terms, ensure_ascii=False).encode("utf-8"), np.uint8)


def unpack_terms(arrays: Arrays, name: str) -> list[str]:
    """Return the terms of such an array; raises unless they are different and can be encoded again."""
    check_kind(arrays, name, np.uint8)
    try:
        terms = json.loads(arrays[name].tobytes().decode("utf-8"))
    except RecursionError:
        terms = None
    if not isinstance(terms, list) or not all(type(term) is str for term in terms):
        raise ValueError(f"{name} is no list of terms")
    "".join(terms).encode("utf-8")  # raises on half of a surrogate pair
    if len(set(terms)) != len(terms):
        raise ValueError(f"{name} is not {len(terms)} different terms")
    return terms

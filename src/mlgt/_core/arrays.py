"""Parts of a model as arrays of a model folder, and checks of what was read: kernels trust these arrays."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

Arrays = Mapping[str, np.ndarray]
MAX_NUMBER = 1e15
"""Largest magnitude of a stored number. Margins and blends of such numbers stay finite in float32."""
ID_KINDS = (np.uint16, np.int32, np.int64)
"""Types of stored ids."""


def id_type(n_ids: int) -> type[np.integer]:
    """The type in which ids below `n_ids` are kept: the smallest of those that kernels are compiled for."""
    return np.uint16 if n_ids <= 1 << 16 else np.int32


class Stored:
    """A part of a model that a model folder holds: it declares its arrays, and its class checks them.

    `from_arrays(arrays, ...)` of a subclass restores a part and raises unless the arrays fit together.
    """

    ARRAYS: ClassVar[Mapping[str, str]]
    """Attributes by the names of their arrays."""

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The arrays by name; attributes that are None have none."""
        arrays = {name: getattr(self, attribute) for name, attribute in self.ARRAYS.items()}
        return {name: array for name, array in arrays.items() if array is not None}


def array_names(*names: str) -> dict[str, str]:
    """`Stored.ARRAYS` of attributes whose arrays have the same names."""
    return {name: name for name in names}


def check_kind(arrays: Arrays, name: str, *kinds: Any, ndim: int = 1) -> None:
    """Raise unless the array has one of these types and `ndim` dimensions, stored row by row.

    Each type and order has compiled code of its own, and an empty array of any length is free in a file.
    """
    array = arrays[name]
    if array.dtype not in kinds or array.ndim != ndim or not (array.flags.c_contiguous or array.ndim < 2):
        expected = " or ".join(str(np.dtype(kind)) for kind in kinds)
        raise ValueError(
            f"{name} is {array.dtype} in {array.ndim} dimensions; expected {expected} in {ndim}, by rows"
        )


def check_shapes(arrays: Arrays, **shapes: tuple[int, ...]) -> None:
    """Raise unless the named arrays have these shapes."""
    for name, shape in shapes.items():
        if arrays[name].shape != shape:
            raise ValueError(f"{name} has shape {arrays[name].shape}, not {shape}")


def check_finite(arrays: Arrays, *names: str, ndim: int = 1, kind: Any = np.float32) -> None:
    """Raise unless the named arrays hold numbers of magnitude up to MAX_NUMBER, float32 by default."""
    for name in names:
        check_kind(arrays, name, kind, ndim=ndim)
        array = arrays[name]
        if array.size and not (array.min() >= -MAX_NUMBER and array.max() <= MAX_NUMBER):  # NaN is neither
            raise ValueError(f"{name} is not all finite numbers up to {MAX_NUMBER:g}")


def check_ids(arrays: Arrays, name: str, n_ids: int) -> None:
    """Raise unless the array holds whole numbers from 0 to n_ids - 1."""
    check_kind(arrays, name, *ID_KINDS)
    ids = arrays[name]
    if len(ids) and not 0 <= ids.min() <= ids.max() < n_ids:
        raise ValueError(f"{name} has ids outside 0 .. {n_ids - 1}")


def check_pointers(arrays: Arrays, name: str, n_runs: int, length: int) -> None:
    """Raise unless the array rises from 0 to `length` in n_runs steps."""
    check_kind(arrays, name, np.int32, np.int64)
    pointers = arrays[name]
    if pointers.shape != (n_runs + 1,):
        raise ValueError(f"{name} has shape {pointers.shape}, not {(n_runs + 1,)}")
    if pointers[0] != 0 or (pointers[1:] < pointers[:-1]).any():  # differences could overflow
        raise ValueError(f"{name} does not rise from 0")
    if pointers[-1] != length:
        raise ValueError(f"{name} ends at {pointers[-1]}, but there are {length} entries")


def check_runs(arrays: Arrays, ids: str, n_runs: int, n_ids: int, *kinds: Any) -> None:
    """Raise unless indptr, ids, values of one of the types `kinds`, and the scale if there is one, are
    n_runs sparse rows over n_ids columns."""
    check_kind(arrays, "values", *kinds)
    values = arrays["values"]
    check_pointers(arrays, "indptr", n_runs, len(values))
    check_shapes(arrays, **{ids: values.shape})
    check_ids(arrays, ids, n_ids)
    if "scale" in arrays:
        check_finite(arrays, "scale")
        check_shapes(arrays, scale=(n_runs,))
    if values.dtype.kind == "f":
        check_finite(arrays, "values")

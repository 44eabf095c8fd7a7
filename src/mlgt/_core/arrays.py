"""Parts of a model as arrays of a model folder, and checks of what was read: kernels trust these arrays."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

Arrays = Mapping[str, np.ndarray]


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


def check_shapes(arrays: Arrays, **shapes: tuple[int, ...]) -> None:
    """Raise unless the named arrays have these shapes."""
    for name, shape in shapes.items():
        if arrays[name].shape != shape:
            raise ValueError(f"{name} has shape {arrays[name].shape}, not {shape}")


def check_finite(arrays: Arrays, *names: str) -> None:
    """Raise unless the named arrays hold finite float32 numbers."""
    for name in names:
        if arrays[name].dtype != np.float32 or not np.isfinite(arrays[name]).all():
            raise ValueError(f"{name} is not all finite float32 numbers")


def check_ids(arrays: Arrays, name: str, n_ids: int) -> None:
    """Raise unless the array holds whole numbers from 0 to n_ids - 1."""
    ids = arrays[name]
    if ids.dtype.kind not in "iu" or (len(ids) and not 0 <= ids.min() <= ids.max() < n_ids):
        raise ValueError(f"{name} has ids outside 0 .. {n_ids - 1}")


def check_pointers(arrays: Arrays, name: str, n_runs: int, length: int) -> None:
    """Raise unless the array rises from 0 to `length` in n_runs steps."""
    pointers = arrays[name]
    if pointers.shape != (n_runs + 1,):
        raise ValueError(f"{name} has shape {pointers.shape}, not {(n_runs + 1,)}")
    if pointers.dtype.kind != "i" or pointers[0] != 0 or (np.diff(pointers) < 0).any():
        raise ValueError(f"{name} does not rise from 0")
    if pointers[-1] != length:
        raise ValueError(f"{name} ends at {pointers[-1]}, but there are {length} entries")


def check_runs(arrays: Arrays, ids: str, n_runs: int, n_ids: int) -> None:
    """Raise unless indptr, ids, values and the optional scale are n_runs sparse rows over n_ids columns."""
    values = arrays["values"]
    check_pointers(arrays, "indptr", n_runs, len(values))
    check_shapes(arrays, **{ids: values.shape})
    check_ids(arrays, ids, n_ids)
    if "scale" in arrays:
        check_finite(arrays, "scale")
        check_shapes(arrays, scale=(n_runs,))
    elif values.dtype.kind == "f":
        check_finite(arrays, "values")
    if values.dtype.kind not in "iuf":
        raise ValueError(f"values has the type {values.dtype}")

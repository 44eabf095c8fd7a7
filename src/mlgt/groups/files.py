"""Groups as plain text: one group per line, the ids of its labels separated by blanks."""

import re
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from .._core.arrays import Arrays, check_ids, check_pointers
from .._core.errors import DataFormatError
from .._core.files import read_text, replacing
from .._core.limits import DEFAULT_LIMITS, Limits
from .._core.sparse import canonical

_ID = re.compile("[0-9]{1,18}")


def read_groups(
    path: str | Path, n_labels: int, first_label: int = 0, *, limits: Limits = DEFAULT_LIMITS
) -> sp.csr_array:
    """Read A (m, d) from a file with one group per line; an empty line is an empty group."""
    lines = read_text(path, limits).removesuffix("\n").split("\n")
    rows: list[int] = []
    columns: list[int] = []
    for i, line in enumerate(lines):
        for word in line.split():
            if not _ID.fullmatch(word) or not 0 <= int(word) - first_label < n_labels:
                raise DataFormatError(
                    f"{path}, line {i + 1}: {word[:40]!r} is not a label; expected ids from "
                    f"{first_label} to {n_labels - 1 + first_label}, separated by blanks."
                )
            rows.append(i)
            columns.append(int(word) - first_label)
    A = canonical(sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(lines), n_labels)))
    if (A.data > 1).any():
        twice = int(np.flatnonzero(np.diff(A.indptr) != np.bincount(rows, minlength=len(lines)))[0])
        raise DataFormatError(f"{path}, line {twice + 1} names a label twice; expected each once at most.")
    return A.astype(np.float32)


def write_groups(A: sp.csr_array, path: str | Path, first_label: int = 0) -> None:
    """Write the file of A (m, d)."""
    A = canonical(A)
    with replacing(path) as file:
        for i in range(A.shape[0]):
            ids = A.indices[A.indptr[i] : A.indptr[i + 1]] + first_label
            file.write((" ".join(map(str, ids.tolist())) + "\n").encode())


def groups_to_arrays(A: sp.csr_array) -> dict[str, np.ndarray]:
    """A (m, d) as the arrays of a model folder."""
    return {"groups_indptr": A.indptr, "groups_indices": A.indices}


def groups_from_arrays(arrays: Arrays, m: int, d: int) -> sp.csr_array:
    """A (m, d); raises unless the arrays are m groups of d labels."""
    check_ids(arrays, "groups_indices", d)
    indices = arrays["groups_indices"]
    check_pointers(arrays, "groups_indptr", m, len(indices))
    ones = np.ones(len(indices), np.float32)
    return sp.csr_array((ones, indices, arrays["groups_indptr"]), shape=(m, d))

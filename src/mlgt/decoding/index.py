"""The group matrix as a search structure: each label's groups, and each group's labels as bits."""

import numpy as np
import scipy.sparse as sp

from .._core.arrays import id_type
from .._core.sparse import canonical

WORD_BITS = 64


class LabelIndex:
    """A (m, d) prepared for `search`.

    groups, indptr: label l is in the groups groups[indptr[l] : indptr[l + 1]], ascending.
    labels: all labels, ascending.
    weight: the constant column weight c, or None if labels differ.
    bits: (m, ceil(d / 64)) uint64, bit l of row i is 1 if label l is in group i; d m / 8 bytes, computed
    when first used.
    """

    def __init__(self, A: sp.csr_array):
        A = canonical(A)
        by_label = sp.csr_array(A.T)
        by_label.sort_indices()
        self.n_groups, self.n_labels = A.shape
        self.indptr = by_label.indptr.astype(np.int64)
        self.groups = by_label.indices.astype(id_type(A.shape[0]))
        weights = np.diff(self.indptr)
        self.weight = int(weights[0]) if len(weights) and (weights == weights[0]).all() else None
        self.labels = np.arange(self.n_labels)
        self._bits: np.ndarray | None = None
        self._columns: np.ndarray | None = None

    @property
    def bits(self) -> np.ndarray:
        """Each group's labels as bits."""
        if self._bits is None:
            words = -(-self.n_labels // WORD_BITS)
            bits = np.zeros((self.n_groups, words), np.uint64)
            labels = np.repeat(np.arange(self.n_labels), np.diff(self.indptr))
            masks = np.left_shift(np.uint64(1), (labels % WORD_BITS).astype(np.uint64))
            np.bitwise_or.at(bits, (self.groups, labels // WORD_BITS), masks)
            self._bits = bits
        return self._bits

    @property
    def columns(self) -> np.ndarray | None:
        """(c, d), the groups of each label as a column if all have c; computed when first used."""
        if self._columns is None and self.weight is not None:
            self._columns = np.ascontiguousarray(self.groups.reshape(self.n_labels, self.weight).T)
        return self._columns

    def groups_of(self, label: int) -> np.ndarray:
        """The groups of a label, ascending."""
        return self.groups[self.indptr[label] : self.indptr[label + 1]]

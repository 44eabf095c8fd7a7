"""SAFFRON designs (section 3 and supplement A.2): groups that spell out the labels they hold.

The labels join bins, the m1 rows t_i of a bipartite graph T; each bin is tested m2 times, and which of its
tests a label takes part in is its *signature*, a column of U:

    A = [A_1; ...; A_m1],   A_i = U diag(t_i),   m = m1 m2,                                      (1)

    U = [b; not b; b(pi_1); not b(pi_1); b(pi_2); not b(pi_2)],   m2 = 6 L.                      (2)

Column a of b is the address a in L binary digits, lowest first; pi_1 and pi_2 are random permutations of
the addresses. The tests of a bin with one present label are its signature: the address in the first
section, and a check of it in the other two. `decoding.saffron` reads it.

With `global` signatures, as the paper writes them, the address is the label and L = ceil(log2 d). With
`local` ones (Vem, Janakiraman, Narayanan 2017) it is the label's position among its bin's members, and
L = ceil(log2 r): this is where log(d / k) in Proposition 1 comes from.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._core.arrays import Arrays, check_ids, check_kind, check_pointers
from .._core.progress import Progress
from .._core.sparse import canonical
from .._core.validation import check_choice
from ..labels.graph import cooccurrence
from ..labels.symnmf import symmetric_nmf
from .bipartite import regular_graph
from .density_evolution import expected_recovery
from .nmf import nmf_groups
from .plan import Plan

WEIGHTED = True
SIGNATURES = ("local", "global")
_MAX_WEIGHT = 16  # largest column weight considered
_TARGET_RECOVERY = 0.99  # expected share of the labels found with `required_tests`


class Tables(NamedTuple):
    """A design as the decoders use it: from a bin's address to its label, from a label to its bins."""

    bin_ptr: np.ndarray  # bin b holds the labels members[bin_ptr[b] : bin_ptr[b + 1]], ascending
    members: np.ndarray
    label_ptr: np.ndarray  # label l is in the bins label_bins[label_ptr[l] : label_ptr[l + 1]], ascending,
    label_bins: np.ndarray  # under the addresses label_addresses[the same]
    label_addresses: np.ndarray
    codes: np.ndarray  # (3, addresses): what section s shows of an address
    addresses: np.ndarray  # (3, addresses): the inverse, the address of a code in section s
    max_weight: int  # largest number of bins of a label
    n_bits: int
    local: bool


@dataclass(frozen=True, eq=False)
class SaffronDesign:
    """Bins, signatures and their kind; A (m, d) is computed when first used."""

    graph: sp.csr_array  # T (m1, d) of ones: bins x labels
    codes: np.ndarray  # (3, addresses) int32: the identity, pi_1, pi_2
    signatures: str  # "local" or "global"

    @property
    def n_bins(self) -> int:
        """m1."""
        return self.graph.shape[0]

    @property
    def n_labels(self) -> int:
        """d."""
        return self.graph.shape[1]

    @property
    def n_bits(self) -> int:
        """L, binary digits of an address."""
        return count_bits(self.codes.shape[1])

    @property
    def n_tests(self) -> int:
        """m2, tests per bin."""
        return 6 * self.n_bits

    @property
    def n_groups(self) -> int:
        """m, tests of all bins."""
        return self.n_bins * self.n_tests

    @cached_property
    def tables(self) -> Tables:
        """The design as the decoders use it."""
        graph, local = self.graph, self.signatures == "local"
        if local:
            starts = np.repeat(graph.indptr[:-1], np.diff(graph.indptr))
            addresses = (np.arange(graph.nnz) - starts).astype(np.int32)
        else:
            addresses = graph.indices
        by_label = sp.csc_array(sp.csr_array((addresses, graph.indices, graph.indptr), shape=graph.shape))
        return Tables(
            bin_ptr=graph.indptr.astype(np.int64),
            members=graph.indices,
            label_ptr=by_label.indptr.astype(np.int64),
            label_bins=by_label.indices,
            label_addresses=by_label.data,
            codes=self.codes,
            addresses=np.argsort(self.codes, axis=1).astype(np.int32),
            max_weight=int(np.diff(by_label.indptr).max(initial=1)),
            n_bits=self.n_bits,
            local=local,
        )

    @cached_property
    def signature_tests(self) -> np.ndarray:
        """Tests of a bin that an address takes part in: (addresses, 3 L), the ones of U's columns."""
        L = self.n_bits
        bits = self.codes.T[:, :, None] >> np.arange(L) & 1  # (addresses, 3, L)
        tests = 2 * L * np.arange(3)[:, None] + np.where(bits, 0, L) + np.arange(L)
        return tests.reshape(-1, 3 * L).astype(np.int32)

    @property
    def U(self) -> np.ndarray:
        """The signature matrix (m2, addresses), eq. (2)."""
        U = np.zeros((self.n_tests, self.codes.shape[1]), np.int8)
        U[self.signature_tests, np.arange(U.shape[1])[:, None]] = 1
        return U

    @cached_property
    def A(self) -> sp.csr_array:
        """The group matrix (m, d), CSR, eq. (1): 3 L ones per label and bin."""
        tables, each = self.tables, 3 * self.n_bits
        rows = self._edge_tests(np.arange(len(tables.label_bins)))
        pointers = each * tables.label_ptr.astype(np.int64)
        ones = np.ones(rows.size, np.float32)
        return canonical(sp.csc_array((ones, rows.ravel(), pointers), shape=(self.n_groups, self.n_labels)))

    def pool(self, labels: np.ndarray) -> np.ndarray:
        """Return the tests z = A OR y, (n, m) bool, of rows with these labels, (n, k) padded with -1."""
        tables, Z = self.tables, np.zeros((len(labels), self.n_groups), bool)
        for row, present in zip(Z, np.asarray(labels)):
            for l in present[present >= 0]:
                row[self._edge_tests(slice(tables.label_ptr[l], tables.label_ptr[l + 1]))] = True
        return Z

    def _edge_tests(self, edges):
        """Return the rows of A with the label of an edge in its bin, (edges, 3 L)."""
        first = self.tables.label_bins[edges].astype(np.int64) * self.n_tests
        return first[:, None] + self.signature_tests[self.tables.label_addresses[edges]]

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return the design as the arrays of a model folder; `from_arrays` restores it."""
        return {
            "saffron_header": np.array([self.n_labels, self.signatures == "local"], np.int64),
            "saffron_indptr": self.graph.indptr,
            "saffron_indices": self.graph.indices,
            "saffron_codes": self.codes,
        }

    @classmethod
    def from_arrays(cls, arrays: Arrays, d: int) -> "SaffronDesign":
        """Restore a design of d labels; raise if the arrays do not fit together: kernels would read out of
        bounds."""
        check_kind(arrays, "saffron_codes", np.int32, np.int64, ndim=2)
        check_ids(arrays, "saffron_indices", d)
        header = arrays["saffron_header"]
        if header.shape != (2,) or header.tolist() not in ([d, 0], [d, 1]):
            raise ValueError(f"saffron_header is not that of a design of {d} labels")
        indices, codes = np.array(arrays["saffron_indices"]), np.array(arrays["saffron_codes"])
        indptr, local = np.array(arrays["saffron_indptr"]), bool(header[1])
        if indptr.size < 2 or not len(indices):
            raise ValueError("saffron_indptr and saffron_indices have no bins, or no labels in them")
        check_pointers(arrays, "saffron_indptr", len(indptr) - 1, len(indices))
        ones, signatures = np.ones(len(indices), np.int8), "local" if local else "global"
        graph = canonical(sp.csr_array((ones, indices, indptr), shape=(len(indptr) - 1, d)))
        straight = np.arange(count_addresses(graph, signatures))
        if codes.shape != (3, len(straight)) or (np.sort(codes, axis=1) != straight).any():
            raise ValueError(f"saffron_codes are not three permutations of {len(straight)} addresses")
        if (codes[0] != straight).any():
            raise ValueError("the first of the saffron_codes is not the address itself")
        return cls(graph, codes.astype(np.int32), signatures)


def saffron_design(graph: Any, rng: np.random.Generator, *, signatures: str = "local") -> SaffronDesign:
    """Draw signatures for the bins of a graph (m1, d), regular or not, eq. (1)."""
    check_choice("signatures", signatures, SIGNATURES)
    graph = canonical(graph)
    if not graph.nnz:
        raise ValueError(f"the graph of shape {graph.shape} has no edge; expected every label in a bin.")
    graph = sp.csr_array((np.ones(graph.nnz, np.int8), graph.indices, graph.indptr), shape=graph.shape)
    n = count_addresses(graph, signatures)
    codes = np.stack([np.arange(n), rng.permutation(n), rng.permutation(n)]).astype(np.int32)
    return SaffronDesign(graph, codes, signatures)


def count_addresses(graph: sp.csr_array, signatures: str) -> int:
    """Return d, or the size of the largest bin."""
    return graph.shape[1] if signatures == "global" else int(np.diff(graph.indptr).max(initial=1))


def count_bits(n_addresses: int) -> int:
    """Return L = ceil(log2 n), at least 1."""
    return max(1, int(n_addresses - 1).bit_length())


def count_bins(m: int, d: int, c: int, signatures: str = "local") -> int:
    """Return the largest m1 >= c with at most m tests m1 m2, for bins of equal size; 0 if there is none."""
    for m1 in range(m // 6, c - 1, -1):
        addresses = d if signatures == "global" else -(-d * c // m1)
        if m1 * 6 * count_bits(addresses) <= m:
            return m1
    return 0


def choose_column_weight(m: int, label_counts: np.ndarray, d: int, signatures: str = "local") -> int:
    """Return the c with the best expected recovery of rows with `label_counts` (n,) labels."""
    sizes, times = np.unique(label_counts[label_counts > 0], return_counts=True)

    def found(c):
        m1 = count_bins(m, d, c, signatures)
        return sum(k * n * expected_recovery(k, m1, c) for k, n in zip(sizes, times)) if m1 else -1.0

    return max(range(1, _MAX_WEIGHT + 1), key=found)


def required_tests(
    d: int, k: int, weight: int | None = None, *, graph: str = "regular", signatures: str = "local"
) -> int:
    """Return the number m of tests with which peeling finds 99 % of k labels, by density evolution.

    Without a weight, it is the minimum over all weights. The bins of an NMF graph differ in size; their
    addresses are assumed to have as many digits as d.
    """
    equal = graph == "regular" and signatures == "local"

    def tests(c):
        too_few, m1 = c - 1, c
        while expected_recovery(k, m1, c) < _TARGET_RECOVERY:
            too_few, m1 = m1, 2 * m1
        while m1 - too_few > 1:
            half = (too_few + m1) // 2
            if expected_recovery(k, half, c) < _TARGET_RECOVERY:
                too_few = half
            else:
                m1 = half
        return m1 * 6 * count_bits(-(-d * c // m1) if equal else d)

    return min(tests(c) for c in (range(1, _MAX_WEIGHT + 1) if weight is None else (weight,)))


def _nmf_graph(Y, m1, c, rng, progress):
    return nmf_groups(symmetric_nmf(cooccurrence(Y), m1, rng, progress=progress).H, c, rng)


def _regular_graph(Y, m1, c, rng, progress):
    return regular_graph(m1, Y.shape[1], c, rng)


GRAPHS = {"regular": _regular_graph, "nmf": _nmf_graph}


def plan_design(
    Y: sp.csr_array,
    m: int,
    rng: np.random.Generator,
    *,
    progress: Progress | None = None,
    graph: str = "regular",
    signatures: str = "local",
) -> Plan:
    """Return a `Plan` whose `draw(weight, rng)` returns a `SaffronDesign` of at most m tests.

    If the weight is None, density evolution chooses it. `graph` is a key of GRAPHS.
    """
    check_choice("graph", graph, GRAPHS)
    check_choice("signatures", signatures, SIGNATURES)
    Y = canonical(Y)
    d = Y.shape[1]

    def draw(weight, rng):
        c = choose_column_weight(m, np.diff(Y.indptr), d, signatures) if weight is None else weight
        m1 = count_bins(m, d, c, signatures)
        while m1 >= c and m1 > 0:
            design = saffron_design(GRAPHS[graph](Y, m1, c, rng, progress), rng, signatures=signatures)
            if design.n_groups <= m:
                return design
            m1 = m // design.n_tests  # the largest bin exceeds r, and its addresses have more digits
        raise ValueError(
            f"{m} groups do not make {c} bins for {d} labels: a bin takes 6 groups per binary digit of an "
            f"address, {6 * count_bits(d)} at most. Pass {6 * count_bits(d) * c} groups, or a smaller "
            "column weight."
        )

    return Plan(draw)


def plan(
    Y: sp.csr_array,
    m: int,
    rng: np.random.Generator,
    *,
    progress: Progress | None = None,
    graph: str = "regular",
    signatures: str = "local",
) -> Plan:
    """The same for the group matrix alone, with at most m rows."""
    designs = plan_design(Y, m, rng, progress=progress, graph=graph, signatures=signatures)
    return Plan(lambda weight, rng: designs.draw(weight, rng).A)

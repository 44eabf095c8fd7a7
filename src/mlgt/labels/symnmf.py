"""Symmetric non-negative matrix factorisation by coordinate descent: G ~ H'H.

Vandaele, Gillis, Lei, Zhong & Dhillon, "Efficient and non-convex coordinate descent for symmetric
nonnegative matrix factorization", IEEE Trans. Signal Processing 64 (2016), minimise

    F(H) = || G - H'H ||_F^2,      H (m, d) >= 0,                                       (1)

one entry at a time, exactly. We hold V = H' (d, m) and let h be row i of V, with everything else
fixed. With C = V'V - hh' over the other rows and g = sum_{l != i} G_il V_l, (1) is, but for a
constant,

    (G_ii - |h|^2)^2 + 2 h'Ch - 4 h'g,                                                  (2)

and as a function of one entry x = h_j, divided by 4,

    x^4/4 + a x^2/2 + b x,    a = C_jj + |h|^2 - h_j^2 - G_ii,   b = (Ch)_j - C_jj h_j - g_j.   (3)

`_nmf_kernels.quartic_argmin` minimises (3) over all x >= 0, so no step can raise F; the sum
of what (3) loses is the change of F at no extra cost. A label that never occurs has an empty row of G and
ends with h = 0.
"""

import time
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.errors import NotReproducibleWarning
from .._core.progress import Progress
from .._core.space import aligned_zeros
from .._core.sparse import canonical
from ._nmf_kernels import MAX_LISTED, sweep


@dataclass(frozen=True)
class Factorization:
    """H (m, d) of G ~ H'H, and how the descent went."""

    H: np.ndarray
    objective: float
    """||G - H'H||_F^2 at the end."""
    history: list[float] = field(default_factory=list)
    """The objective before the first sweep and after each one."""
    converged: bool = False
    reproducible: bool = True
    """False if a limit in seconds stopped the descent."""

    @property
    def n_sweeps(self) -> int:
        return len(self.history) - 1


def objective(G: sp.csr_array, V: Any) -> float:
    """Return F = ||G||^2 - 2 tr(V'GV) + ||V'V||^2 without forming VV'; V may be sparse or dense."""
    V = sp.csr_array(V)
    return float((G.data**2).sum() - 2 * (G @ V).multiply(V).sum() + ((V.T @ V).data ** 2).sum())


def random_start(
    G: sp.csr_array, m: int, rng: np.random.Generator, labels: Any = slice(None)
) -> sp.csr_array:
    """Return V with one random entry per row, scaled by the best factor t, min ||G - t^2 VV'||; only the
    rows of `labels`.

    Every label starts in one cluster. A dense start does not lead to a lower objective (the first sweep
    empties most of it) and makes the first sweep cost m^2 per row.
    """
    d = G.shape[0]
    columns, values = rng.integers(m, size=d), 0.1 + rng.random(d)
    values[np.diff(G.indptr) == 0] = 0.0
    V = sp.csr_array((values, columns, np.arange(d + 1)), shape=(d, m))
    fit, norm = (G @ V).multiply(V).sum(), ((V.T @ V).data ** 2).sum()
    return (V * np.sqrt(fit / norm) if norm > 0 else V)[labels]


def sweep_space(d: int, m: int) -> tuple[np.ndarray, ...]:
    """Work spaces of `sweep` for V (d, m)."""
    listed = d, min(m, MAX_LISTED)
    lists = np.empty(listed, np.int32), np.empty(listed), np.empty(d, np.int64)
    return *lists, aligned_zeros((m,), np.float64), aligned_zeros((m,), np.float64)


def symmetric_nmf(
    G: sp.csr_array,
    m: int,
    rng: np.random.Generator,
    *,
    max_sweeps: int = 10,
    tol: float = 1e-3,
    max_seconds: float | None = None,
    start: Any = None,
    progress: Progress | None = None,
) -> Factorization:
    """Factorise the sparse symmetric G (d, d) >= 0 into H (m, d), eq. (1).

    Stops after `max_sweeps` sweeps, or when a sweep lowers F by less than `tol` times F. If `max_seconds`
    stops it first, the result has `reproducible=False` and a `NotReproducibleWarning` is given. `start` is
    an initial V (d, m), sparse or not, random if None. `progress(done, total)` is called after each sweep.
    """
    G = canonical(G, np.float64)
    entries = sp.csr_array(random_start(G, m, rng) if start is None else start, dtype=np.float64)
    V = entries.toarray(order="C")
    C = (entries.T @ entries).toarray(order="C") if entries.nnz <= len(V) else V.T @ V
    space = sweep_space(*V.shape)
    history = [objective(G, entries)]
    began = time.perf_counter()
    converged, reproducible = False, True
    while len(history) <= max_sweeps and not converged:
        history.append(max(0.0, history[-1] + sweep(G.indptr, G.indices, G.data, V, C, *space)))
        converged = history[-2] - history[-1] <= tol * history[-1]
        if progress is not None:
            progress(len(history) - 1, max_sweeps)
        if max_seconds is not None and time.perf_counter() - began > max_seconds and not converged:
            reproducible = False
            warnings.warn(
                f"symmetric NMF stopped after {len(history) - 1} sweeps by max_seconds="
                f"{max_seconds}: another run with the same seed may stop elsewhere. Use max_sweeps "
                "or tol for a reproducible result.",
                NotReproducibleWarning,
                stacklevel=2,
            )
            break
    return Factorization(V.T, history[-1], history, converged, reproducible)

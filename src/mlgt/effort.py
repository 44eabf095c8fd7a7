"""What training will take, told before it starts: memory, and time on a machine like ours.

With n rows of w features, k labels a row of d, m groups and K candidates a row, one thread:

    bytes     the larger of the NMF, 16 m (d + m), and the centroids, 24 n k w (three sparse copies of at
              most n k w entries); arrays by label, 64 d; the weights; the solver's tiles; rows with
              candidates, 17 n K
    seconds   factors of the NMF, d m;  classifiers, n m and n w m;  candidates, n d up to MANY labels;
              rankers, n K w; each times a constant (SECONDS) fitted to runs of `benchmarks/default.py`

Labels that never occur have no factors: d is less for the NMF.

The time is right to within a factor of two or so on other data and machines, which is all it is for.
"""

from .retrieve.shortlist import MANY
from .solve.dual_descent import TILE

SECONDS = {"factors": 3.3e-7, "groups": 1.2e-7, "weights": 4e-10, "labels": 2.5e-9, "pairs": 2e-8}


def factor_bytes(d, m, factored=True):
    """Of the groups of d labels that occur, in the making."""
    return 16.0 * m * (d + m) if factored else 0.0


def tile_bytes(n, p, threads):
    """Of the solver at work."""
    return threads * TILE * (5.0 * n + 4.0 * p)


def training_bytes(n, w, k, d, n_candidates, factors, weights, tiles):
    """Peak bytes beside X and Y, of the bytes of the parts."""
    centroids = 24.0 * n * k * w if n_candidates else 0.0
    return max(factors, centroids) + 64.0 * d + weights + tiles + 17.0 * n * n_candidates


def groups_seconds(n, w, d, m, factored=True):
    """CPU seconds of m groups of d labels and their classifiers on n rows."""
    work = {
        "factors": float(d) * m if factored else 0.0,
        "groups": float(n) * m,
        "weights": float(n) * m * w,
    }
    return _seconds(work)


def ranking_seconds(n, w, d, n_candidates):
    """CPU seconds of candidates and rankers, if there are any."""
    labels = float(n) * min(d, MANY) if n_candidates else 0.0
    return _seconds({"labels": labels, "pairs": float(n) * n_candidates * w})


def _seconds(work):
    return sum(SECONDS[name] * amount for name, amount in work.items())


def told(needed, seconds):
    """In words."""
    if seconds < 90:
        time = f"{max(1, round(seconds))} s"
    elif seconds < 5400:
        time = f"{seconds / 60:.0f} min"
    else:
        time = f"{seconds / 3600:.1f} h"
    return f"about {needed / 1e9:.1f} GB of memory beside the data, and some {time} of time"

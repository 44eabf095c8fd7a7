"""What training will take, told before it starts: memory, and time on a machine like ours.

With n rows of w features, k labels a row of d, m groups and K candidates a row, one thread:

    bytes     the larger of the NMF, 16 m (d + m), without it 64 d for arrays by label, and the centroids,
              24 n k w (three sparse copies of at most n k w entries); the weights, 4 p m; the solver's
              tiles; rows with candidates, 17 n K
    seconds   factors of the NMF, d m;  classifiers, n m and n w m;  candidates, n d up to MANY labels;
              rankers, n K w; each times a constant (SECONDS) fitted to runs of `benchmarks/default.py`

The time is right to within a factor of two or so on other data and machines, which is all it is for.
"""

from .retrieve.shortlist import MANY

SECONDS = {"factors": 3.3e-7, "groups": 1.2e-7, "weights": 4e-10, "labels": 2.5e-9, "pairs": 2e-8}


def training_bytes(n, w, k, d, p, m, n_candidates, tile_bytes, factored=True):
    """Peak bytes beside X and Y."""
    factors = 16.0 * m * (d + m) if factored else 64.0 * d
    ranked = n_candidates > 0
    centroids = 24.0 * n * k * w if ranked else 0.0
    return max(factors, centroids) + 4.0 * p * m + tile_bytes + (17.0 * n * n_candidates if ranked else 0.0)


def training_seconds(n, w, d, m, n_candidates, threads=1, factored=True):
    """CPU seconds over threads."""
    work = {
        "factors": float(d) * m if factored else 0.0,
        "groups": float(n) * m,
        "weights": float(n) * m * w,
        "labels": float(n) * min(d, MANY) if n_candidates else 0.0,
        "pairs": float(n) * n_candidates * w,
    }
    return sum(SECONDS[name] * amount for name, amount in work.items()) / threads


def told(needed, seconds):
    """In words."""
    if seconds < 90:
        time = f"{max(1, round(seconds))} s"
    elif seconds < 5400:
        time = f"{seconds / 60:.0f} min"
    else:
        time = f"{seconds / 3600:.1f} h"
    return f"about {needed / 1e9:.1f} GB of memory beside the data, and some {time} of time"

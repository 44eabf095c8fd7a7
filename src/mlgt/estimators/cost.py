"""What training will take, told before it starts: memory, and time on a machine like ours.

With n rows of w of p features, k labels a row of d, and K candidates a row; a block has m groups for the
d_i of its labels that occur, and n_i rows (a flat model is one block of all rows); one thread:

    bytes     the larger of the NMF, 16 m (d_i + m), and the centroids, 24 n k w (three sparse copies of at
              most n k w entries); arrays by label, 64 d; weights in the making, 4 p m, and those kept; the
              solver's tiles; rows with candidates, 17 n K
    seconds   factors of the NMF, d_i m;  classifiers, n_i m and n_i w m;  candidates, n d up to MANY
              labels;  rankers, n K w; each times a constant (SECONDS) fitted to runs of
              `research/micro/default.py`

Factors and weights in the making are of as many blocks as there are threads. The time is right to within a
factor of two or so on other data and machines, which is all it is for.
"""

from dataclasses import dataclass
from typing import NamedTuple

from ..classifiers.solver import TILE
from ..ranking.shortlist import MANY

SECONDS = {"factors": 3.3e-7, "groups": 1.2e-7, "weights": 4e-10, "labels": 2.5e-9, "pairs": 2e-8}


class BlockSize(NamedTuple):
    labels: int
    """That occur."""
    groups: int
    rows: float


@dataclass(frozen=True)
class Training:
    n: int
    w: float
    p: int
    k: float
    d: int
    n_candidates: int = 0
    """K; 0 without a ranker."""
    threads: int = 1
    factored: bool = True
    """Are the groups made by an NMF?"""

    def bytes(self, blocks, kept=0.0):
        """At the peak, beside X and Y; `kept` are the weights of blocks that stay in memory."""
        factors = [16.0 * b.groups * (b.labels + b.groups) if self.factored else 0.0 for b in blocks]
        weights = [4.0 * self.p * b.groups for b in blocks]
        centroids = 24.0 * self.n * self.k * self.w if self.n_candidates else 0.0
        tiles = self.threads * TILE * (5.0 * self.n + 4.0 * self.p)
        most_factors, most_weights = (sum(sorted(sizes)[-self.threads :]) for sizes in (factors, weights))
        by_label, pairs = 64.0 * self.d, 17.0 * self.n * self.n_candidates
        return max(most_factors, centroids) + by_label + most_weights + kept + tiles + pairs

    def seconds(self, blocks):
        """With all threads at work."""
        pairs = float(self.n) * self.n_candidates * self.w
        work = {"labels": float(self.n) * min(self.d, MANY) if self.n_candidates else 0.0, "pairs": pairs}
        work["factors"] = sum(float(b.labels) * b.groups for b in blocks) if self.factored else 0.0
        work["groups"] = sum(float(b.rows) * b.groups for b in blocks)
        work["weights"] = self.w * work["groups"]
        return sum(SECONDS[name] * amount for name, amount in work.items()) / self.threads


def told(needed, seconds):
    """In words."""
    if seconds < 90:
        time = f"{max(1, round(seconds))} s"
    elif seconds < 5400:
        time = f"{seconds / 60:.0f} min"
    else:
        time = f"{seconds / 3600:.1f} h"
    return f"about {needed / 1e9:.1f} GB of memory beside the data, and some {time} of time"

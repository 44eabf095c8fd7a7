"""X (n, p), Z (n, m) -> weights (p, m): linear classifiers for all groups at once."""

from .solver import LOSSES, Solution, solve
from .train import EstimatorGroups, LinearGroups

__all__ = ["LOSSES", "EstimatorGroups", "LinearGroups", "Solution", "solve"]

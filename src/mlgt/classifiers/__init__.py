"""X (n, p), Z (n, m) -> weights (p, m): linear classifiers for all groups at once."""

from .solver import LOSSES, Solution, solve

__all__ = ["LOSSES", "Solution", "solve"]

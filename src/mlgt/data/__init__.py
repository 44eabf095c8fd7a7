"""Files of data in, sparse matrices out: X (n, p) holds the features, Y (n, d) the labels."""

from .dataset import Dataset
from .xmc import read_xmc, write_xmc

__all__ = ["Dataset", "read_xmc", "write_xmc"]

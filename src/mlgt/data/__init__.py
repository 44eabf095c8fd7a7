"""Readers of data: sparse features X (n, p) and labels Y (n, d), or records of texts and label names."""

from .._core.limits import Limits
from .dataset import Dataset
from .parts import part_files
from .records import Columns, Record, RecordFile, looks_like_rows, recognise
from .xmc import read_xmc, write_xmc

__all__ = [
    "Columns",
    "Dataset",
    "Limits",
    "Record",
    "RecordFile",
    "looks_like_rows",
    "part_files",
    "read_xmc",
    "recognise",
    "write_xmc",
]

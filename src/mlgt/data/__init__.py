"""Files of data in, sparse matrices out: X (n, p) holds the features, Y (n, d) the labels; or texts and
names of labels, record by record."""

from .dataset import Dataset
from .records import Columns, Record, RecordFile, looks_like_rows, recognise
from .xmc import read_xmc, write_xmc

__all__ = [
    "Columns",
    "Dataset",
    "Record",
    "RecordFile",
    "looks_like_rows",
    "read_xmc",
    "recognise",
    "write_xmc",
]

"""Synthetic data of the kind mlgt is made for: many labels, few per row, most of them rare."""

from ._text import to_text
from .model import Collection, make
from .shape import PRESETS, Shape, make_shape

__all__ = ["PRESETS", "Collection", "Shape", "make", "make_shape", "to_text"]

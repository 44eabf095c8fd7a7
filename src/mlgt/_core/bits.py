"""Which bit of a word of 64 bits is the lowest: BIT_AT[(word & -word) * DE_BRUIJN >> 58]."""

import numpy as np

DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
"""Multiplier that maps each of the 64 powers of two to different top six bits."""

BIT_AT = np.empty(64, np.int64)
"""The power of two by these six bits."""
for _bit in range(64):
    BIT_AT[(int(DE_BRUIJN) << _bit) % 2**64 >> 58] = _bit

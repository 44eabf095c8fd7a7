"""Group margins (n, m), A -> label scores (n, d): higher is better, -inf cannot be.

A decoder is a function `(A, label_counts, **options) -> Decoder`. To add one, write its file and name it
here. SAFFRON's decoders are of another kind: they take a design and name labels without scoring all d.
"""

from .decoder import Decoder
from .inclusion import decode_inclusion
from .saffron import decode_noisy, decode_peeling
from .soft import decode_soft
from .top_k import decode_top_k, decode_top_k_frequency

DECODERS = {
    "soft": decode_soft,
    "top_k": decode_top_k,
    "top_k_frequency": decode_top_k_frequency,
    "inclusion": decode_inclusion,
}

__all__ = [
    "DECODERS",
    "Decoder",
    "decode_inclusion",
    "decode_noisy",
    "decode_peeling",
    "decode_soft",
    "decode_top_k",
    "decode_top_k_frequency",
]

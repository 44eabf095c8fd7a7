"""Group margins (n, m), A -> label scores (n, d): higher is better, -inf if impossible.

A decoder is a function `(A, label_counts, **options) -> Decoder`. To add one, write its file and name it
here. SAFFRON's decoders are of another kind: they name labels without scoring all d, and are functions
`(design, label_counts, **options) -> decode`, where `decode(margins, k)` returns (labels, scores), (n, k).
"""

from collections.abc import Callable
from typing import Any

from .decoder import Decoder, DesignDecoder
from .inclusion import decode_inclusion
from .index import LabelIndex
from .saffron import decode_noisy, decode_peeling, noisy_decoder, peeling_decoder
from .search import search
from .soft import decode_soft
from .top_k import decode_top_k, decode_top_k_frequency

DECODERS = {
    "soft": decode_soft,
    "top_k": decode_top_k,
    "top_k_frequency": decode_top_k_frequency,
    "inclusion": decode_inclusion,
}

DESIGN_DECODERS: dict[str, Callable[..., Any]] = {
    "saffron": noisy_decoder,
    "saffron_hard": peeling_decoder,
}

__all__ = [
    "DECODERS",
    "DESIGN_DECODERS",
    "Decoder",
    "DesignDecoder",
    "LabelIndex",
    "decode_inclusion",
    "decode_noisy",
    "decode_peeling",
    "decode_soft",
    "decode_top_k",
    "decode_top_k_frequency",
    "search",
]

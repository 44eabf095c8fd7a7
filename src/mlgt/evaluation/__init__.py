"""Models on labelled rows: what they answer, how good it is, and how two of them differ."""

from .answers import Answer, in_blocks, timed_topk
from .comparison import compare_models
from .labelled import Labelled, label_texts
from .reports import error_rows, evaluate_model, evaluate_ranking, evaluate_sets

__all__ = [
    "Answer",
    "Labelled",
    "compare_models",
    "error_rows",
    "evaluate_model",
    "evaluate_ranking",
    "evaluate_sets",
    "in_blocks",
    "label_texts",
    "timed_topk",
]

"""Measures of predictions: precision, nDCG, PSP, recall, calibration, and a diagnosis of errors."""

from .calibration import calibration_error, reliability
from .compare import Ranked, compare_rankings
from .confusions import confused_pairs
from .diagnosis import diagnose
from .measures import (
    evaluate,
    f1_rows,
    hamming_errors,
    hamming_loss,
    highest_precision_at,
    hits,
    inverse_propensities,
    modified_precision_at,
    ndcg_at,
    ndcg_rows,
    precision_at,
    psp_at,
    recall_at,
    recall_rows,
    surely_better,
    training_loss,
)

__all__ = [
    "Ranked",
    "calibration_error",
    "compare_rankings",
    "confused_pairs",
    "diagnose",
    "evaluate",
    "f1_rows",
    "hamming_errors",
    "hamming_loss",
    "highest_precision_at",
    "hits",
    "inverse_propensities",
    "modified_precision_at",
    "ndcg_at",
    "ndcg_rows",
    "precision_at",
    "psp_at",
    "recall_at",
    "recall_rows",
    "reliability",
    "surely_better",
    "training_loss",
]

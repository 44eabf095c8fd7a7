"""Ranking, Y -> figures: precision, nDCG, PSP, recall, calibration; where a model is good and where not."""

from .diagnosis import diagnose
from .measures import (
    calibration_error,
    evaluate,
    f1_rows,
    hamming_errors,
    hamming_loss,
    hits,
    inverse_propensities,
    modified_precision_at,
    ndcg_at,
    ndcg_rows,
    precision_at,
    psp_at,
    recall_at,
    reliability,
    surely_better,
    training_loss,
)

__all__ = [
    "calibration_error",
    "diagnose",
    "evaluate",
    "f1_rows",
    "hamming_errors",
    "hamming_loss",
    "hits",
    "inverse_propensities",
    "modified_precision_at",
    "ndcg_at",
    "ndcg_rows",
    "precision_at",
    "psp_at",
    "recall_at",
    "reliability",
    "surely_better",
    "training_loss",
]

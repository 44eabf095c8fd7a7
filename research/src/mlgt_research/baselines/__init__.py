"""What the paper compares with: one-vs-all, MLCS, SLEEC, PfastreXML, DiSMEC and PPD-Sparse."""

from .dismec import DiSMECClassifier
from .mlcs import MLCSClassifier
from .one_vs_all import OneVsAllClassifier
from .pfastrexml import PfastreXMLClassifier
from .ppd_sparse import PPDSparseClassifier
from .sleec import SLEECClassifier

__all__ = [
    "DiSMECClassifier",
    "MLCSClassifier",
    "OneVsAllClassifier",
    "PPDSparseClassifier",
    "PfastreXMLClassifier",
    "SLEECClassifier",
]

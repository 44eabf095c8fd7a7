"""The methods by name, for the command line, for `make_estimator` and for experiments.

nmf-gt      NMF-GT: groups sampled from a symmetric NMF of the label graph (section 3)
cw-gt       CW-GT: random groups of constant column weight (supplement A.1)
sp-gt       SP-GT: sparse random groups (section 5)
saffron     SAFFRON groups (supplement A.2), with our decoder for learnt tests
he-nmfgt    He-NMFGT: four blocks with one strict separator, rows without a label of the block dropped, a
            label's votes from its blocks weighted so that the weights add to 1 (section 4)
auto        ours: match and rank, every setting chosen from the data
"""

from typing import Any

from .flat import MLGTClassifier
from .hierarchical import HierarchicalMLGTClassifier

HARD: dict[str, Any] = {"decoder": "top_k", "ranker": None}
"""The paper's decoding: the top k of A'z, and no ranker."""

METHODS: dict[str, dict[str, Any]] = {
    "auto": {},
    "nmf-gt": {"construction": "nmf", **HARD},
    "cw-gt": {"construction": "constant_weight", **HARD},
    "sp-gt": {"construction": "sparse_random", **HARD},
    "saffron": {"construction": "saffron", "decoder": "saffron", "ranker": None},
    "he-nmfgt": {
        "construction": "nmf",
        **HARD,
        "n_blocks": 4,
        "budget": None,
        "combination": "weighted",
        "negatives": 0.0,
    },
}
"""Parameters of the estimator that runs each method."""


def make_estimator(method: str = "auto", **params: Any) -> MLGTClassifier | HierarchicalMLGTClassifier:
    """Return the unfitted estimator of a method.

    Parameters
    ----------
    method : str, default="auto"
        A key of `METHODS`.
    **params
        Further parameters of the estimator; they override those of the method.

    Returns
    -------
    MLGTClassifier or HierarchicalMLGTClassifier
        The latter if any parameter is about blocks.
    """
    settings = {**METHODS[method], **params}
    flat = set(MLGTClassifier().get_params(deep=False))
    return (MLGTClassifier if set(settings) <= flat else HierarchicalMLGTClassifier)(**settings)

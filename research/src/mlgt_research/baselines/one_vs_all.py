"""One-vs-all: a linear classifier per label, by the solver that mlgt's groups use.

The paper's one-vs-all has 0/1 outputs, of which the first five count: `decoder="hard"`, ties to the lowest
label id. Ranked by margin, `"margin"`, the same classifiers are far better.
"""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from mlgt._core.topk import top_k
from mlgt._core.validation import check_choice
from mlgt.classifiers.train import train

from .baseline import Baseline


class OneVsAllClassifier(Baseline):
    """A linear SVM per label; `predict_topk` ranks labels by margin, or by 0/1 outputs as the paper does.

    Parameters
    ----------
    decoder : "margin" or "hard"
        By which labels are ranked.
    C, loss, tol, max_iter : solver settings, see `mlgt.classifiers.solver.solve`
    n_jobs : int, optional
        Threads. The result does not depend on it.
    random_state : int, RandomState or None

    Attributes
    ----------
    classifiers_ : `coef` (p, d) and `intercept` (d,)
    classes_ : label names if y was a data frame, else 0 .. d-1
    """

    def __init__(
        self, decoder="margin", *, C=1.0, loss="squared_hinge", tol=1e-2, max_iter=200, n_jobs=None,
        random_state=None,
    ):  # fmt: skip
        self.decoder = decoder
        self.C = C
        self.loss = loss
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> "OneVsAllClassifier":
        """Train on X (n, p), sparse or dense, and y (n, d), a 0/1 matrix or data frame."""
        check_choice("decoder", self.decoder, ("margin", "hard"))
        X, Y = self._begin(X, y)
        self.classifiers_ = train(
            X, Y, C=self.C, loss=self.loss, tol=self.tol, max_iter=self.max_iter, n_jobs=self.n_jobs,
            seed=int(check_random_state(self.random_state).randint(2**31)),
        )  # fmt: skip
        return self

    def _top_k(self, rows, k):
        margins = self.classifiers_.margins(rows)
        return top_k((margins > 0).astype(np.float32) if self.decoder == "hard" else margins, k)

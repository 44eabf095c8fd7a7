"""What a fitted model of groups can be asked: labels, sets, probabilities, scores, reasons."""

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._core.rows import map_blocks, scale_rows
from .._core.validation import check_labels
from ..decoding import DESIGN_DECODERS
from ..metrics import ndcg_at
from ..model.predictor import Predictor, label_ids
from ..ranking.sets import best_sets, sigmoid
from .ranked import RankedLabels, by_label

_DENSE_LIMIT = 1 << 28


def _is_calibrated(model):
    """`predict_proba` exists unless the method, or too few rows, leave nothing to calibrate."""
    blend = getattr(model, "blend_", None)
    if blend is not None and blend.calibrated:
        return True
    raise AttributeError(
        "This model has no calibrated probabilities: they need ranker='auto' or 'linear', fit, and "
        "some hundred training rows. predict_topk gives scores."
    )


def _scores_all_labels(model):
    """`decision_function` exists unless the decoder names labels without looking at the others."""
    if model.decoder not in DESIGN_DECODERS:
        return True
    raise AttributeError(
        f"decoder={model.decoder!r} has no scores of all labels: it reads a few off their groups. Use "
        "predict_topk(X, k), or set_params(decoder='soft'), which scores all."
    )


class Answers(RankedLabels):
    """Of an estimator with `_matching()`, what `fit` leaves, and the settings rows are scaled by."""

    classes_: np.ndarray
    held_out_: dict

    def __sklearn_is_fitted__(self):
        return hasattr(self, "held_out_")

    def predict_topk(self, X, k=None, *, among=None):
        """The k best labels of each row: (label ids (n, k), scores (n, k)), best first.

        k is 5 if not given, or all labels where there are fewer. Ids index the columns of y (and
        `classes_`). Where the decoder finds fewer than k labels, ids are padded by -1 and scores by -inf.
        `among`, labels by name or id, scores these alone, candidates or not.
        """
        check_is_fitted(self)
        k, X = self._check_k(k), self._scaled(X)
        matching = self._matching()
        if among is not None:
            among = label_ids(among, self.classes_, matching)
            k = min(k, len(among))
        return self._rank_rows(lambda rows: matching.top_k(rows, k, among), X)

    def predict(self, X):
        """The labels of each row, as a (n, d) CSR matrix of 0 and 1.

        With calibrated probabilities, as many of the best as make the expected F1 largest, at least one;
        else the 5 best, the number the paper predicts.
        """
        check_is_fitted(self)
        d = len(self.classes_)
        calibrated = self._matching().calibrated
        labels, scores = self.predict_topk(X, min(d, self.n_candidates_) if calibrated else None)
        labels = best_sets(labels, scores) if calibrated else labels
        return by_label(labels, np.ones(labels.shape, np.int64), d)

    @available_if(_is_calibrated)
    def predict_proba(self, X):
        """Probabilities of the candidates of each row, as a (n, d) CSR matrix; all other labels are 0.

        Calibrated on held-out training rows. Rows do not sum to 1: labels are not exclusive.
        """
        check_is_fitted(self)
        if self.tail:
            raise ValueError(f"tail={self.tail} ranks by more than probability; set_params(tail=0) first.")
        d = len(self.classes_)
        labels, scores = self.predict_topk(X, min(d, self.n_candidates_))
        return by_label(labels, sigmoid(scores), d)

    @available_if(_scores_all_labels)
    def decision_function(self, X):
        """Scores of all labels, dense (n, d). For many labels use `predict_topk`.

        SAFFRON's decoders have none: they name a few labels and do not look at the others.
        """
        check_is_fitted(self)
        X = self._scaled(X)
        n, d = X.shape[0], len(self.classes_)
        if n * d > _DENSE_LIMIT:
            raise ValueError(
                f"decision_function would make a dense {n} x {d} array ({n * d * 4 / 1e9:.1f} GB). "
                f"Use predict_topk(X, k), or pass at most {max(1, _DENSE_LIMIT // d)} rows at a time."
            )
        matching = self._matching()

        def scores(rows):
            if matching.blend is None:
                return matching.decoder.scores(matching.margins(rows), self.groups_)
            labels, values = matching.ranked_candidates(
                rows, d if matching.ranker is None else matching.n_candidates
            )
            out = np.full((len(labels), d), -np.inf, np.float32)
            row, column = np.nonzero(labels >= 0)
            out[row, labels[row, column]] = values[row, column]
            return out

        return np.concatenate(map_blocks(scores, X, self.n_jobs))

    def score(self, X, y):
        """nDCG@5 of the ranking: exact matches, scikit-learn's default, say little of top-5 sets."""
        labels, _ = self.predict_topk(X, min(5, len(self.classes_)))
        Y, _ = check_labels(y, len(labels))
        if Y.shape[1] != len(self.classes_):
            raise ValueError(f"y has {Y.shape[1]} labels, but the model knows {len(self.classes_)}.")
        return ndcg_at(Y, labels, 5)

    def explain(self, x, k=3, *, labels=None):
        """Why a row x (1, p) gets its k best labels, or what speaks for these `labels`, by name or id: an
        `mlgt.explain.Explanation`, whose shares of the features add up to the margin."""
        check_is_fitted(self)
        return Predictor(self).explain(x, k, labels=labels)

    def name_labels(self, names):
        """Give the labels names, in the order of the columns of y; returns self."""
        check_is_fitted(self)
        if len(names) != len(self.classes_):
            raise ValueError(f"{len(names)} names for {len(self.classes_)} labels; expected one each.")
        self.classes_ = np.array([str(name) for name in names], dtype=object)
        return self

    def save(self, path, *, overwrite=False):
        """Write the fitted model to the folder `path`; `mlgt.load(path)` reads it back."""
        from ..model.files import save_model

        check_is_fitted(self)
        save_model(self, path, overwrite=overwrite)

    def _scaled(self, X):
        """New rows as the classifiers see them."""
        return scale_rows(self._check_features(X, reset=False), self.power_, self.normalize)

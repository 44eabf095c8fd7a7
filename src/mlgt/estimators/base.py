"""The scikit-learn face that the classifiers share: checked input, answers of the fitted model, saving."""

import os
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._core.progress import current_narrator
from .._core.rows import map_blocks
from .._core.sigmoid import sigmoid
from .._core.sparse import by_label
from .._core.validation import check_choice, check_labels, generator
from ..decoding import DECODERS, DESIGN_DECODERS
from ..metrics import ndcg_at
from ..model.explain import Explanation
from ..model.fitted import FittedModel
from ..model.predictor import AllLabels, Predictor
from ..model.writing import save_model
from ..teaching.checkup import Checkup, check_up
from ..teaching.update import check_updatable, label_more, update_model
from ..training.checks import Params
from ..training.prepare import prepare, train_kept
from .inputs import MultilabelEstimator

MAX_DENSE_ENTRIES = 1 << 28
"""Entries of the largest array that `decision_function` returns."""
_FROM_MODEL = {
    "n_rows_": "n_rows", "n_features_in_": "n_features", "n_labels_": "n_labels", "design_": "design",
    "known_labels_": "known_labels", "classifiers_": "classifiers", "ranker_": "ranker",
    "centroids_": "centroids", "cooccurrence_": "cooccurrence", "blend_": "blend",
    "final_blend_": "final_blend", "n_candidates_": "n_candidates", "candidate_prior_": "candidate_prior",
    "power_": "power",
}  # fmt: skip
_FROM_RECORD = (
    "C", "column_weight", "column_weight_losses", "reproducible", "tried", "held_out", "reasons"
)  # fmt: skip


def is_calibrated(estimator: Any) -> bool:
    """`predict_proba` exists unless the method, or too few rows, leave nothing to calibrate."""
    blend = getattr(estimator, "blend_", None)
    if blend is not None and blend.calibrated and estimator.decoder == "soft":
        return True
    raise AttributeError(
        "This model has no calibrated probabilities: they need ranker='auto' or 'linear', fit, and "
        "about a thousand training rows. predict_topk returns scores."
    )


def _scores_all_labels(estimator):
    """`decision_function` exists unless the decoder finds labels without scoring the others."""
    if estimator.decoder not in DESIGN_DECODERS:
        return True
    raise AttributeError(
        f"decoder={estimator.decoder!r} has no scores of all labels: it reads a few off their groups. Use "
        "predict_topk(X, k), or set_params(decoder='soft'), which scores all."
    )


class GroupTestingClassifier(AllLabels, MultilabelEstimator):
    """What `MLGTClassifier` and `HierarchicalMLGTClassifier` share; training is theirs."""

    n_labels_: int
    model_: FittedModel
    checkup_: Checkup | None
    _params = Params

    def __sklearn_is_fitted__(self):
        return hasattr(self, "model_")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "GroupTestingClassifier":
        """Train the model.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n, p)
            The rows.
        y : sparse matrix, array or data frame of shape (n, d)
            Their labels, 0 or 1.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows; rows of weight 0 are not used.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight)

    def _fit(self, X, y, sample_weight=None, vocabulary=None, feature_names=None, names=None):
        """`fit` for columns of y that are the labels of a `Vocabulary`, also those without any row."""
        params, data = self._training_data(X, y, sample_weight, vocabulary, feature_names, names)
        return self._store(train_kept(self._train, params, data, current_narrator(self.verbose)))

    def predict_topk(
        self, X: Any, k: int | None = None, *, among: Iterable[str | int] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the k best labels of each row.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n, p)
            The rows.
        k : int, default=None
            Number of labels per row; None is 5, or all labels if there are fewer.
        among : iterable of str or int, default=None
            Labels, by name or id, to score, whether they are candidates or not; no others are returned.

        Returns
        -------
        labels : ndarray of shape (n, k)
            Label ids, best first: columns of y. Padded with -1.
        scores : ndarray of shape (n, k)
            Their scores, padded with -inf.
        """
        return self.fitted_model().predict_topk(self._check_features(X, reset=False), k, among, self.n_jobs)

    def predict(self, X: Any) -> sp.csr_matrix:
        """Predict the labels of each row.

        With calibrated probabilities, these are as many of the best labels as maximise the expected F1, at
        least one; otherwise the 5 best, the number the paper predicts.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n, p)
            The rows.

        Returns
        -------
        csr_matrix of shape (n, d)
            1 for each predicted label, else 0.
        """
        model = self.fitted_model()
        labels, scores = self.predict_topk(X, model.max_candidates if model.calibrated else None)
        labels = model.sets(labels, scores) if model.calibrated else labels
        return by_label(labels, np.ones(labels.shape, np.int64), model.n_labels)

    @available_if(is_calibrated)
    def predict_proba(self, X: Any) -> sp.csr_matrix:
        """Estimate the probabilities of the candidate labels of each row.

        They are calibrated on held-out training rows. Rows do not sum to 1: labels are not exclusive.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n, p)
            The rows.

        Returns
        -------
        csr_matrix of shape (n, d)
            Probabilities; 0 for labels that are no candidates.
        """
        if self.tail:
            raise ValueError(f"tail={self.tail} ranks by more than probability; set_params(tail=0) first.")
        model = self.fitted_model()
        labels, scores = self.predict_topk(X, model.max_candidates)
        return by_label(labels, sigmoid(scores), model.n_labels)

    @available_if(_scores_all_labels)
    def decision_function(self, X: Any) -> np.ndarray:
        """Score all labels; use `predict_topk` if there are many.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n, p)
            The rows.

        Returns
        -------
        ndarray of shape (n, d)
            Scores; -inf for labels that are no candidates. SAFFRON's decoders have none.
        """
        check_is_fitted(self)
        X = self._check_features(X, reset=False)
        n, d = X.shape[0], self.n_labels_
        if n * d > MAX_DENSE_ENTRIES:
            raise ValueError(
                f"decision_function would make a dense {n} x {d} array ({n * d * 4 / 1e9:.1f} GB). "
                f"Use predict_topk(X, k), or pass at most {max(1, MAX_DENSE_ENTRIES // d)} rows at a time."
            )
        model = self.fitted_model()
        scores = np.concatenate(map_blocks(model.all_scores, model.scaled(X), self.n_jobs))
        return scores if model.known_labels is None else model.known_labels.spread_scores(scores)

    def score(self, X: Any, y: Any) -> float:
        """Return nDCG@5 of the ranking.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n, p)
            The rows.
        y : sparse matrix, array or data frame of shape (n, d)
            Their labels, 0 or 1.

        Returns
        -------
        float
            The mean over the rows.
        """
        labels, _ = self.predict_topk(X)
        Y, _ = check_labels(y, len(labels))
        if Y.shape[1] != self.n_labels_:
            raise ValueError(f"y has {Y.shape[1]} labels, but the model knows {self.n_labels_}.")
        return ndcg_at(Y, labels, 5)

    def explain(
        self,
        x: Any,
        k: int = 3,
        *,
        labels: Iterable[str | int] | None = None,
        feature_names: Any = None,
    ) -> Explanation:
        """Explain why a row gets its labels.

        Parameters
        ----------
        x : sparse matrix or array of shape (1, p)
            The row.
        k : int, default=3
            Number of best labels to explain.
        labels : iterable of str or int, default=None
            Labels, by name or id, to explain instead of the best ones.
        feature_names : sequence of str, or transformer or Pipeline of scikit-learn, default=None
            The names of the features; None takes those of the data frame of `fit`, if there was one.

        Returns
        -------
        mlgt.model.explain.Explanation
            The features for and against each label; their shares add up to its margin.
        """
        check_is_fitted(self)
        return Predictor(self).explain(x, k, labels=labels, feature_names=feature_names)

    def extend(self, X: Any, y: Any, names: Sequence[str] | None = None) -> "GroupTestingClassifier":
        """Learn new rows, and new labels if there are any, without the rows of `fit`.

        The model learns them beside the rows that it keeps (`keep_rows`), so that they do not displace what
        it knows, and remembers them (`mlgt.teaching.update`). Settings, blend and calibration stay.
        `checkup_` compares it before and after on rows kept out of training; a model that is surely worse
        there is warned about. docs/growing.md compares it with training again on all rows.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n, p)
            The new rows.
        y : sparse matrix, array or data frame of shape (n, d or more)
            The known labels in their order, then new ones; columns of a data frame are matched by name.
        names : sequence of str, default=None
            Names of the new labels, if the labels have names and y is no data frame.

        Returns
        -------
        self
            The estimator itself.
        """
        model = self.fitted_model()
        check_updatable(model)
        X = self._check_features(X, reset=False)
        Y, own = check_labels(y, X.shape[0])
        Y, classes, known = label_more(model, Y, own, names)
        seed = int(generator(self.random_state).integers(2**31))
        options = {"n_jobs": self.n_jobs, "seed": seed, "narrator": current_narrator(self.verbose)}
        taught = update_model(model, X, Y, classes, known, **options)
        self._store(taught)
        self.checkup_ = check_up(model, taught)
        if self.checkup_ is not None and self.checkup_.worse:
            warnings.warn(f"Teaching made the model worse: {self.checkup_}.", UserWarning, stacklevel=2)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Sequence[str] | None = None) -> "GroupTestingClassifier":
        """Learn rows: the first call is `fit`, later ones are `extend`.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n, p)
            The rows. The first call chooses all settings, so give it as many rows as there are.
        y : sparse matrix, array or data frame of shape (n, d or more)
            Their labels, 0 or 1; columns beyond those of earlier calls are new labels.
        classes : sequence of str, default=None
            Names of all labels of y, in their order, if they have names and y is no data frame. Unlike
            other estimators, this one needs no list of all labels in the first call.

        Returns
        -------
        self
            The estimator itself.
        """
        if not hasattr(self, "model_"):
            self.fit(X, y)
            return self if classes is None else self.name_labels(classes)
        new = None if classes is None or len(classes) <= self.n_labels_ else list(classes)[self.n_labels_ :]
        return self.extend(X, y, new)

    def name_labels(self, names: Sequence[str]) -> "GroupTestingClassifier":
        """Give the labels names.

        Parameters
        ----------
        names : sequence of str
            One name per column of y, in their order.

        Returns
        -------
        self
            The estimator itself.
        """
        check_is_fitted(self)
        if len(names) != self.n_labels_:
            raise ValueError(f"{len(names)} names for {self.n_labels_} labels; expected one each.")
        classes = np.array([str(name) for name in names], object)
        return self._store(replace(self.model_, classes=classes, vocabulary=None))

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the fitted model to a folder, which `mlgt.load` reads.

        Parameters
        ----------
        path : str or path
            The folder; it must not exist, be empty, or hold a model to overwrite.
        overwrite : bool, default=False
            Replace the model in `path`, if there is one.
        """
        save_model(self.fitted_model(), self._owner(), path, overwrite=overwrite)

    def fitted_model(self) -> FittedModel:
        """Return the fitted model, with the decoder and tail as they are set now.

        Returns
        -------
        mlgt.model.fitted.FittedModel
            The object that makes all predictions.
        """
        check_is_fitted(self)
        current = {
            "decoder_name": check_choice("decoder", self.decoder, DECODERS | DESIGN_DECODERS),
            "decoder_params": self.decoder_params or {},
            "normalize": self.normalize,
            "tail": self.tail,
        }
        if all(getattr(self.model_, name) == value for name, value in current.items()):
            return self.model_
        return replace(self.model_, **current)

    # Validate, and store what was computed.

    def _training_data(self, X, y, sample_weight, vocabulary=None, feature_names=None, names=None):
        """(checked parameters, checked data); what was fitted before is dropped."""
        for name in [name for name in vars(self) if name.endswith("_") and name[0] != "_"]:
            delattr(self, name)  # a fit that fails leaves no mixture of two models
        X = self._check_features(X, reset=True)
        Y, own_names = check_labels(y, X.shape[0])
        params = self._params(self.get_params(deep=False))
        feature_names = feature_names or list(getattr(self, "feature_names_in_", [])) or None
        return params, prepare(params, X, Y, sample_weight, own_names, feature_names, vocabulary, names)

    def _store(self, model):
        """Keep the fitted model and its parts as attributes; returns self."""
        for name, source in _FROM_MODEL.items():
            setattr(self, name, getattr(model, source))
        for name in _FROM_RECORD:
            setattr(self, f"{name}_", getattr(model.record, name))
        if model.feature_names:
            self.feature_names_in_ = np.array(model.feature_names, object)
        self.n_iter_ = model.classifiers.n_iter
        self.model_ = model  # last: what has it is fitted
        return self

    @property
    def groups_(self) -> sp.csr_array:
        """The group matrix A."""
        return self.model_.A

    @property
    def n_groups_(self) -> int:
        """The number of groups."""
        return self.model_.n_groups

    def _owner(self):
        """What a model folder states about the estimator."""
        return {"class": type(self).__name__, "params": self.get_params(deep=False)}

    @classmethod
    def _from_model(cls, params, model):
        """A fitted estimator with the parameters of a model folder."""
        params = dict(params)
        if params["construction"] is None:
            known, A = model.known_labels, model.groups
            params["construction"] = A if known is None else known.spread(A)
        return cls(**params)._store(model)

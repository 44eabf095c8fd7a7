"""TextTagger: texts and their labels' names in, named labels of new texts out."""

import copy
import os
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from .._core.progress import current_narrator
from .._core.validation import check_unused
from ..metrics import ndcg_at
from ..model.explain import Explanation
from ..model.fitted import FittedModel
from ..model.predictor import Predictor
from ..model.writing import save_model
from ..teaching.update import with_more_features
from ..text import check_label_lists, check_term_options, check_texts, label_matrix, learn_features
from ..training.settings import auto_min_df
from .base import GroupTestingClassifier
from .flat import MLGTClassifier

TEXT_PARAMS = ("words", "characters", "min_df", "max_features", "hashing")
"""Parameters of the features, which a model folder keeps beside those of the classifier."""


class TextTagger(BaseEstimator):
    """Learns from texts with labels, and finds the labels of new texts.

    Parameters
    ----------
    classifier : MLGTClassifier or HierarchicalMLGTClassifier, default=None
        The classifier to train. None is MLGTClassifier with the n_jobs, verbose and random_state below.
    words : int, default=1
        The longest run of words that is a term: 1 for single words, 2 for pairs too, 0 for none.
    characters : tuple of two int, default=None
        The shortest and longest run of characters within words that is a term too: (3, 5) for languages
        with compounds or inflection, (1, 3) with words=0 for those that write without blanks.
    min_df : int or "auto", default="auto"
        Terms in fewer texts are dropped. "auto" is 2, or 1 for fewer than 30,000 texts.
    max_features : int, default=None
        Keep only the most frequent terms.
    hashing : bool or int, default=False
        Keep no list of terms: the column of a term is a hash of it. True has 2^18 columns; a number sets
        how many. min_df and max_features then do not apply.
    n_jobs : int, default=None
        Number of threads, as in joblib.
    verbose : int, default=0
        1 prints each stage with its time to standard error, 2 also the progress within it.
    random_state : int, RandomState or None, default=None
        Seed of everything random.

    Attributes
    ----------
    classes_ : ndarray of shape (d,)
        The names of the labels, sorted.
    features_ : mlgt.text.TextFeatures
        Texts -> rows.
    classifier_ : MLGTClassifier or HierarchicalMLGTClassifier
        The fitted classifier.
    calibrated_ : bool
        True if `tag` returns calibrated probabilities.
    columns_ : dict or None
        The columns of a file that the texts and labels came from; set by `mlgt train`.

    Examples
    --------
    >>> from mlgt import TextTagger
    >>> texts = ["the cat purrs", "a dog barks", "the dog and the cat", "a cat sleeps"] * 5
    >>> tagger = TextTagger(random_state=0).fit(texts, [["cats"], ["dogs"], ["cats", "dogs"], ["cats"]] * 5)
    >>> [label for label, _ in tagger.tag("my cat", k=1)]
    ['cats']
    >>> tagger.tag(["my cat", "no known word of it"], k=1)[1]
    []
    >>> [word for word, _ in tagger.explain("my cat", k=1).labels[0].words]
    ['cat']
    >>> labels, scores = tagger.predict_topk(["my cat"], 2)
    >>> tagger.classes_[labels[0]].tolist()
    ['cats', 'dogs']
    >>> more = tagger.extend(["a bird sings", "a bird and a cat"] * 3, [["birds"], ["birds", "cats"]] * 3)
    >>> more.classes_.tolist()
    ['cats', 'dogs', 'birds']
    """

    columns_: dict[str, Any] | None
    _ready: tuple[FittedModel, Predictor] | None

    def __init__(
        self,
        classifier: Any = None,
        *,
        words: int = 1,
        characters: tuple[int, int] | None = None,
        min_df: Any = "auto",
        max_features: int | None = None,
        hashing: bool | int = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.classifier = classifier
        self.words = words
        self.characters = characters
        self.min_df = min_df
        self.max_features = max_features
        self.hashing = hashing
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def fit(
        self, texts: Iterable[str], labels: Iterable[Iterable[str]], sample_weight: Any = None
    ) -> "TextTagger":
        """Train on texts and the lists of their labels' names.

        Parameters
        ----------
        texts : iterable of str
            List, pandas Series, array or iterator; None and NaN are empty texts.
        labels : iterable of iterable of str
            The label names of each text; a text may have none.
        sample_weight : array-like of shape (n,), default=None
            Weights of the texts.

        Returns
        -------
        self
            The fitted tagger.
        """
        options = {name: getattr(self, name) for name in TEXT_PARAMS}
        check_term_options(**options)
        classifier = self._new_classifier()
        checked, lists = _check_pairs(texts, labels)
        Y, names = label_matrix(lists)
        if not names:
            raise ValueError(
                f"None of the {len(checked)} texts has a label: there is nothing to learn. Is it the right "
                "column?"
            )
        narrator = current_narrator(classifier.verbose)
        if self.min_df == "auto":
            options["min_df"] = auto_min_df(len(checked))
        with narrator.stage("counting words"):
            features, X = learn_features(checked, **options)
        narrator.say(f"{X.shape[1]} terms in {X.shape[0]} texts, {len(names)} labels")
        return self._store(classifier.fit(X, Y, sample_weight).name_labels(names), features)

    def extend(self, texts: Iterable[str], labels: Iterable[Iterable[str]]) -> "TextTagger":
        """Learn new texts, and new labels, without those of `fit`; see `MLGTClassifier.extend`.

        Parameters
        ----------
        texts : iterable of str
            The new texts. Unknown words are ignored but for those that half of the texts of a new label
            share, at least two; these too if words are hashed, or runs of characters are terms.
        labels : iterable of iterable of str
            The label names of each text.

        Returns
        -------
        self
            The tagger itself.
        """
        check_is_fitted(self)
        given, lists = _check_pairs(texts, labels)
        Y, names = label_matrix(lists, self.classes_)
        counts = np.append(self.classifier_.label_counts_, np.zeros(len(names) - len(self.classes_), int))
        by_label = sp.csc_array(Y)
        topics = [
            [given[i] for i in by_label.indices[by_label.indptr[l] : by_label.indptr[l + 1]]]
            for l in np.flatnonzero((counts == 0) & (np.diff(by_label.indptr) > 1))
        ]
        features = self.features_.with_terms_of(topics, self.classifier_.n_rows_ + len(given))
        more = features.n_features - self.features_.n_features
        classifier = copy.copy(self.classifier_)
        if more:
            classifier._store(with_more_features(classifier.model_, more))
        X, new = features(given), list(names[len(self.classes_) :])
        return self._store(classifier.extend(X, Y, new or None), features, self.columns_)

    def partial_fit(
        self, texts: Iterable[str], labels: Iterable[Iterable[str]], classes: Any = None
    ) -> "TextTagger":
        """Learn texts: the first call is `fit`, later ones are `extend`.

        Parameters
        ----------
        texts : iterable of str
            The texts. The first call chooses all settings, so give it as many texts as there are.
        labels : iterable of iterable of str
            The label names of each text.
        classes : default=None
            Not used: labels have names, and new ones may come at any time.

        Returns
        -------
        self
            The tagger itself.
        """
        return (self.extend if hasattr(self, "classifier_") else self.fit)(texts, labels)

    def tag(
        self, texts: str | Iterable[str], k: int | str = 5, *, among: Iterable[str | int] | None = None
    ) -> list[Any]:
        """Find the k best labels of a text, or of each of several texts.

        Parameters
        ----------
        texts : str or iterable of str
            One text or several. A text without any known word gets no label.
        k : int or "auto", default=5
            Number of labels per text, or all if there are fewer. "auto" keeps the labels that maximise the
            expected F1 of each text.
        among : iterable of str or int, default=None
            Labels to score; no others are returned.

        Returns
        -------
        list
            (label, probability) pairs, best first; for several texts, a list of such lists. Scores replace
            probabilities if the model is not calibrated.
        """
        return self._predictor().tag(texts, k, among=among)

    def explain(self, text: str, k: int = 3, *, labels: Iterable[str | int] | None = None) -> Explanation:
        """Explain why a text gets its labels.

        Parameters
        ----------
        text : str
            The text.
        k : int, default=3
            Number of best labels to explain.
        labels : iterable of str or int, default=None
            Labels to explain instead of the best ones.

        Returns
        -------
        mlgt.model.explain.Explanation
            For each label, the words for and against it, whose shares add up to its margin, the evidence
            that makes its score, and the groups that fired.
        """
        return self._predictor().explain(text, k, labels=labels)

    def predict_topk(
        self, texts: Iterable[str], k: int | None = None, *, among: Iterable[str | int] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the k best labels of each text.

        Parameters
        ----------
        texts : iterable of str
            The texts.
        k : int, default=None
            Number of labels per text; None is 5, or all labels if there are fewer.
        among : iterable of str or int, default=None
            Labels to score; no others are returned.

        Returns
        -------
        labels : ndarray of shape (n, k)
            Positions in `classes_`, best first, padded with -1.
        scores : ndarray of shape (n, k)
            Their scores, padded with -inf.
        """
        predictor = self._predictor()
        return predictor.predict_topk(self.features_(check_texts(texts)), k, among=among)

    def score(self, texts: Iterable[str], labels: Iterable[Iterable[str]]) -> float:
        """Return nDCG@5 of the ranking; unknown labels count as missed.

        Parameters
        ----------
        texts : iterable of str
            The texts.
        labels : iterable of iterable of str
            The label names of each text.

        Returns
        -------
        float
            The mean over the texts.
        """
        found, _ = self.predict_topk(texts)
        Y, _ = label_matrix(check_label_lists(labels), self.classes_)
        return ndcg_at(Y, found, 5)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the fitted model to a folder, which `mlgt.load` reads.

        Parameters
        ----------
        path : str or path
            The folder; it must not exist, be empty, or hold a model to overwrite.
        overwrite : bool, default=False
            Replace the model in `path`, if there is one.
        """
        check_is_fitted(self)
        text = {
            "params": {name: getattr(self, name) for name in TEXT_PARAMS},
            "default_classifier": self.classifier is None,
        }
        save_model(
            self.fitted_model(), self.classifier_._owner() | {"text": text}, path, overwrite=overwrite
        )

    def fitted_model(self) -> FittedModel:
        """Return the fitted model, which turns texts into rows first.

        Returns
        -------
        mlgt.model.fitted.FittedModel
            The object that makes all predictions.
        """
        check_is_fitted(self)
        return replace(self.classifier_.fitted_model(), features=self.features_, columns=self.columns_)

    @property
    def classes_(self) -> np.ndarray:
        """The names of the labels, sorted."""
        return self.classifier_.classes_

    @property
    def calibrated_(self) -> bool:
        """True if `tag` returns calibrated probabilities."""
        return self.classifier_.fitted_model().calibrated

    def __sklearn_is_fitted__(self):
        return hasattr(self, "classifier_")

    def _new_classifier(self):
        """The classifier to fit: a copy of the given one, or the default."""
        settings = {name: getattr(self, name) for name in ("n_jobs", "verbose", "random_state")}
        if self.classifier is None:
            return MLGTClassifier(**settings)
        check_unused(
            "with a classifier of your own, which has it too",
            **settings | {"verbose": self.verbose or None},
        )
        own = isinstance(self.classifier, GroupTestingClassifier)
        if not own or self.classifier.classifier is not None:
            raise ValueError(
                f"classifier={self.classifier!r} cannot be used; expected MLGTClassifier or "
                "HierarchicalMLGTClassifier with its own group classifiers."
            )
        return clone(self.classifier)

    def _predictor(self):
        check_is_fitted(self)
        key = self.classifier_.fitted_model()
        if self._ready is None or self._ready[0] is not key:
            self._ready = key, Predictor(self, n_jobs=self.classifier_.n_jobs)
        return self._ready[1]

    def _store(self, classifier, features, columns=None):
        """Keep what was fitted; returns self."""
        self.classifier_, self.features_, self.columns_ = classifier, features, columns
        self._ready = None
        return self

    @classmethod
    def _from_model(cls, text, classifier, model):
        """Around a classifier that was read from a model folder, with its header's facts about texts."""
        params = dict(text["params"])
        if params["characters"] is not None:
            params["characters"] = tuple(params["characters"])
        if text["default_classifier"]:
            params |= {name: getattr(classifier, name) for name in ("n_jobs", "verbose", "random_state")}
        else:
            params["classifier"] = classifier
        return cls(**params)._store(classifier, model.features, model.columns)


def _check_pairs(texts, labels):
    """Texts and lists of labels, one list per text."""
    texts, lists = check_texts(texts), check_label_lists(labels)
    if len(texts) != len(lists):
        raise ValueError(
            f"There are {len(texts)} texts and {len(lists)} lists of labels; expected as many: each text "
            "needs the list of its labels, which may be empty."
        )
    return texts, lists

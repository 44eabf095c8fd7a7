"""TextTagger: texts and their labels' names in, named labels of new texts out."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from .._core.progress import current_narrator
from .._core.validation import check_unused
from ..metrics import ndcg_at
from ..model.explain import Explanation
from ..model.fitted import FittedModel
from ..model.predictor import Predictor
from ..model.writing import save_model
from ..text import (
    Analyzer,
    check_label_lists,
    check_pairs,
    check_term_options,
    check_texts,
    label_matrix,
)
from ..training.naming import learn_texts
from ..training.sizes import auto_min_df
from ..vocabulary import as_vocabulary, match_labels
from .base import GroupTestingClassifier
from .flat import MLGTClassifier
from .label_sets import LabelSets
from .named import NamedLabels
from .taught import TaughtTexts

TEXT_PARAMS = ("words", "characters", "min_df", "max_features", "hashing", "language", "max_characters")
"""Parameters of the features, which a model folder keeps beside those of the classifier."""


class TextTagger(LabelSets, TaughtTexts, NamedLabels, BaseEstimator):
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
    language : str or list of str, default=None
        Use stems of words, by the Snowball algorithm of a language: "en" or "english". With a list, or with
        "auto", which guesses the languages, each text is stemmed by the one that it looks like. None uses
        words as they are.
    max_characters : int, default=None
        Use only the first characters of each text, in training and in prediction.
    vocabulary : path, mlgt.vocabulary.Vocabulary, list of str or dict, default=None
        All labels: a file, as `mlgt.vocabulary.read_vocabulary` reads it, names, or names by id. Labels of
        texts may then be ids or names, and labels without any text are labels of the model too.
    vocabulary_language : str, default=None
        The language of the names, such as "fi", if the file has several.
    vocabulary_only : bool, default=False
        Drop labels of texts that the vocabulary lacks. By default they are labels of their own.
    n_jobs : int, default=None
        Number of threads, as in joblib.
    verbose : int, default=0
        1 prints each stage with its time to standard error, 2 also the progress within it.
    random_state : int, RandomState or None, default=None
        Seed of everything random.

    Attributes
    ----------
    classes_ : ndarray of shape (d,)
        The names of the labels, sorted; with a vocabulary, in its order, then other labels.
    vocabulary_ : mlgt.vocabulary.Vocabulary or None
        The labels with their ids and further names, in the order of `classes_`.
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
    >>> texts = ["the cat purrs", "a dog barks", "the dog and the cat", "a cat sleeps"] * 80
    >>> labels = [["cats"], ["dogs"], ["cats", "dogs"], ["cats"]] * 80
    >>> tagger = TextTagger(random_state=0).fit(texts, labels)
    >>> tagger.predict(["my cat", "a dog"])
    [{'cats'}, {'dogs'}]
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
        language: str | Sequence[str] | None = None,
        max_characters: int | None = None,
        vocabulary: Any = None,
        vocabulary_language: str | None = None,
        vocabulary_only: bool = False,
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
        self.language = language
        self.max_characters = max_characters
        self.vocabulary = vocabulary
        self.vocabulary_language = vocabulary_language
        self.vocabulary_only = vocabulary_only
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
            List, pandas Series, array or iterator; None and NaN are empty texts, with a warning.
        labels : iterable of iterable of str
            The label names of each text, or ids of the vocabulary; a text may have none.
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
        vocabulary = as_vocabulary(self.vocabulary, self.vocabulary_language)
        checked, lists = check_pairs(texts, labels)
        narrator = current_narrator(classifier.verbose)
        if vocabulary is not None:
            lists = self._match(lists, vocabulary, vocabulary.findings, narrator)
        Y, names = label_matrix(lists, () if vocabulary is None else vocabulary.names)
        if not Y.nnz:
            raise ValueError(
                f"None of the {len(checked)} texts has a label: there is nothing to learn. Is it the right "
                "column?"
            )
        if self.min_df == "auto":
            options["min_df"] = auto_min_df(len(checked))
        known = vocabulary and vocabulary.with_labels(names[len(vocabulary) :])
        every = [[name] for name in names] if known is None else known.all_names()
        with narrator.stage("counting words"):
            analyzer = Analyzer.of(options.pop("language"), options.pop("max_characters"), checked)
            features, X, named = learn_texts(checked, every, analyzer, self.vocabulary_language, **options)
        if self.language == "auto":
            narrator.say(f"languages, guessed: {analyzer}")
        narrator.say(f"{X.shape[1]} terms in {X.shape[0]} texts, {len(names)} labels")
        classifier._fit(X, Y, sample_weight, known, names=named)
        if known is None:
            classifier.name_labels(names)
        if classifier.model_.name_index is None:
            features = replace(features, names=None)
        return self._store(classifier, features)

    def tag(
        self,
        texts: str | Iterable[str],
        k: int | str = 5,
        *,
        among: Iterable[str | int] | None = None,
        ids: bool = False,
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
        ids : bool, default=False
            Also return the id of each label in the vocabulary.

        Returns
        -------
        list
            (label, probability) pairs, best first, or with `ids` (label, probability, id) triples, where
            the id is None if the label has none; for several texts, a list of such lists. A model without
            probabilities returns scores instead, with an `UncalibratedWarning`.
        """
        return self._predictor().tag(texts, k, among=among, ids=ids)

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
            The label names of each text, or ids of the vocabulary.

        Returns
        -------
        float
            The mean over the texts.
        """
        found, _ = self.predict_topk(texts)
        lists = check_label_lists(labels)
        lists = match_labels(lists, self.vocabulary_, keep_retired=True).lists
        Y, _ = label_matrix(lists, self.classes_)
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
            "params": {name: getattr(self, name) for name in TEXT_PARAMS}
            | {"language": _plain(self.language)},
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
        return cls(**params, vocabulary=model.vocabulary)._store(classifier, model.features, model.columns)


def _plain(language):
    """The parameter `language` for a header."""
    return language if language is None or isinstance(language, str) else list(map(str, language))

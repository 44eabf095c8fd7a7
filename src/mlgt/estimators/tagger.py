"""TextTagger: texts and their labels' names in, named labels of new texts out."""

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from .._core.progress import as_narrator
from .._core.validation import check_count, check_unused
from ..metrics import ndcg_at
from ..model.predictor import Predictor
from ..text import TextFeatures, check_label_lists, check_texts, label_matrix, learn_features
from . import MLGTClassifier

PARAMS = ("words", "characters", "min_df", "max_features", "hashing")
"""Of the features, which a model folder keeps beside those of the classifier."""

FEW, RARE = 30_000, 2
"""From so many texts on, a word must be in RARE of them: words of one text help a little
(benchmarks/text.py), but are half of all columns."""


class TextTagger(BaseEstimator):
    """Learns from texts with labels, finds the labels of new texts.

    Parameters
    ----------
    classifier : MLGTClassifier or HierarchicalMLGTClassifier, optional
        What learns. By default MLGTClassifier with the n_jobs, verbose and random_state below.
    words : int
        The longest run of words that counts as a term: 1 for single words, 2 for pairs too, 0 for none.
    characters : (shortest, longest), optional
        Runs of so many characters within words are terms too: (3, 5) for languages that glue words together
        or bend them, (1, 3) with words=0 for those that write without blanks.
    min_df : int or "auto"
        Terms in fewer texts are left out. "auto" is 2, or 1 where there are fewer than 30,000 texts.
    max_features : int, optional
        Keep only the most frequent terms.
    hashing : bool or int
        Keep no list of terms: a term's column is a hash of it. True has 2^18 columns; or say how many.
        min_df and max_features then do not apply.
    n_jobs, verbose, random_state
        Of the classifier; see `MLGTClassifier`.

    Attributes
    ----------
    features_ : the `mlgt.text.TextFeatures`: texts -> rows
    classifier_ : the fitted classifier
    classes_ : the labels' names, sorted
    columns_ : which columns of a file the texts and labels came from; set by `mlgt train`

    Examples
    --------
    >>> from mlgt import TextTagger
    >>> texts = ["the cat purrs", "a dog barks", "the dog and the cat", "a cat sleeps"] * 5
    >>> tagger = TextTagger(random_state=0).fit(texts, [["cats"], ["dogs"], ["cats", "dogs"], ["cats"]] * 5)
    >>> [label for label, _ in tagger.tag("my cat", k=1)]
    ['cats']
    """

    def __init__(
        self,
        classifier=None,
        *,
        words=1,
        characters=None,
        min_df="auto",
        max_features=None,
        hashing=False,
        n_jobs=None,
        verbose=0,
        random_state=None,
    ):
        self.classifier = classifier
        self.words = words
        self.characters = characters
        self.min_df = min_df
        self.max_features = max_features
        self.hashing = hashing
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, texts, labels, sample_weight=None):
        """Train on texts and, for each, the list of its labels' names.

        Both may be lists, pandas Series, arrays or iterators. A text may have no label, a label may come
        twice; None and NaN are an empty text or an empty list.
        """
        self._check_settings()
        classifier = self._own_classifier()
        texts, lists = check_texts(texts), check_label_lists(labels)
        check_pairs(texts, lists)
        Y, names = label_matrix(lists)
        if not names:
            raise ValueError(
                f"None of the {len(texts)} texts has a label: there is nothing to learn. Is it the right "
                "column?"
            )
        narrator = as_narrator(classifier.verbose)
        with narrator.stage("counting words"):
            self.features_, X = learn_features(texts, **self._feature_options(len(texts)))
        narrator.say(f"{X.shape[1]} terms in {X.shape[0]} texts, {len(names)} labels")
        self.classifier_ = classifier.fit(X, Y, sample_weight).name_labels(names)
        self.columns_ = None
        self._ready()
        return self

    def extend(self, texts, labels):
        """Learn new texts, and labels not seen before, without those of `fit`; returns self.

        Words that are not among the features are passed over. See `MLGTClassifier.extend`.
        """
        check_is_fitted(self)
        texts, lists = check_texts(texts), check_label_lists(labels)
        check_pairs(texts, lists)
        Y, names = label_matrix(lists, self.classes_)
        self.classifier_.extend(self.features_(texts), Y, list(names[len(self.classes_) :]) or None)
        self._ready()
        return self

    def tag(self, texts, k=5, *, among=None):
        """The k best labels of a text as [(label, probability), ...], best first; of several texts, a list
        of such lists.

        k="auto" gives as many as make the expected F1 largest. A text without any word the model knows gets
        none. Where the model has no calibrated probabilities (`calibrated_`), scores stand in their place.
        `among`, a list of labels, scores these and no others.
        """
        check_is_fitted(self)
        return self._predictor.tag(texts, k, among=among)

    def explain(self, text, k=3, *, labels=None):
        """Why a text gets its k best labels, or what speaks for and against these `labels`.

        An `mlgt.explain.Explanation`: for each label the words for and against it, whose shares add up to
        its margin, what makes its score, and the groups that fired.
        """
        check_is_fitted(self)
        return self._predictor.explain(text, k, labels=labels)

    def predict_topk(self, texts, k=None, *, among=None):
        """(label ids (n, k), scores (n, k)) of texts, best first: see `MLGTClassifier.predict_topk`."""
        check_is_fitted(self)
        return self._predictor.predict_topk(self.features_(check_texts(texts)), k, among=among)

    def score(self, texts, labels):
        """nDCG@5 of the ranking; labels the model does not know count as missed."""
        found, _ = self.predict_topk(texts)
        Y, _ = label_matrix(check_label_lists(labels), self.classes_)
        return ndcg_at(Y, found, 5)

    def save(self, path, *, overwrite=False):
        """Write the fitted model to the folder `path`; `mlgt.load(path)` reads it back."""
        from ..model.files import save_model

        check_is_fitted(self)
        save_model(self, path, overwrite=overwrite)

    @property
    def classes_(self):
        return self.classifier_.classes_

    @property
    def calibrated_(self):
        """Are the numbers of `tag` calibrated probabilities?"""
        return self._predictor.calibrated_

    def __sklearn_is_fitted__(self):
        return hasattr(self, "classifier_")

    def _check_settings(self):
        if self.words != 0:
            check_count("words", self.words)
        if self.min_df != "auto":
            check_count("min_df", self.min_df)
        if self.max_features is not None:
            check_count("max_features", self.max_features)
        if self.characters is not None:
            try:
                shortest, longest = (check_count("characters", length) for length in self.characters)
                if shortest > longest:
                    raise ValueError
            except (TypeError, ValueError):
                raise ValueError(
                    f"characters={self.characters!r} must be two whole numbers, the shortest and the "
                    "longest run, like (3, 5); or None."
                ) from None
        if not self.words and self.characters is None:
            raise ValueError("words=0 and characters=None leave no terms; give one of them.")
        if not isinstance(self.hashing, (bool, np.bool_)):
            check_count("hashing", self.hashing)
        if self.hashing:
            check_unused("with hashing", min_df=self.min_df, max_features=self.max_features)

    def _own_classifier(self):
        """The classifier to fit: a copy of the given one, or the default."""
        settings = {name: getattr(self, name) for name in ("n_jobs", "verbose", "random_state")}
        if self.classifier is None:
            return MLGTClassifier(**settings)
        check_unused(
            "with a classifier of your own, which has it too",
            **settings | {"verbose": self.verbose or None},
        )
        if not isinstance(self.classifier, MLGTClassifier) or self.classifier.classifier is not None:
            raise ValueError(
                f"classifier={self.classifier!r} cannot be used; expected MLGTClassifier or "
                "HierarchicalMLGTClassifier with its own group classifiers."
            )
        return clone(self.classifier)

    def _feature_options(self, n):
        options = {name: getattr(self, name) for name in PARAMS}
        if self.min_df == "auto":
            options["min_df"] = RARE if n >= FEW else 1
        return options

    def _ready(self):
        self._predictor = Predictor(self, n_jobs=self.classifier_.n_jobs)

    # What a model folder holds: that of the classifier, and what makes its features.

    def _to_state(self):
        facts, arrays = self.classifier_._to_state()
        facts["class"] = type(self.classifier_).__name__
        facts["text"] = {
            "params": {name: getattr(self, name) for name in PARAMS},
            "default_classifier": self.classifier is None,
            "columns": self.columns_,
            "parts": self.features_.to_facts(),
        }
        return facts, arrays | self.features_.to_arrays()

    @classmethod
    def _of_state(cls, classifier, facts, arrays):
        """Around a classifier that was read already."""
        params = dict(facts["params"])
        if params["characters"] is not None:
            params["characters"] = tuple(params["characters"])
        if facts["default_classifier"]:
            own = {name: getattr(classifier, name) for name in ("n_jobs", "verbose", "random_state")}
            tagger = cls(**params, **own)
        else:
            tagger = cls(classifier, **params)
        tagger.classifier_, tagger.columns_ = classifier, facts["columns"]
        tagger.features_ = TextFeatures.from_arrays(facts["parts"], arrays)
        tagger._ready()
        return tagger


def check_pairs(texts, lists):
    """Raise unless each text has its list of labels."""
    if len(texts) != len(lists):
        raise ValueError(
            f"There are {len(texts)} texts and {len(lists)} lists of labels; expected as many: each text "
            "needs the list of its labels, which may be empty."
        )

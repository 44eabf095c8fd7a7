"""MLGTClassifier: the paper's method on one flat set of labels, as a scikit-learn estimator."""

import numbers

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ..classify import EstimatorGroups, LinearGroups, train
from ..column_weight import choose_column_weight
from ..decode import DECODERS
from ..flat_model import SETTINGS, FlatModel, ranker_arrays
from ..graph import label_counts
from ..groups import CONSTRUCTIONS, pool
from ..match import make_matching
from ..memory import check_memory
from ..metrics import ndcg_at
from ..progress import Narrator
from ..rerank import train_ranker, training_pairs
from ..retrieve import LabelIndex, map_blocks, unit_rows
from ..solve.dual_descent import TILE
from ..sparse import canonical
from ..validation import (
    check_choice,
    check_count,
    check_groups,
    check_labels,
    check_options,
    check_unused,
)

N_PREDICTED = 5
"""Labels `predict` gives each row: the sparsity the paper predicts with."""

_DENSE_LIMIT = 1 << 28


class MLGTClassifier(MultiOutputMixin, ClassifierMixin, BaseEstimator):
    """Multilabel classification by group testing, for many labels of which a row has few.

    The d labels are pooled into m groups, one linear classifier is trained per group, and the labels
    of a new row are decoded from its group scores; a ranker then orders the best of them.

    Parameters
    ----------
    construction : "nmf", "constant_weight", "sparse_random" or a 0/1 matrix (groups, labels)
        Which labels share a group: sampled from a symmetric NMF of the label co-occurrence (NMF-GT),
        at random with constant column weight (CW-GT), or sparse at random (SP-GT).
    n_groups : int or "auto"
        m. "auto" is 8 k log2(d) for k labels a row on average; where that is not below d, every label
        is a group of its own (one-vs-all), unless a construction, weight or decoder is asked for.
    column_weight : int or "auto"
        c, the groups a label joins. "auto" searches it as in the paper's Remark 1.
    decoder : "soft", "top_k", "top_k_frequency" or "inclusion"
        How group scores become label scores. "top_k" is the paper's hard decoder, "soft" is ours.
    classifier : scikit-learn binary classifier, optional
        Trained per group in place of mlgt's own solver, whose options below then do not apply.
    normalize : bool
        Scale the rows of X to unit length, in training and prediction.
    loss, C, tol, max_iter, class_weight
        Of the solver: see `mlgt.solve.solve`.
    construction_params, decoder_params : dict, optional
        Further options of the construction (`sampling`, `max_sweeps`, `k`, ...) and of the decoder
        (`slope`, `prior`, `slack`).
    ranker : "auto", "linear" or None
        "linear" trains a small linear classifier per label (ours) that orders the `n_candidates` labels the
        groups name, chosen with `candidate_prior` in the decoder. "auto" does so with soft decoding when
        there are at least twice as many labels. None is the paper's method alone.
    n_candidates : int or "auto"
        "auto" is a sixteenth of the labels, at least 20 and at most 100.
    n_jobs : int, optional
        Threads, as in joblib. The result does not depend on it.
    verbose : int or narrator
        1 prints each stage with its time to standard error, 2 also the progress within it. An object
        like `mlgt.progress.Narrator` is told instead.
    random_state : int, RandomState or None

    Attributes
    ----------
    groups_ : (m, d) CSR array, the group matrix A
    n_groups_, column_weight_ : as chosen; column_weight_ is None where it is not a parameter
    reproducible_ : False when a limit in seconds had a say, so that the seed alone does not decide
    column_weight_losses_ : dict of the loss per tried weight, if it was searched
    classifiers_ : the group classifiers; `coef` (p, m) and `intercept` (m,) for mlgt's own
    classes_ : label names if Y was a data frame, else 0 .. d-1
    ranker_, n_candidates_ : the label rankers, or None, and how many labels they order
    label_counts_, n_rows_ : training rows of each label, and of all
    n_iter_ : sweeps of the solver over the rows, the most of any group

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from mlgt import MLGTClassifier
    >>> X, Y = make_multilabel_classification(500, n_classes=40, random_state=0)
    >>> labels, scores = MLGTClassifier(random_state=0).fit(X, Y).predict_topk(X, 3)
    >>> labels.shape
    (500, 3)
    """

    def __init__(
        self,
        construction="nmf",
        *,
        n_groups="auto",
        column_weight="auto",
        decoder="soft",
        classifier=None,
        normalize=True,
        loss="squared_hinge",
        C=1.0,
        tol=1e-2,
        max_iter=200,
        class_weight=None,
        construction_params=None,
        decoder_params=None,
        ranker="auto",
        n_candidates="auto",
        candidate_prior=0.2,
        n_jobs=None,
        verbose=0,
        random_state=None,
    ):
        self.construction = construction
        self.n_groups = n_groups
        self.column_weight = column_weight
        self.decoder = decoder
        self.classifier = classifier
        self.normalize = normalize
        self.loss = loss
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.construction_params = construction_params
        self.decoder_params = decoder_params
        self.ranker = ranker
        self.n_candidates = n_candidates
        self.candidate_prior = candidate_prior
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        """Train on X (n, p), sparse or dense, and y (n, d), a 0/1 matrix or data frame."""
        X = self._check_features(X, reset=True)
        Y, names = check_labels(y, X.shape[0])
        own_groups = self._check_settings(Y.shape[1])
        auto = min(100, max(20, Y.shape[1] // 16))
        self.n_candidates_ = auto if self.n_candidates == "auto" else self.n_candidates
        self.n_groups_ = self._count_groups(Y) if own_groups is None else own_groups.shape[0]
        self._check_fits(X, Y)
        self.classes_ = np.arange(Y.shape[1]) if names is None else np.array(names, dtype=object)
        self.label_counts_, self.n_rows_ = label_counts(Y), X.shape[0]
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        narrator = Narrator(self.verbose) if isinstance(self.verbose, int) else self.verbose

        with narrator.stage("grouping labels") as progress:
            self.reproducible_, self.column_weight_, self.column_weight_losses_ = True, None, None
            self.groups_ = own_groups if own_groups is not None else self._design_groups(Y, rng, progress)
        each = "" if self.column_weight_ is None else f", each in {self.column_weight_}"
        narrator.say(f"{self.n_groups_} groups for {Y.shape[1]} labels{each}")
        self._index = LabelIndex(self.groups_)
        weight = None if sample_weight is None else _check_sample_weight(sample_weight, X)
        with narrator.stage("training classifiers") as progress:
            self.classifiers_ = self._train(X, pool(Y, self.groups_), weight, rng, progress)
        self.n_iter_ = self.classifiers_.n_iter
        self.ranker_ = None
        if self._wants_ranker(Y.shape[1]):
            with narrator.stage("training rankers") as progress:
                self.ranker_ = self._train_ranker(X, Y, weight, rng, progress)
        return self

    def predict_topk(self, X, k=None):
        """The k best labels of each row: (label ids (n, k), scores (n, k)), best first.

        k is 5 if not given, or all labels where there are fewer. Ids index the columns of y (and
        `classes_`). Where the decoder finds fewer than k labels, ids are padded by -1 and scores by -inf.
        """
        check_is_fitted(self)
        k = min(N_PREDICTED, len(self.classes_)) if k is None else k
        check_count("k", k, len(self.classes_), ", the number of labels the model knows")
        X = self._check_features(X, reset=False)
        matching = self._matching()
        blocks = map_blocks(lambda rows: matching.top_k(rows, k), X, self.n_jobs)
        return np.concatenate([b[0] for b in blocks]), np.concatenate([b[1] for b in blocks])

    def predict(self, X):
        """The (at most) 5 best labels of each row, as a (n, d) CSR matrix of 0 and 1."""
        check_is_fitted(self)
        labels, _ = self.predict_topk(X)
        found = labels >= 0
        rows = np.nonzero(found)[0]
        ones = np.ones(len(rows), dtype=np.int64)
        return sp.csr_matrix((ones, (rows, labels[found])), shape=(len(labels), len(self.classes_)))

    def decision_function(self, X):
        """Scores of all labels, dense (n, d). For many labels use `predict_topk`."""
        check_is_fitted(self)
        X = self._check_features(X, reset=False)
        n, d = X.shape[0], len(self.classes_)
        if n * d > _DENSE_LIMIT:
            raise ValueError(
                f"decision_function would make a dense {n} x {d} array ({n * d * 4 / 1e9:.1f} GB). "
                f"Use predict_topk(X, k), or pass at most {max(1, _DENSE_LIMIT // d)} rows at a time."
            )
        matching = self._matching()

        def scores(rows):
            if matching.ranker is None:
                return matching.decoder.scores(matching.margins(rows), self.groups_)
            labels, values = matching.ranked_candidates(rows, matching.n_candidates)
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

    def name_labels(self, names):
        """Give the labels names, in the order of the columns of y; returns self."""
        check_is_fitted(self)
        if len(names) != len(self.classes_):
            raise ValueError(f"{len(names)} names for {len(self.classes_)} labels; expected one each.")
        self.classes_ = np.array([str(name) for name in names], dtype=object)
        return self

    def save(self, path, *, overwrite=False):
        """Write the fitted model to the folder `path`; `mlgt.load(path)` reads it back."""
        from ..model_files import save_model

        check_is_fitted(self)
        save_model(self, path, overwrite=overwrite)

    # The stages, with their parameters filled in.

    def _check_settings(self, d):
        """Fail before the work, not after it; returns the user's own group matrix, or None."""
        decoder = DECODERS[check_choice("decoder", self.decoder, DECODERS)]
        check_options("decoder_params", self.decoder_params, decoder, f"decoder {self.decoder!r}")
        if self.ranker is not None:
            check_choice("ranker", self.ranker, ("auto", "linear"))
        if self.ranker == "linear" and (self.decoder != "soft" or self.classifier is not None):
            raise ValueError(
                'ranker="linear" needs decoder="soft" and classifier=None; or pass ranker=None.'
            )
        if self.n_candidates != "auto":
            check_count("n_candidates", self.n_candidates)
        if not isinstance(self.construction, str):
            groups = check_groups(self.construction, d)
            check_unused(
                "with a group matrix of your own",
                n_groups=self.n_groups,
                column_weight=self.column_weight,
                construction_params=self.construction_params,
            )
            return groups
        construction = CONSTRUCTIONS[check_choice("construction", self.construction, CONSTRUCTIONS)]
        owner = f"construction {self.construction!r}"
        check_options("construction_params", self.construction_params, construction.plan, owner)
        if not construction.WEIGHTED:
            check_unused(f"on {owner}", column_weight=self.column_weight)
        return None

    def _count_groups(self, Y):
        """m, as given or as the data's shape suggests."""
        if self.n_groups == "auto":
            return auto_n_groups(Y.shape[1], Y.nnz / np.count_nonzero(np.diff(Y.indptr)))
        return check_count("n_groups", self.n_groups)

    def _check_fits(self, X, Y):
        """Refuse shapes whose arrays cannot be held: those of the NMF, the weights, the solver's tiles."""
        (n, p), d, m = X.shape, Y.shape[1], self.n_groups_
        factors = 16.0 * m * (d + m) if isinstance(self.construction, str) else 0.0
        tiles = effective_n_jobs(self.n_jobs) * TILE * (5.0 * n + 4.0 * p)
        check_memory(
            factors + 4.0 * p * m + tiles,
            f"Training {m} groups of {d} labels ({len(np.unique(Y.indices))} occur) on {p} features",
            "Leave out columns that never occur, hash the features to fewer columns, or pass a smaller "
            "n_groups.",
        )

    def _design_groups(self, Y, rng, progress):
        d, m = Y.shape[1], self.n_groups_
        pristine = self.construction == "nmf" and self.decoder == "soft" and self.column_weight == "auto"
        if pristine and self.n_groups == "auto" and m == d:  # nothing to gain by pooling: one-vs-all
            return sp.eye_array(d, format="csr", dtype=np.float32)
        construction = CONSTRUCTIONS[self.construction]
        options = self.construction_params or {}
        plan = construction.plan(Y, m, rng, progress=progress, **options)
        self.reproducible_ = plan.reproducible
        if construction.WEIGHTED and self.column_weight == "auto":
            self.column_weight_, self.column_weight_losses_ = choose_column_weight(plan.draw, Y, m, rng)
        elif construction.WEIGHTED:
            why = ", the number of groups: a label joins that many different ones"
            self.column_weight_ = check_count("column_weight", self.column_weight, m, why)
        return plan.draw(self.column_weight_, rng)

    def _wants_ranker(self, d):
        """ "auto" ranks where the matcher names a part of the labels only, and can be asked for scores."""
        if self.ranker != "auto":
            return self.ranker is not None
        pooled = self.groups_.nnz != self.n_groups_ or self.n_groups_ != d
        return pooled and self.decoder == "soft" and self.classifier is None and d >= 2 * self.n_candidates_

    def _train_ranker(self, X, Y, row_weight, rng, progress):
        settings = self._settings()
        options = {**(self.decoder_params or {}), "prior": self.candidate_prior}
        settings["decoder_params"] = options
        margins, counts = self.classifiers_.margins, self.label_counts_
        matching = make_matching(margins, self.groups_, self._index, counts, settings, None)
        blocks = map_blocks(lambda rows: matching.candidates(rows, self.n_candidates_)[0], X, self.n_jobs)
        return train_ranker(
            X,
            training_pairs(np.concatenate(blocks), Y),
            C=self.C,
            row_weight=row_weight,
            n_jobs=self.n_jobs,
            seed=int(rng.integers(2**31)),
            progress=progress,
        )

    def _train(self, X, Z, row_weight, rng, progress):
        return train(
            X,
            Z,
            classifier=self.classifier,
            row_weight=row_weight,
            progress=progress,
            loss=self.loss,
            C=self.C,
            tol=self.tol,
            max_iter=self.max_iter,
            class_weight=self.class_weight,
            n_jobs=self.n_jobs,
            seed=int(rng.integers(2**31)),
        )

    def _settings(self):
        return {name: getattr(self, name) for name in SETTINGS} | {"n_candidates": self.n_candidates_}

    def _matching(self):
        margins, counts = self.classifiers_.margins, self.label_counts_
        return make_matching(margins, self.groups_, self._index, counts, self._settings(), self.ranker_)

    def _check_features(self, X, reset):
        X = canonical(validate_data(self, X, reset=reset, accept_sparse="csr", dtype=np.float32))
        return unit_rows(X) if self.normalize else X  # dense rows too: one way for all

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.single_output = False
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        return tags

    # What a model folder holds.

    def _to_state(self):
        """(facts, arrays) of the fitted model, for `model_files`."""
        if isinstance(self.classifiers_, EstimatorGroups):
            raise ValueError(
                f"A model trained with classifier={self.classifier!r} has no portable file form. "
                "Keep it with joblib.dump(model, path), or train with classifier=None."
            )
        params = self.get_params(deep=False)
        if not isinstance(self.construction, str):
            params["construction"] = None  # the matrix is saved as the groups
        if not isinstance(self.random_state, numbers.Integral):
            params["random_state"] = None
        if not isinstance(self.verbose, int):
            params["verbose"] = 0
        facts = {
            "params": params,
            "n_features": self.n_features_in_,
            "feature_names": list(getattr(self, "feature_names_in_", [])) or None,
            "n_labels": len(self.classes_),
            "label_names": None if self.classes_.dtype.kind == "i" else list(self.classes_),
            "n_groups": self.n_groups_,
            "column_weight": self.column_weight_,
            "column_weight_losses": list((self.column_weight_losses_ or {}).items()) or None,
            "reproducible": self.reproducible_,
            "n_iter": self.n_iter_,
            "n_rows": self.n_rows_,
            "n_candidates": self.n_candidates_,
        }
        arrays = {
            "coef": self.classifiers_.coef,
            "intercept": self.classifiers_.intercept,
            "groups_indptr": self.groups_.indptr,
            "groups_indices": self.groups_.indices,
            "label_counts": self.label_counts_,
            **ranker_arrays(self.ranker_),
        }
        return facts, arrays

    def _to_model(self):
        """The fitted model as what `Predictor` needs."""
        if isinstance(self.classifiers_, EstimatorGroups):
            raise ValueError(
                f"A model with classifier={self.classifier!r} has no linear weights to prepare; use its "
                "predict_topk, or train with classifier=None."
            )
        return FlatModel(
            coef=self.classifiers_.coef,
            intercept=self.classifiers_.intercept,
            groups=self.groups_,
            label_counts=self.label_counts_,
            n_rows=self.n_rows_,
            classes=self.classes_,
            feature_names=list(getattr(self, "feature_names_in_", [])) or None,
            settings=self._settings(),
            ranker=self.ranker_,
        )

    @classmethod
    def _from_state(cls, facts, arrays):
        stored = FlatModel.from_state(facts, arrays)
        params = dict(facts["params"])
        if params["construction"] is None:
            params["construction"] = stored.groups
        model = cls(**params)
        model.classes_, model.n_features_in_ = stored.classes, facts["n_features"]
        if facts["feature_names"]:
            model.feature_names_in_ = np.array(facts["feature_names"], object)
        model.n_groups_, model.column_weight_ = facts["n_groups"], facts["column_weight"]
        losses = facts["column_weight_losses"]
        model.column_weight_losses_ = None if losses is None else dict(losses)
        model.reproducible_ = facts["reproducible"]
        model.groups_, model.label_counts_ = stored.groups, stored.label_counts
        model._index = LabelIndex(stored.groups)
        model.classifiers_ = LinearGroups(stored.coef, stored.intercept, facts["n_iter"])
        model.ranker_, model.n_candidates_ = stored.ranker, facts["n_candidates"]
        model.n_iter_, model.n_rows_ = facts["n_iter"], facts["n_rows"]
        return model


def auto_n_groups(d, k):
    """8 k log2(d) groups for d labels, k of them a row, at most d; whole tiles of the solver."""
    wanted = int(np.ceil(8 * max(k, 1.0) * np.log2(max(d, 2))))
    return min(d, -(-wanted // TILE) * TILE)

"""MLGTClassifier: the paper's method on one flat set of labels, as a scikit-learn estimator."""

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.utils.validation import check_is_fitted

from .._core.memory import check_memory
from .._core.progress import as_narrator
from .._core.rows import scale_rows
from .._core.validation import check_count, check_labels
from ..classifiers.train import LinearGroups, train
from ..decoding import DESIGN_DECODERS
from ..decoding.index import LabelIndex
from ..groups import CONSTRUCTIONS, pool
from ..groups.column_weight import choose_column_weight
from ..groups.saffron import plan_design, required_tests
from ..labels.graph import count_occurring, label_counts
from ..model.fitted import make_matching, make_reading
from ..model.flat_model import SETTINGS, FlatModel
from ..ranking.train import PRUNE, hold_out, train_ranking, without
from .answers import Answers
from .auto import (
    FEW_LABELS,
    MANY_LABELS,
    RANKED_SWEEPS,
    RANKED_TOL,
    TOL,
    auto_candidates,
    auto_n_groups,
    fewer_groups,
    ranked_n_groups,
    ranked_weight,
)
from .checks import (
    check_can_grow,
    check_construction,
    check_row_weight,
    check_settings,
    generator,
    is_saffron,
)
from .cost import BlockSize, Training, told
from .extend import extend
from .state import CHOSEN, facts_of, forget, refuse_estimators, restore
from .tuning import COSTS, POWERS, Rehearsal, rehearse


class MLGTClassifier(Answers):
    """Multilabel classification by group testing, for many labels of which a row has few.

    The d labels are pooled into m groups, one linear classifier is trained per group, and the labels
    of a new row are decoded from its group scores; a ranker then orders the best of them.

    Parameters
    ----------
    construction : "nmf", "constant_weight", "sparse_random", "saffron" or a 0/1 matrix (groups, labels)
        Which labels share a group: sampled from a symmetric NMF of the label co-occurrence (NMF-GT),
        at random with constant column weight (CW-GT), sparse at random (SP-GT), or by the binary digits of
        their addresses in bins (SAFFRON; n_groups is then the most there may be).
    n_groups : int or "auto"
        m. "auto" is 8 k log2(d) for k labels a row on average; where that is not below d, every label
        is a group of its own (one-vs-all), unless a construction, weight or decoder is asked for. With a
        ranker it is 768 at most, fewer for short rows, and 256 from 50,000 labels on. For
        SAFFRON it is what finds k + 1 labels from exact tests: see `mlgt.groups.saffron.required_tests`.
    column_weight : int or "auto"
        c, the groups (SAFFRON: the bins) a label joins. "auto" searches it as in the paper's Remark 1, for
        SAFFRON by density evolution.
    decoder : "soft", "top_k", "top_k_frequency", "inclusion", "saffron" or "saffron_hard"
        How group scores become label scores. "top_k" is the paper's hard decoder, "soft" is ours. The last
        two need construction="saffron", read the labels off its groups without scoring all of them, and
        have no ranker or decision_function: "saffron_hard" is the paper's, for tests that are right,
        "saffron" is ours, for learnt ones.
    classifier : scikit-learn binary classifier, optional
        Trained per group in place of mlgt's own solver, whose options below then do not apply.
    normalize : bool
        Scale the rows of X to unit length, in training and prediction.
    power : float or "auto"
        Feature values become sign(x) |x|^power before that; 0.5 dampens raw counts and TF-IDF. "auto"
        tries 1 and 0.5 on a sample; without a ranker it is 1.
    loss, max_iter, class_weight
        Of the solver: see `mlgt.solve.solve`.
    tol : float or "auto"
        The solver's. "auto" is 0.1 for groups that only name candidates, else 0.01.
    C : float or "auto"
        Inverse regularisation. "auto" tries 1, 3 and 10 on a sample, for one-vs-all also 0.3; without a
        ranker it is 1.
    construction_params, decoder_params : dict, optional
        Further options of the construction (`sampling`, `max_sweeps`, `k`, `graph`, `signatures`, ...) and
        of the decoder (`slope`, `prior`, `slack`, `n_doubtful`, `min_support`).
    ranker : "auto", "linear" or None
        "linear" trains a small linear classifier per label (ours) that orders the `n_candidates` labels the
        groups name, chosen with `candidate_prior` in the decoder. "auto" does so with soft decoding when
        there are at least twice as many labels. None is the paper's method alone.
    n_candidates : int or "auto"
        "auto" is a sixteenth of the labels, at least 20 and at most 100, and less where held-out rows show
        that fewer hold as much.
    candidate_prior : float or "auto"
        "auto" is 0.2, or 0.1 with centroids.
    centroids : bool or "auto"
        Let labels whose training rows look like a row be candidates too. "auto" does where that finds
        more on held-out rows, and from 50,000 labels on.
    tail : float
        Above 0, rare labels rank higher: 1 orders by what a label is expected to add to PSP@k.
    weight_bits : 8, 32 or "auto"
        Of the weights, in memory and in model files. "auto" is 8 with a ranker, else 32.
    n_jobs : int, optional
        Threads, as in joblib. The result does not depend on it.
    verbose : int or narrator
        1 prints each stage with its time to standard error, 2 also the progress within it. An object
        like `mlgt.progress.Narrator` is told instead.
    random_state : int, RandomState or None

    Attributes
    ----------
    groups_ : (m, d) CSR array, the group matrix A
    design_ : the `mlgt.groups.SaffronDesign` of construction="saffron", else None
    n_groups_, column_weight_ : as chosen; column_weight_ is None where it is not a parameter
    reproducible_ : False when a limit in seconds had a say, so that the seed alone does not decide
    column_weight_losses_ : dict of the loss per tried weight, if it was searched
    classifiers_ : the group classifiers; `coef` (p, m) and `intercept` (m,) for mlgt's own
    classes_ : label names if Y was a data frame, else 0 .. d-1
    ranker_, n_candidates_ : the label rankers, or None, and how many labels they order
    centroids_ : the label centroids candidates are taken from, or None
    companions_ : which labels vouch for which, or None
    blend_, final_blend_ : how the evidence makes a log-odds, without and with companions; None for the
        paper's methods
    power_, C_, candidate_prior_ : as chosen
    tried_ : dict of nDCG@5 by (power, C), if they were searched
    held_out_ : dict of what was measured on held-out training rows
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
        power="auto",
        loss="squared_hinge",
        C="auto",
        tol="auto",
        max_iter=200,
        class_weight=None,
        construction_params=None,
        decoder_params=None,
        ranker="auto",
        n_candidates="auto",
        candidate_prior="auto",
        centroids="auto",
        tail=0.0,
        weight_bits="auto",
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
        self.power = power
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
        self.centroids = centroids
        self.tail = tail
        self.weight_bits = weight_bits
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        """Train on X (n, p), sparse or dense, and y (n, d), a 0/1 matrix or data frame."""
        forget(self)
        return self._fit(X, y, sample_weight)

    def _fit(self, X, y, sample_weight):
        X = self._check_features(X, reset=True)
        Y, names = check_labels(y, X.shape[0])
        (n, _), d = X.shape, Y.shape[1]
        own_groups = self._check_settings(d)
        self.n_groups_ = self._count_groups(Y) if own_groups is None else own_groups.shape[0]
        effort = self._check_fits(X, Y)
        self.classes_ = np.arange(d) if names is None else np.array(names, dtype=object)
        self.label_counts_, self.n_rows_ = label_counts(Y), n
        rng = generator(self.random_state)
        narrator = as_narrator(self.verbose)
        narrator.say(f"{n} rows, {d} labels: {effort}")
        weight, seen = check_row_weight(sample_weight, X, Y)

        with narrator.stage("trying settings") as progress:
            tried = (X, Y) if weight is None else (X[seen], Y[seen])
            rehearsal = self._rehearse(*tried, rng, progress)
        self.power_, self.C_, self.tried_ = rehearsal.power, rehearsal.C, rehearsal.tried
        narrator.say(f"power {self.power_:g}, C {self.C_:g}{_best_of(self.tried_)}")
        X = scale_rows(X, self.power_, self.normalize)  # dense rows too: one way for all
        if self._pristine() and self._may_rank() and self.n_groups_ < d < MANY_LABELS:
            self.n_groups_ = fewer_groups(self.n_groups_, X, Y, self.centroids)
        with narrator.stage("grouping labels") as progress:
            self.reproducible_, self.column_weight_, self.column_weight_losses_ = True, None, None
            self.design_ = None
            self.groups_ = own_groups if own_groups is not None else self._design_groups(Y, rng, progress)
        each = "" if self.column_weight_ is None else f", each in {self.column_weight_}"
        narrator.say(f"{self.n_groups_} groups for {d} labels{each}")
        self._index = LabelIndex(self.groups_)

        ranked = self._wants_ranker(d)
        held = hold_out(seen, rng) if ranked else np.empty(0, np.int64)
        with narrator.stage("training classifiers") as progress:
            kept = without(weight, held, n) if ranked else weight
            self.classifiers_ = self._train(X, pool(Y, self.groups_), kept, rng, progress)
        if self._in_bytes(d):
            self.classifiers_ = self.classifiers_.in_bytes()
        self.n_iter_ = self.classifiers_.n_iter
        self.ranker_ = self.centroids_ = self.companions_ = self.blend_ = self.final_blend_ = None
        self.n_candidates_, self.candidate_prior_ = self._most_candidates(d), 0.0
        if ranked:
            with narrator.stage("training rankers") as progress:
                self._rank(X, Y, held, weight, rng, progress)
            narrator.say(_told(self.n_candidates_, self.centroids_, self.held_out_))
        elif self._one_vs_all(d):
            self.blend_ = rehearsal.blend
        if not ranked:
            self.held_out_ = {}
        return self

    def extend(self, X, y, names=None):
        """Learn new rows, and new labels if there are any, without the rows of `fit`; returns self.

        y (n, d or more): the labels there are, in their order, then the new ones, named by `names`; or a
        data frame, whose columns are matched by name with those of `fit`. New labels join existing groups;
        group classifiers and rankers learn from the new rows and stay near what they were: `mlgt.grow` says
        how, docs/growing.md what it costs against training anew. Settings, blend and calibration stay.
        """
        check_is_fitted(self)
        check_can_grow(self)
        extend(self, self._scaled(X), y, names)
        return self

    # The stages, with their parameters filled in.

    def _check_settings(self, d):
        """Fail before the work, not after it; returns the user's own group matrix, or None."""
        check_settings(self)
        if self.tail and not self._may_rank():
            raise ValueError(
                f"tail={self.tail} has no effect on the paper's methods; leave it out, or take decoder="
                '"soft" and ranker="auto".'
            )
        return check_construction(self, d)

    def _count_groups(self, Y):
        """m, as given or as the data's shape suggests."""
        if self.n_groups != "auto":
            return check_count("n_groups", self.n_groups)
        d, k = Y.shape[1], Y.nnz / np.count_nonzero(np.diff(Y.indptr))
        if self._pristine() and (d <= FEW_LABELS or auto_n_groups(d, k) == d):
            return d  # nothing to gain by pooling: one-vs-all
        if is_saffron(self):
            c = None if self.column_weight == "auto" else check_count("column_weight", self.column_weight)
            return required_tests(d, int(np.ceil(k)) + 1, c, **(self.construction_params or {}))
        if self._pristine() and self._may_rank():
            return ranked_n_groups(d, k, by_words=self.centroids is not False)
        return auto_n_groups(d, k)

    def _pristine(self):
        """Is nothing asked of the groups?"""
        asked = (self.construction, self.n_groups, self.column_weight, self.decoder)
        return isinstance(self.construction, str) and asked == ("nmf", "auto", "auto", "soft")

    def _may_rank(self):
        return self.ranker is not None and self.decoder == "soft" and self.classifier is None

    def _one_vs_all(self, d):
        """Is every label a group of its own, and a probability wanted?"""
        return self._may_rank() and self.groups_.shape == (d, d) and self.groups_.nnz == d

    def _rehearse(self, X, Y, rng, progress):
        """power and C, as given or as they do best on a sample; the paper's methods take 1 and 1."""
        if not self._may_rank():
            return Rehearsal(
                power=1.0 if self.power == "auto" else self.power, C=1.0 if self.C == "auto" else self.C
            )
        powers = POWERS if self.power == "auto" else (self.power,)
        one_vs_all = self.n_groups_ == Y.shape[1]
        costs = (COSTS if one_vs_all else COSTS[1:]) if self.C == "auto" else (self.C,)
        if len(powers) == len(costs) == 1 and not one_vs_all:
            return Rehearsal(self.power, self.C)
        balanced = "balanced" if isinstance(self.class_weight, str) else None
        options = {"loss": self.loss, "max_iter": self.max_iter, "class_weight": balanced}
        options["sure_of_C"] = 0.0 if one_vs_all else 2.0  # groups are not labels: less is to be trusted
        if "slope" in (self.decoder_params or {}):
            options["slope"] = self.decoder_params["slope"]
        return rehearse(
            X, Y, rng, powers=powers, costs=costs, unit=self.normalize, n_jobs=self.n_jobs,
            progress=progress, **options,
        )  # fmt: skip

    def _check_fits(self, X, Y):
        """Refuse shapes whose arrays cannot be held; returns what training will take, in words."""
        (n, p), d, m, occur = X.shape, Y.shape[1], self.n_groups_, count_occurring(Y)
        work = self._work(X, Y, ranked=self._may_rank() and m < d)
        block = BlockSize(occur, m, n)
        needed = work.bytes([block])
        check_memory(
            needed,
            f"Training {m} groups of {d} labels ({occur} occur) on {p} features",
            "Leave out columns that never occur, hash the features to fewer columns, or pass a smaller "
            "n_groups.",
        )
        return told(needed, work.seconds([block]))

    def _work(self, X, Y, ranked):
        """What there is to do, without its groups."""
        (n, p), d = X.shape, Y.shape[1]
        factored = isinstance(self.construction, str) and self.construction == "nmf"
        count = self._most_candidates(d) if ranked else 0
        return Training(n, X.nnz / n, p, Y.nnz / n, d, count, effective_n_jobs(self.n_jobs), factored)

    def _design_groups(self, Y, rng, progress):
        d, m = Y.shape[1], self.n_groups_
        if self._pristine() and m == d:
            return sp.eye_array(d, format="csr", dtype=np.float32)
        if is_saffron(self):
            return self._design_bins(Y, rng, progress).A
        construction = CONSTRUCTIONS[self.construction]
        options = dict(self.construction_params or {})
        if self.construction == "nmf" and self._may_rank():
            options.setdefault("max_sweeps", RANKED_SWEEPS)
        plan = construction.plan(Y, m, rng, progress=progress, **options)
        self.reproducible_ = plan.reproducible
        if construction.WEIGHTED and self.column_weight == "auto" and self._may_rank():
            self.column_weight_ = ranked_weight(m)
        elif construction.WEIGHTED and self.column_weight == "auto":
            self.column_weight_, self.column_weight_losses_ = choose_column_weight(plan.draw, Y, m, rng)
        elif construction.WEIGHTED:
            why = ", the number of groups: a label joins that many different ones"
            self.column_weight_ = check_count("column_weight", self.column_weight, m, why)
        return plan.draw(self.column_weight_, rng)

    def _design_bins(self, Y, rng, progress):
        """A SAFFRON design of at most n_groups_ groups, and how many it has."""
        c = None if self.column_weight == "auto" else check_count("column_weight", self.column_weight)
        plan = plan_design(Y, self.n_groups_, rng, progress=progress, **(self.construction_params or {}))
        self.design_ = design = plan.draw(c, rng)
        self.n_groups_, self.column_weight_ = design.n_groups, design.tables.max_weight
        check_memory(
            40.0 * 3 * design.n_bits * design.graph.nnz,
            f"{design.n_groups} groups of {design.n_labels} labels, of which each is in "
            f"{3 * design.n_bits * self.column_weight_},",
            "Pass a smaller column_weight or n_groups.",
        )
        if self.decoder in DESIGN_DECODERS:  # are its options right? Better known before training
            make_reading(None, design, self.label_counts_, self._own_settings())
        return design

    def _most_candidates(self, d):
        return auto_candidates(d) if self.n_candidates == "auto" else self.n_candidates

    def _wants_ranker(self, d):
        """ "auto" ranks where the matcher names a part of the labels only, and can be asked for scores."""
        if self.ranker != "auto":
            return self.ranker is not None
        return self._may_rank() and not self._one_vs_all(d) and d >= 2 * self._most_candidates(d)

    def _in_bytes(self, d):
        """Are weights to be rounded to a byte?"""
        return self.weight_bits == 8 or (self.weight_bits == "auto" and self._wants_ranker(d))

    def _rank(self, X, Y, held, row_weight, rng, progress):
        """Candidates, rankers and blend."""

        def matching(centroids):
            auto = 0.2 if centroids is None else 0.1
            self.candidate_prior_ = auto if self.candidate_prior == "auto" else self.candidate_prior
            return self._matcher(centroids)

        by_words = self.centroids == "auto" and Y.shape[1] >= MANY_LABELS
        ranking = train_ranking(
            X, Y, matching, held, n_candidates=self.n_candidates, most=self._most_candidates(Y.shape[1]),
            centroids=by_words or self.centroids, prune=PRUNE, row_weight=row_weight, C=max(1.0, self.C_),
            n_jobs=self.n_jobs, seed=int(rng.integers(2**31)), progress=progress,
        )  # fmt: skip
        self.ranker_ = ranking.ranker.in_bytes() if self._in_bytes(Y.shape[1]) else ranking.ranker
        self.centroids_, self.companions_ = ranking.centroids, ranking.companions
        self.blend_, self.final_blend_ = ranking.blend, ranking.final_blend
        self.n_candidates_, self.held_out_ = ranking.n_candidates, ranking.held_out

    def _train(self, X, Z, row_weight, rng, progress):
        return train(
            X,
            Z,
            classifier=self.classifier,
            row_weight=row_weight,
            progress=progress,
            loss=self.loss,
            C=self.C_,
            tol=self._tolerance(len(self.classes_)),
            max_iter=self.max_iter,
            class_weight=self.class_weight,
            n_jobs=self.n_jobs,
            seed=int(rng.integers(2**31)),
        )

    def _tolerance(self, d):
        if self.tol != "auto":
            return self.tol
        return RANKED_TOL if self._wants_ranker(d) else TOL

    def _settings(self):
        """What `make_matching` and a model folder want to know."""
        chosen = {name.removesuffix("_"): getattr(self, name) for name in CHOSEN}
        return self._own_settings() | chosen

    def _own_settings(self):
        return {name: getattr(self, name) for name in SETTINGS}

    def _matching(self):
        if self.decoder in DESIGN_DECODERS:
            margins = self.classifiers_.margins
            return make_reading(margins, self.design_, self.label_counts_, self._settings())
        return self._make_matching(self._settings(), self.ranker_, self.centroids_, self.companions_)

    def _matcher(self, centroids):
        """What names the candidates, with its label prior and without a ranker."""
        options = {**(self.decoder_params or {}), "prior": self.candidate_prior_}
        return self._make_matching({**self._settings(), "decoder_params": options}, centroids=centroids)

    def _make_matching(self, settings, ranker=None, centroids=None, companions=None):
        return make_matching(
            self.classifiers_.margins, self.groups_, self._index, self.label_counts_, settings, ranker,
            centroids, companions,
        )  # fmt: skip

    # What a model folder holds.

    def _to_state(self):
        """(facts, arrays) of the fitted model, for `model_files`."""
        refuse_estimators(self.classifiers_, self.classifier)
        return facts_of(self), self._to_model().arrays()

    def _to_model(self):
        """The fitted model as what `Predictor` needs."""
        refuse_estimators(self.classifiers_, self.classifier)
        return FlatModel(
            coef=self.classifiers_.weights,
            coef_scale=self.classifiers_.scale,
            intercept=self.classifiers_.intercept,
            groups=self.groups_ if self.design_ is None else None,
            design=self.design_,
            label_counts=self.label_counts_,
            n_rows=self.n_rows_,
            classes=self.classes_,
            feature_names=list(getattr(self, "feature_names_in_", [])) or None,
            settings=self._settings(),
            ranker=self.ranker_,
            centroids=self.centroids_,
            companions=self.companions_,
        )

    @classmethod
    def _from_state(cls, facts, arrays):
        stored = FlatModel.from_state(facts, arrays)
        params = dict(facts["params"])
        if params["construction"] is None:
            params["construction"] = stored.groups
        model = cls(**params)
        model.groups_, model.design_ = stored.group_matrix(), stored.design
        model.classifiers_ = LinearGroups(stored.coef, stored.intercept, facts["n_iter"], stored.coef_scale)
        return restore(model, facts, stored)


def _best_of(tried):
    if not tried:
        return ""
    return f": the best of {len(tried)} on a sample (nDCG@5 {max(tried.values()):.3f} on its held-out rows)"


def _told(count, centroids, held_out):
    """What was decided on held-out rows, in a sentence."""
    how = "groups and centroids" if centroids is not None else "groups"
    text = f"{count} candidates a row, named by {how}"
    if "P@1" in held_out:
        text += f"; on {held_out['rows']} held-out rows " + ", ".join(
            f"{name} {held_out[name]:.3f}" for name in ("recall", "P@1", "P@3", "P@5") if name in held_out
        )
    return text

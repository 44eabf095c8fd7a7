"""MLGTClassifier: the paper's method on one flat set of labels, as a scikit-learn estimator."""

from typing import Any

from .._core.validation import generator
from ..training.settings import resolve
from ..training.train import train_flat
from .base import GroupTestingClassifier


class MLGTClassifier(GroupTestingClassifier):
    """Multilabel classification by group testing, for many labels of which a row has few.

    The d labels are pooled into m groups, one linear classifier is trained per group, and the labels of a
    new row are decoded from its group scores; a ranker then orders the best of them.

    Parameters
    ----------
    construction : {"nmf", "constant_weight", "sparse_random", "saffron"} or matrix, default="nmf"
        Which labels share a group: sampled from a symmetric NMF of the label co-occurrence (NMF-GT),
        random with constant column weight (CW-GT), sparse random (SP-GT), or by the binary digits of their
        addresses in bins (SAFFRON; `n_groups` is then an upper bound). A 0/1 matrix of shape (groups,
        labels) is used as it is.
    n_groups : int or "auto", default="auto"
        Number of groups m. "auto" is 8 k log2(d) for k labels per row on average. If that is not below d,
        or d is at most 256, every label is a group of its own (one-vs-all), unless a construction, weight
        or decoder is given. With a ranker it is at most 768, fewer for short rows, and 256 from 50,000
        labels. For SAFFRON it is what finds k + 1 labels from exact tests
        (`mlgt.groups.saffron.required_tests`).
    column_weight : int or "auto", default="auto"
        Number c of groups (SAFFRON: bins) per label. "auto" searches it as in the paper's Remark 1,
        for SAFFRON by density evolution; with a ranker it follows from m.
    decoder : {"soft", "top_k", "top_k_frequency", "inclusion", "saffron", "saffron_hard"}, default="soft"
        How group scores become label scores. "top_k" is the paper's hard decoder, "soft" is ours. The last
        two need construction="saffron", read labels off its groups without scoring all of them, and have
        no ranker or decision_function: "saffron_hard" is the paper's, for exact tests, "saffron" is ours,
        for learnt ones.
    classifier : scikit-learn binary classifier, default=None
        Trained per group in place of mlgt's own solver.
    normalize : bool, default=True
        Scale the rows of X to unit length, in training and prediction.
    power : float or "auto", default="auto"
        Feature values become sign(x) |x|^power before that; 0.5 dampens raw counts and TF-IDF. "auto"
        tries 1 and 0.5 on a sample; without a ranker it is 1.
    C : float or "auto", default="auto"
        Inverse regularisation strength. "auto" tries 1, 3 and 10 on a sample, for one-vs-all also 0.3;
        without a ranker it is 1.
    solver_params : dict, default=None
        Further options of the solver, `mlgt.classifiers.solve`: `loss` ("squared_hinge" or "logistic"),
        `tol` ("auto" is 0.1 with a ranker, 0.03 if every label has a classifier and C is up to 1, else
        0.01), `max_iter` (200) and `class_weight` (None).
    construction_params : dict, default=None
        Further options of the construction: `sampling`, `max_sweeps`, `k`, `graph`, `signatures`, ...
    decoder_params : dict, default=None
        Further options of the decoder: `slope`, `prior`, `slack`, `n_doubtful`, `min_support`.
    ranker : {"auto", "linear"} or None, default="auto"
        "linear" trains a small linear classifier per label (ours) that orders the candidates that the
        groups find. "auto" does so with soft decoding if there are at least twice as many labels as
        candidates. None is the paper's method alone.
    ranker_params : dict, default=None
        Further options of the ranker: `n_candidates` ("auto" is a sixteenth of the labels, within 20 and
        100, and fewer if held-out rows show that they suffice), `candidate_prior`, the weight of the label
        frequency in their choice ("auto" is 0.2, or 0.1 to 0.3 with centroids, by held-out rows), and
        `centroids`, whether labels whose training rows look like a row are candidates too ("auto" is True
        if that finds more on held-out rows, and from 50,000 labels).
    tail : float, default=0.0
        Above 0, rare labels rank higher: 1 orders by the expected gain in PSP@k.
    quality : "normal" or "high", default="normal"
        "high" trains twice as many groups if their number is left to mlgt, and keeps more candidates and
        smaller weights of the ranker: a little better, for about half more time and twice the size.
    keep_rows : int, default=1000
        Training rows, as features, that the model keeps to be taught beside and checked on; 0 keeps none.
        Fewer are kept if they would be large beside the classifiers, but at least 200.
        Up to a third of them, and at most one row in 32, is kept out of training. See `extend`.
    n_jobs : int, default=None
        Number of threads, as in joblib. The result does not depend on it.
    verbose : int, default=0
        1 prints each stage with its time to standard error, 2 also the progress within it.
    random_state : int, RandomState or None, default=None
        Seed of everything random.

    Attributes
    ----------
    classes_ : ndarray of shape (d,)
        Label names if y was a data frame, else 0 .. d-1.
    n_labels_ : int
        Number d of labels, the columns of y.
    known_labels_ : KnownIds or None
        The columns of y that the model knows, if more than half of a thousand or more never occur: the
        others are left out, and cost nothing. None if all are known.
    n_features_in_ : int
        Number of features.
    groups_ : csr_array of shape (m, d)
        The group matrix A, of the labels that the model knows.
    design_ : mlgt.groups.SaffronDesign or None
        The design of construction="saffron".
    n_groups_, column_weight_, power_, C_, n_candidates_, candidate_prior_
        The values that were used; column_weight_ is None if it is no parameter.
    reasons_ : dict
        Why each automatic setting was chosen.
    tried_ : dict
        nDCG@5 by (power, C), if they were tuned.
    column_weight_losses_ : dict or None
        The loss per weight, if it was searched.
    held_out_ : dict
        Measurements on held-out training rows.
    classifiers_ : object
        The group classifiers; `coef` (p, m) and `intercept` (m,) for mlgt's own.
    ranker_, centroids_, cooccurrence_, blend_, final_blend_ : object or None
        The label rankers, the centroids and co-occurrence that candidates and evidence come from, and how
        evidence is blended into log-odds, without and with co-occurrence.
    label_counts_ : ndarray of shape (d,)
        Number of training rows of each label.
    n_rows_ : int
        Number of training rows.
    n_iter_ : int
        Largest number of sweeps of the solver over the rows.
    reproducible_ : bool
        False if a time limit stopped training early, so that the seed does not determine the result.
    model_ : mlgt.model.fitted.FittedModel
        The object that makes all predictions.

    See Also
    --------
    HierarchicalMLGTClassifier : Labels in blocks, for very many labels.
    TextTagger : Texts and label names instead of rows and columns.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from mlgt import MLGTClassifier
    >>> X, Y = make_multilabel_classification(500, n_classes=40, random_state=0)
    >>> model = MLGTClassifier(random_state=0).fit(X, Y)
    >>> labels, scores = model.predict_topk(X, 3)
    >>> labels.shape
    (500, 3)
    >>> model.predict(X).shape, model.predict_proba(X).shape, model.decision_function(X).shape
    ((500, 40), (500, 40), (500, 40))
    >>> model.score(X, Y) > 0.5
    True
    >>> [reasons.label for reasons in model.explain(X[:1], k=2).labels] == labels[0, :2].tolist()
    True
    >>> model.extend(X[:10], Y[:10]).n_rows_
    510
    >>> model.name_labels([f"label {i}" for i in range(40)]).classes_[3]
    'label 3'
    """

    def __init__(
        self,
        construction: Any = "nmf",
        *,
        n_groups: Any = "auto",
        column_weight: Any = "auto",
        decoder: str = "soft",
        classifier: Any = None,
        normalize: bool = True,
        power: Any = "auto",
        C: Any = "auto",
        solver_params: dict[str, Any] | None = None,
        construction_params: dict[str, Any] | None = None,
        decoder_params: dict[str, Any] | None = None,
        ranker: str | None = "auto",
        ranker_params: dict[str, Any] | None = None,
        tail: float = 0.0,
        quality: str = "normal",
        keep_rows: int = 1000,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.construction = construction
        self.n_groups = n_groups
        self.column_weight = column_weight
        self.decoder = decoder
        self.classifier = classifier
        self.normalize = normalize
        self.power = power
        self.C = C
        self.solver_params = solver_params
        self.construction_params = construction_params
        self.decoder_params = decoder_params
        self.ranker = ranker
        self.ranker_params = ranker_params
        self.tail = tail
        self.quality = quality
        self.keep_rows = keep_rows
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _train(self, params, data, narrator):
        rng, seen = generator(self.random_state), None if data.weight is None else data.seen
        named = data.names is not None
        settings = resolve(params, data.X, data.Y, rng, seen=seen, named=named, narrator=narrator)
        return train_flat(data, settings, rng, narrator)

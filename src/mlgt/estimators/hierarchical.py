"""HierarchicalMLGTClassifier: labels in blocks, each with groups of its own (section 4 of the paper)."""

from typing import Any

from .._core.validation import generator
from ..blocks.train import Block
from ..decoding import DESIGN_DECODERS
from ..labels.partition import one_block
from ..training.checks import BlockParams
from ..training.settings import resolve
from ..training.splitting import resolve_blocks, split_labels
from ..training.train import train_flat, train_in_blocks
from .base import GroupTestingClassifier


class HierarchicalMLGTClassifier(GroupTestingClassifier):
    """Group testing in blocks of labels that seldom occur together, for very many labels.

    The graph of labels that occur together is split by vertex separators into blocks; each block, with the
    separators above it, gets groups and classifiers of its own, and a label's scores from all its blocks
    are combined. With `decoder="top_k"`, `combination="weighted"` or `"sum"` and `ranker=None` it is the
    paper's He-NMFGT.

    One block is the same as `MLGTClassifier`, which is the better choice as long as one NMF can carry all
    labels.

    Parameters
    ----------
    construction : {"nmf", "constant_weight", "sparse_random", "saffron"}, default="nmf"
        See `MLGTClassifier`.
    n_blocks : int or "auto", default="auto"
        Number of blocks. "auto" is one block up to 2,000,000 labels that occur, with a warning, else as
        many as leave about 20,000 labels per block.
    budget : float, None or "auto", default="auto"
        Share of the labels that separators may hold: 0.05 for 5 %, at the price of co-occurrences lost
        between blocks. None loses none: the paper's separators, which are large on real labels. "auto" is
        None if `n_blocks` is given, else 0.05.
    partitioner : {"metis", "propagation"} or mlgt.labels.partition.Partition, default="metis"
        The algorithm that splits the graph, or a partition of your own, such as `read_reordering` returns.
    branching : int or "auto", default="auto"
        Parts of a split. 2 nests separators, which makes smaller blocks. "auto" is `n_blocks` if given, one
        separator as in the paper's S + C_1, ..., S + C_l, else 2.
    combination : {"sum", "weighted", "calibrated", "count", "union", "auto"}, default="auto"
        How a label's scores from several blocks are combined (`mlgt.blocks.combine`). "sum" is the code of
        the paper's authors, "weighted" the paper's text. "calibrated" (ours) turns soft scores into
        log-odds on held-out rows. "auto" is "calibrated" with decoder="soft", strict separators and some
        hundred rows, else "weighted".
    negatives : float or "auto", default="auto"
        Share of the rows without a label of the block that it is trained on, 0 to 1. The paper's authors
        keep none: 0. "auto" is 0.1, or 2 / n_blocks if that is less.
    sketch : int, default=None
        Number of columns to which the features are hashed (count sketch) for the group classifiers. None
        keeps the features.
    route : float, None or "auto", default="auto"
        Share of the labels of held-out rows that may be lost by evaluating only the most likely blocks, 0
        to below 1 (ours, `mlgt.blocks.route`). Separators are then a block of their own. If more than half
        of the blocks are needed, all are evaluated. None evaluates all blocks, with separators in every
        one, as the paper does. "auto" is None if `n_blocks` is given, else 0.02 with a ranker.
    n_groups : int or "auto", default="auto"
        Number of groups per block. "auto" follows from its number of labels, and is 64 if the number of
        blocks is chosen and a ranker follows.
    column_weight : int or "auto", default="auto"
        See `MLGTClassifier`.
    decoder : {"soft", "top_k", "top_k_frequency", "inclusion", "saffron", "saffron_hard"}, default="soft"
        See `MLGTClassifier`.
    classifier : scikit-learn binary classifier, default=None
        See `MLGTClassifier`.
    normalize : bool, default=True
        See `MLGTClassifier`.
    power : float or "auto", default="auto"
        See `MLGTClassifier`.
    C : float or "auto", default="auto"
        See `MLGTClassifier`.
    solver_params : dict, default=None
        See `MLGTClassifier`.
    construction_params : dict, default=None
        See `MLGTClassifier`.
    decoder_params : dict, default=None
        See `MLGTClassifier`.
    ranker : {"auto", "linear"} or None, default="auto"
        See `MLGTClassifier`.
    ranker_params : dict, default=None
        See `MLGTClassifier`.
    tail : float, default=0.0
        See `MLGTClassifier`.
    quality : "normal" or "high", default="normal"
        As for `MLGTClassifier`; the number of groups of a block stays the same.
    keep_rows : int, default=1000
        See `MLGTClassifier`; a model of several blocks keeps none.
    n_jobs : int, default=None
        See `MLGTClassifier`.
    verbose : int, default=0
        See `MLGTClassifier`.
    random_state : int, RandomState or None, default=None
        See `MLGTClassifier`.

    Attributes
    ----------
    partition_ : mlgt.labels.partition.Partition
        The blocks of labels and their separators; positions in `known_labels_` if ids are left out.
    blocks_ : list of mlgt.blocks.train.Block
        labels, groups, classifiers, column_weight and n_rows of each block.
    combination_ : str
        The combination that was used.
    calibration_ : mlgt.blocks.Calibration or None
        Its coefficients, if it is "calibrated".
    router_ : mlgt.blocks.Router or None
        Chooses `n_routes` blocks for each row; None evaluates all.
    column_weight_ : list
        The column weight of each block.

    See Also
    --------
    MLGTClassifier : One set of groups for all labels; it has the other attributes.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from mlgt import HierarchicalMLGTClassifier
    >>> X, Y = make_multilabel_classification(500, n_classes=40, random_state=0)
    >>> model = HierarchicalMLGTClassifier(n_blocks=2, budget=0.2, n_groups=20, random_state=0)
    >>> labels, scores = model.fit(X, Y).predict_topk(X, 3)
    >>> model.partition_.n_blocks
    2
    """

    _params = BlockParams
    blocks_: list[Block]

    def __init__(
        self,
        construction: str = "nmf",
        *,
        n_blocks: Any = "auto",
        budget: Any = "auto",
        partitioner: Any = "metis",
        branching: Any = "auto",
        combination: str = "auto",
        negatives: Any = "auto",
        sketch: int | None = None,
        route: Any = "auto",
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
        self.n_blocks = n_blocks
        self.budget = budget
        self.partitioner = partitioner
        self.branching = branching
        self.combination = combination
        self.negatives = negatives
        self.sketch = sketch
        self.route = route
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
        with narrator.stage("partitioning labels") as progress:
            split = split_labels(params, data.Y, progress)
        flat = split.partition.n_blocks == 1 and self.sketch is None
        if not flat and self.decoder in DESIGN_DECODERS:
            raise ValueError(
                f"decoder={self.decoder!r} reads one design of all labels, not blocks of them. Pass "
                "n_blocks=1, or another decoder."
            )
        if not flat:
            narrator.say(split.summary)
        rng, seen = generator(self.random_state), None if data.weight is None else data.seen
        blocks = None if flat else resolve_blocks(params, data.Y, split)
        options = {"seen": seen, "blocks": blocks, "named": data.names is not None, "narrator": narrator}
        settings = resolve(params, data.X, data.Y, rng, **options)
        return (train_flat if flat else train_in_blocks)(data, settings, rng, narrator)

    def _store(self, model):
        super()._store(model)
        parts, blocks = getattr(model.classifiers, "parts", [model.classifiers]), model.blocks
        if blocks is None:
            self.partition_, self.combination_ = one_block(len(model.label_counts)), "sum"
            self.calibration_ = self.router_ = None
            groups, self.column_weight_, rows = [model.A], [model.record.column_weight], [model.n_rows]
        else:
            self.partition_, self.combination_ = blocks.partition, blocks.combination
            self.calibration_, self.router_ = blocks.calibration, model.classifiers.router
            groups, self.column_weight_, rows = blocks.groups, list(blocks.column_weights), blocks.n_rows
        self.blocks_ = [
            Block(model.to_ids(self.partition_.labels(i)), A, part, weight, n, model.record.reproducible)
            for i, (A, part, weight, n) in enumerate(zip(groups, parts, self.column_weight_, rows))
        ]
        return self

    @classmethod
    def _from_model(cls, params, model):
        params = dict(params)
        if params["partitioner"] is None:
            d = len(model.label_counts)
            params["partitioner"] = one_block(d) if model.blocks is None else model.blocks.partition
        return super()._from_model(params, model)

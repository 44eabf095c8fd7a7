"""HierarchicalMLGTClassifier: labels in blocks, each with groups of its own (section 4 of the paper)."""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from .._core.memory import available_memory, check_memory, room_on_disk
from .._core.progress import as_narrator
from .._core.rows import map_blocks, scale_rows
from .._core.sparse import canonical
from .._core.validation import check_count, check_labels
from ..blocks import (
    LINEAR,
    BlockClassifiers,
    Layout,
    Router,
    block_targets,
    calibrate_blocks,
    draw_sketch,
    enough_routes,
    ranked,
    stack_groups,
)
from ..blocks.train import Block, BlockTask, train_blocks
from ..classifiers.train import LinearGroups, train
from ..decoding import DESIGN_DECODERS
from ..decoding.index import LabelIndex
from ..groups import CONSTRUCTIONS
from ..labels.graph import label_counts
from ..labels.partition import Partition, separators_apart
from ..model.block_model import BlockModel, BlockWeights, make_blocks_matching
from ..ranking.train import hold_out, without
from .auto import ENOUGH_GROUPS, RANKED_SWEEPS, RANKED_TOL, auto_n_groups, ranked_weight
from .checks import check_blocks, check_named_construction, check_row_weight, generator, is_auto
from .cost import BlockSize, told
from .flat import MLGTClassifier
from .split import is_chosen, split_labels, told_split
from .state import forget, refuse_estimators, restore

AUTO_ROUTE = 0.02
"""Of blocks whose number is chosen."""
BLOCK_GROUPS = 64
"""Of such a block, where words name the candidates and a ranker follows; separators, which are more
frequent, have as many as a flat model."""
FOREIGN = 2.0
"""So many blocks learn from a row without a label of theirs, on average, at most."""
SPILL = 8
"""Weights go to disk where they would take more than one part in so many of the free memory."""


class HierarchicalMLGTClassifier(MLGTClassifier):
    """Group testing in blocks of labels that seldom occur together, for very many labels.

    The graph of labels that occur together is split by vertex separators into blocks; each block, with the
    separators above it, gets groups and classifiers of its own, and a label's scores from all its blocks
    are combined. With `decoder="top_k", combination="sum"` or `"weighted"`, `ranker=None` it is the
    paper's He-NMFGT.

    One block is `MLGTClassifier`, and where the NMF can carry all labels it is the better choice.

    Parameters
    ----------
    construction, column_weight, decoder, classifier, normalize, power, loss, C, tol, max_iter,
    class_weight, construction_params, decoder_params, ranker, n_candidates, candidate_prior, centroids,
    tail, weight_bits, n_jobs, verbose, random_state
        As of `MLGTClassifier`.
    n_groups : int or "auto"
        Of each block; "auto" by its number of labels, and 64 where the number of blocks is chosen and a
        ranker follows.
    n_blocks : int or "auto"
        "auto" is one block up to 2,000,000 labels that occur, else as many as leave some 20,000 labels in
        a block.
    budget : float, None or "auto"
        Share of the labels that separators may hold: 0.05 for 5 %, at the price of co-occurrences lost
        between blocks. None loses none: the paper's separators, which are large on real labels. "auto" is
        None for n_blocks as given, 0.05 where the number is chosen.
    partitioner : "metis", "propagation" or a `mlgt.partition.Partition`
        Who splits the graph; or a partition of your own, such as `read_reordering` gives.
    branching : int or "auto"
        Parts of a split. 2 nests separators: smaller blocks. "auto" is n_blocks as given, one separator as
        in the paper's S + C_1, ..., S + C_l, and 2 where the number is chosen.
    combination : "sum", "weighted", "calibrated", "count", "union" or "auto"
        What becomes of a label's scores from several blocks: see `mlgt.blocks.combine`. "sum" is the
        authors' code, "weighted" the paper's text. "calibrated" (ours) makes soft scores log-odds on
        held-out rows. "auto" is "calibrated" with decoder="soft", strict separators and some hundred
        rows, else "weighted".
    negatives : float or "auto"
        Share of the rows without a label of the block that it is trained on, 0 to 1. The paper's authors
        keep none: 0. "auto" is 0.1, or 2 / n_blocks if that is less. One block is trained on all rows.
    sketch : int, optional
        Columns to which the features are hashed (count sketch) for the group classifiers. None keeps them.
    route : float, None or "auto"
        Share of the labels of held-out rows that may be lost by asking only the blocks that look best, 0 to
        1 (ours, see `mlgt.blocks.route`). Separators are then a block of their own, trained once. Where it
        would be more than half of the blocks, all are asked. None is the paper's rule: separators in every
        block, all of which are asked. "auto" is None for n_blocks as given, 0.02 where the number is chosen
        and a ranker follows.

    Attributes
    ----------
    partition_ : the `Partition` of the labels
    blocks_ : list of `mlgt.blocks.train.Block`: labels, groups, classifiers, column_weight, n_rows
    combination_, calibration_ : as chosen and learnt; calibration_ is None unless "calibrated"
    router_ : which blocks are asked about a row (`n_routes` of them), or None for all
    groups_ : (m, d), the groups of all blocks, one below the other
    n_groups_ : of all blocks
    column_weight_ : list, of each block
    Others as of `MLGTClassifier`.

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

    blocks_: list[Block]

    def __init__(
        self,
        construction="nmf",
        *,
        n_blocks="auto",
        budget="auto",
        partitioner="metis",
        branching="auto",
        combination="auto",
        negatives="auto",
        sketch=None,
        route="auto",
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
        super().__init__(
            construction,
            n_groups=n_groups,
            column_weight=column_weight,
            decoder=decoder,
            classifier=classifier,
            normalize=normalize,
            power=power,
            loss=loss,
            C=C,
            tol=tol,
            max_iter=max_iter,
            class_weight=class_weight,
            construction_params=construction_params,
            decoder_params=decoder_params,
            ranker=ranker,
            n_candidates=n_candidates,
            candidate_prior=candidate_prior,
            centroids=centroids,
            tail=tail,
            weight_bits=weight_bits,
            n_jobs=n_jobs,
            verbose=verbose,
            random_state=random_state,
        )
        self.n_blocks = n_blocks
        self.budget = budget
        self.partitioner = partitioner
        self.branching = branching
        self.combination = combination
        self.negatives = negatives
        self.sketch = sketch
        self.route = route

    def fit(self, X, y, sample_weight=None):
        """Train on X (n, p), sparse or dense, and y (n, d), a 0/1 matrix or data frame."""
        forget(self)
        rows = self._check_features(X, reset=True)
        Y, names = check_labels(y, rows.shape[0])
        n, d = Y.shape
        self._check_settings(d)
        narrator = as_narrator(self.verbose)
        with narrator.stage("partitioning labels") as progress:
            chosen = is_chosen(self, Y)
            found = split_labels(self, Y, chosen, progress)
            auto = AUTO_ROUTE if chosen and self._may_rank() else None
            self._route_ = auto if is_auto(self.route) else self.route
            self.partition_ = found if self._route_ is None else separators_apart(found)
        if self._is_flat():
            return self._fit_flat(X, y, sample_weight)
        if self.decoder in DESIGN_DECODERS:
            raise ValueError(
                f"decoder={self.decoder!r} reads one design of all labels, not blocks of them. Pass "
                "n_blocks=1, or another decoder."
            )
        narrator.say(told_split(found))

        self.classes_ = np.arange(d) if names is None else np.array(names, dtype=object)
        self.label_counts_, self.n_rows_ = label_counts(Y), n
        sizes = self._sizes(Y, chosen)
        self.n_groups_ = sum(m for _, m in sizes)
        effort = self._check_blocks_fit(rows, Y, sizes)
        narrator.say(f"{n} rows, {d} labels: {effort}")
        rng = generator(self.random_state)
        weight, seen = check_row_weight(sample_weight, rows, Y)
        with narrator.stage("trying settings") as progress:
            tried = (rows, Y) if weight is None else (rows[seen], Y[seen])
            rehearsal = self._rehearse(*tried, rng, progress)
        self.power_, self.C_, self.tried_ = rehearsal.power, rehearsal.C, rehearsal.tried
        X = scale_rows(rows, self.power_, self.normalize)

        ranks = self._wants_ranker(d)
        comparable = self.partition_.budget is None or self._route_ is not None
        wanted = "auto" if comparable else "calibrated"
        calibrated = self.decoder == "soft" and self.combination in (wanted, "calibrated")
        held = hold_out(seen, rng) if ranks or calibrated or self._route_ is not None else seen[:0]
        kept = without(weight, held, n) if len(held) else weight
        self._sketch_ = None if self.sketch is None else draw_sketch(X.shape[1], self.sketch, rng)
        seen_X = X if self._sketch_ is None else canonical(self._sketch_(X).csr())
        with narrator.stage("training blocks") as progress:
            self._train_blocks(seen_X, Y, sizes, kept, rng, progress)
        self._calibrate(X[held], Y[held], calibrated)
        if self._route_ is not None:
            with narrator.stage("training the router") as progress:
                router = self._train_router(seen_X, Y, held, kept, rng, progress)
            self.classifiers_ = replace(self.classifiers_, router=router)
            narrator.say(_told_routes(router, self.partition_.n_blocks))
        self.ranker_ = self.centroids_ = self.companions_ = self.blend_ = self.final_blend_ = None
        self.design_ = None
        self.n_candidates_, self.candidate_prior_ = self._most_candidates(d), 0.0
        if ranks:
            with narrator.stage("training rankers") as progress:
                self._rank(X, Y, held, weight, rng, progress)
        else:
            self.held_out_ = {}
        self.router_ = self.classifiers_.router
        return self

    # The stages, with their parameters filled in.

    def _check_settings(self, d):
        check_named_construction(self)
        super()._check_settings(d)
        check_blocks(self, d)

    def _may_rank(self):
        return super()._may_rank() and self.combination in ("auto", *LINEAR)

    def _is_flat(self):
        return self.partition_.n_blocks == 1 and self.sketch is None

    def _pristine(self):
        return self._is_flat() and super()._pristine()

    def _one_vs_all(self, d):
        return self._is_flat() and super()._one_vs_all(d)

    def _fit_flat(self, X, y, sample_weight):
        """One block: everything as in `MLGTClassifier`."""
        self._sketch_ = self.router_ = None
        self.calibration_, self.combination_ = None, "sum"
        self._fit(X, y, sample_weight)
        self.blocks_ = [
            Block(
                np.arange(len(self.classes_)), self.groups_, self.classifiers_, self.column_weight_,
                self.n_rows_, self.reproducible_,
            )
        ]  # fmt: skip
        self.column_weight_ = [self.column_weight_]
        self.classifiers_ = BlockClassifiers([self.classifiers_])
        return self

    def _sizes(self, Y, chosen):
        """(labels, number of groups) of each block."""
        found = []
        for i in range(self.partition_.n_blocks):
            labels = self.partition_.labels(i)
            m = self.n_groups
            if m == "auto" and chosen and self._may_rank():
                separators = self._route_ is not None and i == self.partition_.n_blocks - 1
                m = min(ENOUGH_GROUPS if separators else BLOCK_GROUPS, len(labels))
            elif m == "auto":
                counts = np.diff(sp.csr_array(Y[:, labels]).indptr)
                m = auto_n_groups(len(labels), counts.sum() / max(1, np.count_nonzero(counts)))
            found.append((labels, check_count("n_groups", m)))
        return found

    def _check_blocks_fit(self, X, Y, sizes):
        """Refuse shapes whose arrays cannot be held; returns what training will take, in words."""
        n, d = Y.shape
        width = X.shape[1] if self.sketch is None else self.sketch
        counts = self.label_counts_
        blocks = []
        for labels, m in sizes:
            own = min(n, counts[labels].sum())
            rows = own + self._foreign() * (n - own)
            blocks.append(BlockSize(int(np.count_nonzero(counts[labels])), m, rows))
        kept, free = float(width) * self.n_groups_ * (1 if self._in_bytes(d) else 4), available_memory()
        self._spill = self.classifier is None and free is not None and free / SPILL < kept < room_on_disk()
        work = replace(self._work(X, Y, ranked=self._wants_ranker(d)), p=width)
        needed = work.bytes(blocks, 0.0 if self._spill else kept)
        check_memory(
            needed,
            f"Training {self.n_groups_} groups in {len(sizes)} blocks on {width} features",
            "Pass a smaller n_groups, or hash the features to fewer columns: sketch=10_000.",
        )
        return told(needed, work.seconds(blocks))

    def _foreign(self):
        """Share of the rows without a label of a block that it learns from."""
        if self.partition_.n_blocks == 1:
            return 1.0
        return min(0.1, FOREIGN / self.partition_.n_blocks) if is_auto(self.negatives) else self.negatives

    def _weight_of(self, m):
        """Column weight of a block with m groups; None is searched, or no parameter."""
        if not CONSTRUCTIONS[self.construction].WEIGHTED:
            return None
        if self.column_weight != "auto":
            why = ", the number of groups of a block: a label joins that many different ones"
            return check_count("column_weight", self.column_weight, m, why)
        return ranked_weight(m) if self._may_rank() else None

    def _train_blocks(self, X, Y, sizes, row_weight, rng, progress):
        """Of rows as the group classifiers see them."""
        options = dict(self.construction_params or {})
        if self.construction == "nmf" and self._may_rank():
            options.setdefault("max_sweeps", RANKED_SWEEPS)
        solver = ("loss", "max_iter", "class_weight", "classifier")
        training = {name: getattr(self, name) for name in solver}
        training |= {"C": self.C_, "tol": self._tolerance(Y.shape[1])}
        tasks = [
            BlockTask(
                X, Y, labels, m, int(seed), self.construction, self._weight_of(m), options, training,
                self._foreign(), row_weight, self._in_bytes(Y.shape[1]), self._spill,
            )
            for (labels, m), seed in zip(sizes, rng.integers(2**31, size=len(sizes)))
        ]  # fmt: skip
        self.blocks_ = train_blocks(tasks, self.n_jobs, progress)
        self.classifiers_ = BlockClassifiers([block.classifiers for block in self.blocks_], self._sketch_)
        self.groups_ = stack_groups(self._layout().groups, self._layout().labels, Y.shape[1])
        self._index = LabelIndex(self.groups_)
        self.column_weight_ = [block.column_weight for block in self.blocks_]
        self.column_weight_losses_ = None
        self.reproducible_ = all(block.reproducible for block in self.blocks_)
        self.n_iter_ = self.classifiers_.n_iter

    def _train_router(self, X, Y, held, row_weight, rng, progress):
        """A classifier per block, and as many blocks a row as held-out rows need; None where it is most."""
        if len(Y[held].indices) == 0:
            return None
        solver = {"loss": self.loss, "C": min(1.0, self.C_), "tol": RANKED_TOL, "max_iter": self.max_iter}
        router = train(
            X, block_targets(Y, self.partition_), row_weight=row_weight, n_jobs=self.n_jobs,
            seed=int(rng.integers(2**31)), progress=progress, **solver,
        )  # fmt: skip
        margins = np.concatenate(map_blocks(router.margins, X[held], self.n_jobs))
        routes, lost = enough_routes(ranked(margins), Y[held], self._layout().labels, self._route_)
        few = routes <= self.partition_.n_blocks / 2  # else it is quicker to ask all
        router = router.in_bytes() if self._in_bytes(Y.shape[1]) else router
        return Router(router, routes, lost) if few else None

    def _calibrate(self, X, Y, wanted):
        """Learn to compare blocks, if that is wanted and there are rows to learn from."""
        self.combination_, self.calibration_ = self.combination, None
        if wanted and (len(Y.indices) or self.combination == "calibrated"):
            margins = np.concatenate(map_blocks(self.classifiers_.margins, X, self.n_jobs))
            self.calibration_ = calibrate_blocks(self._layout(), margins, Y, **(self.decoder_params or {}))
            self.combination_ = "calibrated"
        elif self.combination == "auto":
            self.combination_ = "sum" if self.decoder == "inclusion" else "weighted"

    def _layout(self):
        return Layout(
            [block.groups for block in self.blocks_],
            [block.labels for block in self.blocks_],
            self.partition_.n_labels,
        )

    def _settings(self):
        return {**super()._settings(), "combination": self.combination_}

    def _make_matching(self, settings, ranker=None, centroids=None, companions=None):
        if self._is_flat():
            return super()._make_matching(settings, ranker, centroids, companions)
        return make_blocks_matching(
            self.classifiers_, self.groups_, self._index, self.label_counts_, settings, ranker,
            centroids, companions, layout=self._layout(), calibration=self.calibration_,
        )  # fmt: skip

    # What a model folder holds.

    def _to_state(self):
        facts, arrays = super()._to_state()
        if isinstance(self.partitioner, Partition):
            facts["params"]["partitioner"] = None  # the partition itself is saved
        facts["blocks"] = self._to_model().facts() | {"rows": [block.n_rows for block in self.blocks_]}
        return facts, arrays

    def _to_model(self):
        parts = self.classifiers_.parts
        refuse_estimators(parts[0], self.classifier)
        return BlockModel(
            partition=self.partition_,
            blocks=[
                BlockWeights(part.weights, part.intercept, part.scale, block.groups)
                for part, block in zip(parts, self.blocks_)
            ],
            label_counts=self.label_counts_,
            n_rows=self.n_rows_,
            classes=self.classes_,
            n_features=self.n_features_in_,
            feature_names=list(getattr(self, "feature_names_in_", [])) or None,
            settings=self._settings(),
            calibration=self.calibration_,
            sketch=self._sketch_,
            router=self.router_,
            ranker=self.ranker_,
            centroids=self.centroids_,
            companions=self.companions_,
        )

    @classmethod
    def _from_state(cls, facts, arrays):
        stored = BlockModel.from_state(facts, arrays)
        params = dict(facts["params"])
        if params["partitioner"] is None:
            params["partitioner"] = stored.partition
        model = cls(**params)
        model.partition_, model.combination_ = stored.partition, stored.settings["combination"]
        model.calibration_, model._sketch_ = stored.calibration, stored.sketch
        model.router_ = stored.router
        parts = [LinearGroups(b.coef, b.intercept, facts["n_iter"], b.coef_scale) for b in stored.blocks]
        model.blocks_ = [
            Block(labels, b.groups, part, c, n_rows, facts["reproducible"])
            for labels, b, part, c, n_rows in zip(
                stored.layout.labels, stored.blocks, parts, facts["column_weight"], facts["blocks"]["rows"]
            )
        ]
        model.classifiers_ = BlockClassifiers(parts, stored.sketch, stored.router)
        model.groups_ = stack_groups(stored.layout.groups, stored.layout.labels, len(stored.classes))
        model.design_ = None
        return restore(model, facts, stored)


def _told_routes(router, n_blocks):
    if router is None:
        return f"all {n_blocks} blocks are asked about a row"
    lost = f"{router.lost:.2%} of the labels of held-out rows are in others"
    return f"{router.n_routes} of {n_blocks} blocks are asked about a row; {lost}"

"""Parameters of an estimator, checked before any work is done."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.ids import KnownIds, find_known
from .._core.validation import (
    check_choice,
    check_count,
    check_groups,
    check_number,
    check_options,
    check_share,
    check_unused,
    fill_options,
)
from ..blocks import COMBINATIONS, LINEAR
from ..decoding import DECODERS, DESIGN_DECODERS
from ..groups import CONSTRUCTIONS
from ..labels import PARTITIONERS
from ..labels.partition import Partition, check_split

SOLVER_PARAMS = {"loss": "squared_hinge", "tol": "auto", "max_iter": 200, "class_weight": None}
QUALITIES = ("normal", "high")
MAX_PRIOR = 100.0
"""Magnitude of `candidate_prior` beyond which similarities would be lost beside it in float32."""
RANKER_PARAMS = {"n_candidates": "auto", "candidate_prior": "auto", "centroids": "auto"}
BLOCK_PARAMS = ("budget", "branching", "combination", "negatives", "route")
"""Parameters without effect on a single block."""


class Params:
    """The parameters of an estimator as attributes, `solver_params` and `ranker_params` with all keys."""

    construction: Any
    n_groups: Any
    column_weight: Any
    decoder: str
    classifier: Any
    normalize: bool
    power: Any
    C: Any
    construction_params: dict | None
    decoder_params: dict | None
    ranker: str | None
    tail: float
    quality: str
    keep_rows: int
    n_jobs: int | None
    combination: Any = "auto"

    def __init__(self, params: dict[str, Any]) -> None:
        vars(self).update(params)
        self.solver_params = fill_options("solver_params", params["solver_params"], SOLVER_PARAMS)
        self.ranker_params = fill_options("ranker_params", params["ranker_params"], RANKER_PARAMS)
        self.given = params

    def is_named(self, construction: str) -> bool:
        """True if the construction is this one."""
        return isinstance(self.construction, str) and self.construction == construction

    @property
    def may_rank(self) -> bool:
        """True if the method allows a ranker: soft decoding of mlgt's own classifiers."""
        own = self.ranker is not None and self.decoder == "soft" and self.classifier is None
        return own and self.combination in ("auto", *LINEAR)

    @property
    def free_groups(self) -> bool:
        """True if everything about the groups is left to mlgt."""
        given = (self.n_groups, self.column_weight, self.decoder)
        return self.is_named("nmf") and given == ("auto", "auto", "soft")

    def own_groups(self, d: int) -> sp.csr_array | None:
        """The user's own group matrix for d labels, or None."""
        if isinstance(self.construction, str):
            return None
        return check_groups(self.construction, d)

    def known_labels(self, Y: sp.csr_array) -> KnownIds | None:
        """The labels of Y to train if ids are left out; own groups are then groups of those labels."""
        A = self.own_groups(Y.shape[1])
        known = find_known(Y, None if A is None else np.unique(A.indices))
        if known is not None and A is not None:
            self.construction = known.select(A)
        return known

    def check(self, d: int) -> None:
        """Raise unless all parameters are known and go together, for d labels."""
        self._check_decoder()
        self._check_construction(d)
        self._check_ranker()
        check_number("power", self.power, above=0)
        check_number("C", self.C, above=0)
        check_number("tol", self.solver_params["tol"], above=0)
        if self.classifier is not None:
            unused = {"solver_params": self.given["solver_params"], "C": self.C}
            check_unused("with a classifier of your own", **unused)
        check_choice("quality", self.quality, QUALITIES)
        if self.quality == "high" and not self.may_rank:
            raise ValueError(
                'quality="high" has no effect on the methods of the paper; leave it out, or pass '
                'decoder="soft" and ranker="auto".'
            )
        if not isinstance(self.tail, (int, float)) or not 0 <= self.tail < np.inf:
            raise ValueError(f"tail={self.tail!r} must be a finite number of at least 0.")
        if self.keep_rows != 0:
            check_count("keep_rows", self.keep_rows)
        if self.tail and not self.may_rank:
            raise ValueError(
                f"tail={self.tail} has no effect on the paper's methods; leave it out, or pass decoder="
                '"soft" and ranker="auto".'
            )

    def _check_decoder(self):
        decoders = DECODERS | DESIGN_DECODERS
        decoder = decoders[check_choice("decoder", self.decoder, decoders)]
        check_options("decoder_params", self.decoder_params, decoder, f"decoder {self.decoder!r}")
        if self.decoder in DESIGN_DECODERS and not self.is_named("saffron"):
            raise ValueError(
                f'decoder={self.decoder!r} reads the groups of construction="saffron"; pass that, or a '
                f"decoder of any groups: {', '.join(DECODERS)}."
            )
        if self.decoder in DECODERS and self.decoder_params:  # raises unless its options are right
            decoder(np.ones((1, 1), np.float32), np.ones(1), **self.decoder_params)

    def _check_construction(self, d):
        if not isinstance(self.construction, str):
            check_groups(self.construction, d)
            names = ("n_groups", "column_weight", "construction_params")
            given = {name: getattr(self, name) for name in names}
            check_unused("with a group matrix of your own", **given)
            return
        construction = CONSTRUCTIONS[check_choice("construction", self.construction, CONSTRUCTIONS)]
        owner = f"construction {self.construction!r}"
        check_options("construction_params", self.construction_params, construction.plan, owner)
        if not construction.WEIGHTED:
            check_unused(f"on {owner}", column_weight=self.column_weight)

    def _check_ranker(self):
        if self.ranker is not None:
            check_choice("ranker", self.ranker, ("auto", "linear"))
        if not self.may_rank:
            check_unused("without a ranker", ranker_params=self.given["ranker_params"])
        if self.ranker == "linear" and (self.decoder != "soft" or self.classifier is not None):
            raise ValueError(
                'ranker="linear" needs decoder="soft" and classifier=None; or pass ranker=None.'
            )
        if self.ranker_params["n_candidates"] != "auto":
            check_count("n_candidates", self.ranker_params["n_candidates"])
        check_number(
            "candidate_prior", self.ranker_params["candidate_prior"], above=-MAX_PRIOR, below=MAX_PRIOR
        )
        check_choice("centroids", self.ranker_params["centroids"], ("auto", True, False))


class BlockParams(Params):
    """The same with those of `HierarchicalMLGTClassifier`."""

    n_blocks: Any
    budget: Any
    partitioner: Any
    branching: Any
    route: Any
    sketch: Any
    negatives: Any

    def check(self, d: int) -> None:
        """Raise unless all parameters are known and go together, for d labels."""
        if not isinstance(self.construction, str):
            raise ValueError("blocks draw groups of their own: construction must be a name, not a matrix.")
        super().check(d)
        self._check_partition(d)
        check_share("negatives", self.negatives, "the rows without a label of a block it is trained on", 1)
        if self.sketch is not None:
            check_count("sketch", self.sketch)
        if self.route is not None:
            lost = "the labels of held-out rows that may be lost by evaluating fewer blocks"
            check_share("route", self.route, lost, np.nextafter(1, 0))
        self._check_combination()
        if self.n_blocks == 1:
            check_unused("with n_blocks=1", **self.unused_on_one_block())

    def known_labels(self, Y: sp.csr_array) -> KnownIds | None:
        """The same; a partition of the user's own lists all labels."""
        listed = isinstance(self.partitioner, Partition) or not isinstance(self.construction, str)
        return None if listed else super().known_labels(Y)

    def unused_on_one_block(self) -> dict[str, Any]:
        """The given parameters that have no effect on a single block."""
        given = {name: getattr(self, name) for name in BLOCK_PARAMS}
        if not isinstance(self.partitioner, Partition):
            given["partitioner"] = "auto" if self.partitioner == "metis" else self.partitioner
        return {name: value for name, value in given.items() if value not in ("auto", None)}

    def _check_partition(self, d):
        if isinstance(self.partitioner, Partition):
            if self.partitioner.n_labels != d:
                raise ValueError(
                    f"the partition is one of {self.partitioner.n_labels} labels, but y has {d} columns; "
                    "expected the same labels in the same order."
                )
            settled = {name: getattr(self, name) for name in ("n_blocks", "budget", "branching")}
            check_unused("with a partition of your own", **settled)
        else:
            check_choice("partitioner", self.partitioner, PARTITIONERS)
        branching = 2 if self.branching == "auto" else self.branching
        check_split(branching, None if self.budget == "auto" else self.budget)
        if self.n_blocks != "auto":
            check_count("n_blocks", self.n_blocks, d, ", the number of labels")

    def _check_combination(self):
        combination = check_choice("combination", self.combination, ("auto", *COMBINATIONS))
        if self.route not in (None, "auto") and combination in ("count", "union"):
            raise ValueError(
                f"combination={combination!r} needs the labels of every block, but route={self.route!r} "
                "evaluates only some blocks. Leave out one of the two."
            )
        if combination == "calibrated" and self.decoder != "soft":
            raise ValueError(
                f'combination="calibrated" needs decoder="soft", not {self.decoder!r}: votes are not '
                'log-probabilities. Pass "auto".'
            )
        if combination == "weighted" and self.decoder == "inclusion":
            raise ValueError(
                'decoder="inclusion" finds sets of labels; combine its blocks by "sum" or "union".'
            )
        if self.ranker == "linear" and combination not in ("auto", *LINEAR):
            raise ValueError(
                f"combination={combination!r} finds a few labels only, too few to rank; pass one of "
                f"{', '.join(LINEAR)}, or ranker=None."
            )

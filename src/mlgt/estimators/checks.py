"""Settings of an estimator, looked at before any work is done."""

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight

from .._core.validation import (
    check_choice,
    check_count,
    check_groups,
    check_number,
    check_options,
    check_unused,
)
from ..blocks import COMBINATIONS, LINEAR
from ..decoding import DECODERS, DESIGN_DECODERS
from ..groups import CONSTRUCTIONS
from ..labels.partition import PARTITIONERS, Partition, check_split

SHARE = int | float | np.integer | np.floating


def is_auto(value):
    return isinstance(value, str) and value == "auto"


def is_saffron(model):
    return isinstance(model.construction, str) and model.construction == "saffron"


def check_settings(model):
    """Raise unless decoder, ranker and numbers are known and go together."""
    decoders = DECODERS | DESIGN_DECODERS
    decoder = decoders[check_choice("decoder", model.decoder, decoders)]
    check_options("decoder_params", model.decoder_params, decoder, f"decoder {model.decoder!r}")
    if model.decoder in DESIGN_DECODERS and not is_saffron(model):
        raise ValueError(
            f'decoder={model.decoder!r} reads the groups of construction="saffron"; pass that, or a '
            f"decoder of any groups: {', '.join(DECODERS)}."
        )
    if model.decoder in DECODERS:
        decoder(np.ones((1, 1), np.float32), np.ones(1), **(model.decoder_params or {}))  # or it raises
    if model.ranker is not None:
        check_choice("ranker", model.ranker, ("auto", "linear"))
    if model.ranker == "linear" and (model.decoder != "soft" or model.classifier is not None):
        raise ValueError('ranker="linear" needs decoder="soft" and classifier=None; or pass ranker=None.')
    if model.n_candidates != "auto":
        check_count("n_candidates", model.n_candidates)
    check_number("power", model.power, above=0)
    check_number("tol", model.tol, above=0)
    check_number("C", model.C, above=0)
    check_number("candidate_prior", model.candidate_prior, above=-np.inf)
    if not isinstance(model.tail, (int, float)) or not 0 <= model.tail < np.inf:
        raise ValueError(f"tail={model.tail!r} must be a finite number of at least 0.")
    check_choice("centroids", model.centroids, ("auto", True, False))
    check_choice("weight_bits", model.weight_bits, ("auto", 8, 32))
    if model.weight_bits == 8 and model.classifier is not None:
        raise ValueError(
            "weight_bits=8 is of mlgt's own classifiers, but classifier= is given; leave out one of them."
        )


def check_construction(model, d):
    """The user's own group matrix for d labels, or None; raises unless its options are."""
    if not isinstance(model.construction, str):
        groups = check_groups(model.construction, d)
        check_unused(
            "with a group matrix of your own",
            n_groups=model.n_groups,
            column_weight=model.column_weight,
            construction_params=model.construction_params,
        )
        return groups
    construction = CONSTRUCTIONS[check_choice("construction", model.construction, CONSTRUCTIONS)]
    owner = f"construction {model.construction!r}"
    check_options("construction_params", model.construction_params, construction.plan, owner)
    if not construction.WEIGHTED:
        check_unused(f"on {owner}", column_weight=model.column_weight)
    return None


def check_can_grow(model):
    """Raise unless `extend` knows how."""
    saffron = getattr(model, "design_", None) is not None
    if saffron or getattr(model, "partition_", None) is not None:
        what = "a SAFFRON design" if saffron else "blocks of labels"
        raise ValueError(f"A model with {what} cannot take in new rows or labels; train anew with all.")
    if model.classifier is not None:
        raise ValueError(
            f"A model with classifier={model.classifier!r} has no weights to start from; train anew."
        )


def check_row_weight(sample_weight, X, Y):
    """(weights (n,) or None, the rows of X with a weight above 0)."""
    if sample_weight is None:
        return None, np.arange(X.shape[0])
    weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
    seen = np.flatnonzero(weight > 0)
    if not np.diff(Y.indptr)[seen].any():
        raise ValueError(
            "no row with a sample_weight above 0 has a label: there is nothing to learn. Give rows with "
            "labels a weight."
        )
    return weight, seen


def generator(random_state):
    """A numpy generator of what scikit-learn takes as a random_state."""
    return np.random.default_rng(check_random_state(random_state).randint(2**31))


def check_named_construction(model):
    if not isinstance(model.construction, str):
        raise ValueError("blocks draw groups of their own: construction must be a name, not a matrix.")


def check_blocks(model, d):
    """Raise unless the settings of blocks of d labels are known and go together."""
    if not isinstance(model.partitioner, Partition):
        check_choice("partitioner", model.partitioner, PARTITIONERS)
    else:
        if model.partitioner.n_labels != d:
            raise ValueError(
                f"the partition is one of {model.partitioner.n_labels} labels, but y has {d} columns; "
                "expected the same labels in the same order."
            )
        settled = {name: getattr(model, name) for name in ("n_blocks", "budget", "branching")}
        check_unused("with a partition of your own", **settled)
    check_split(
        model.branching if model.branching != "auto" else 2,
        model.budget if model.budget != "auto" else None,
    )
    if model.n_blocks != "auto":
        check_count("n_blocks", model.n_blocks, d, ", the number of labels")
    kept = isinstance(model.negatives, SHARE) and 0 <= model.negatives <= 1
    if not kept and not is_auto(model.negatives):
        raise ValueError(
            f'negatives={model.negatives!r} must be a share, from 0 (none) to 1 (all rows), or "auto".'
        )
    if model.sketch is not None:
        check_count("sketch", model.sketch)
    share = isinstance(model.route, SHARE) and 0 <= model.route < 1
    if not share and model.route is not None and not is_auto(model.route):
        raise ValueError(
            f"route={model.route!r} must be a share, from 0 to below 1: of the labels of held-out rows, "
            'what may be lost by asking fewer blocks; or None to ask all; or "auto".'
        )
    check_choice("combination", model.combination, ("auto", *COMBINATIONS))
    if share and model.combination in ("count", "union"):
        raise ValueError(
            f"combination={model.combination!r} lets every block name labels, but route={model.route!r} "
            "asks only some of them. Leave out one of the two."
        )
    if model.combination == "calibrated" and model.decoder != "soft":
        raise ValueError(
            f'combination="calibrated" needs decoder="soft", not {model.decoder!r}: votes are no '
            'log-probabilities. Pass "auto".'
        )
    if model.combination == "weighted" and model.decoder == "inclusion":
        raise ValueError('decoder="inclusion" names labels; combine its blocks by "sum" or "union".')
    if model.ranker == "linear" and model.combination not in ("auto", *LINEAR):
        raise ValueError(
            f"combination={model.combination!r} names a few labels only, too few to rank; pass one of "
            f"{', '.join(LINEAR)}, or ranker=None."
        )

"""A fitted estimator as the facts of a model folder's header, and back."""

import numbers

import numpy as np

from ..classifiers.train import EstimatorGroups
from ..decoding.index import LabelIndex

CHOSEN = ("power_", "n_candidates_", "candidate_prior_", "blend_", "final_blend_", "n_rows_")
"""What training settles and prediction needs."""


def forget(model):
    """Drop what was fitted before: a fit that fails leaves no mixture of two models. `held_out_` comes
    last: whoever has it is fitted."""
    for name in [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]:
        delattr(model, name)


def refuse_estimators(classifiers, classifier):
    """A scikit-learn classifier per group has no weights to write or to prepare."""
    if isinstance(classifiers, EstimatorGroups):
        raise ValueError(
            f"A model trained with classifier={classifier!r} has no linear weights and no portable file "
            "form. Keep it with joblib.dump(model, path) and use its predict_topk, or train with "
            "classifier=None."
        )


def facts_of(model):
    """What a header tells of the fitted `model`, whatever its blocks."""
    params = model.get_params(deep=False)
    if not isinstance(model.construction, str):
        params["construction"] = None  # the matrix is saved as the groups
    if not isinstance(model.random_state, numbers.Integral):
        params["random_state"] = None
    if not isinstance(model.verbose, int):
        params["verbose"] = 0
    return {
        "params": params,
        "n_features": model.n_features_in_,
        "feature_names": list(getattr(model, "feature_names_in_", [])) or None,
        "n_labels": len(model.classes_),
        "label_names": None if model.classes_.dtype.kind == "i" else list(model.classes_),
        "n_groups": model.n_groups_,
        "column_weight": model.column_weight_,
        "column_weight_losses": list((model.column_weight_losses_ or {}).items()) or None,
        "reproducible": model.reproducible_,
        "n_iter": model.n_iter_,
        "n_rows": model.n_rows_,
        "n_candidates": model.n_candidates_,
        "power": model.power_,
        "C": model.C_,
        "candidate_prior": model.candidate_prior_,
        "blend": None if model.blend_ is None else model.blend_.to_facts(),
        "final_blend": None if model.final_blend_ is None else model.final_blend_.to_facts(),
        "tried": [[*setting, value] for setting, value in model.tried_.items()],
        "held_out": model.held_out_,
    }


def restore(model, facts, stored):
    """Give `model`, which has its groups already, all else that was fitted; returns it.

    `stored` is the `FlatModel` or `BlockModel` of the folder.
    """
    model.classes_, model.n_features_in_ = stored.classes, facts["n_features"]
    if facts["feature_names"]:
        model.feature_names_in_ = np.array(facts["feature_names"], object)
    model.n_groups_, model.column_weight_ = facts["n_groups"], facts["column_weight"]
    losses = facts["column_weight_losses"]
    model.column_weight_losses_ = None if losses is None else dict(losses)
    model.reproducible_, model.n_iter_ = facts["reproducible"], facts["n_iter"]
    model.label_counts_, model._index = stored.label_counts, LabelIndex(model.groups_)
    for name in ("ranker", "centroids", "companions"):
        setattr(model, f"{name}_", getattr(stored, name))
    for name in CHOSEN:
        setattr(model, name, stored.settings[name.removesuffix("_")])
    model.C_ = facts.get("C", facts["params"].get("C", 1.0))
    model.tried_ = {(power, C): value for power, C, value in facts.get("tried", ())}
    model.held_out_ = facts.get("held_out", {})
    return model

"""What a flat model is once it is trained: weights, groups, and how to decode. No scikit-learn needed.

`MLGTClassifier` makes and saves it, `Predictor` uses it; loading one checks that its parts fit together.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .decode import DECODERS, Decoder


@dataclass(frozen=True)
class FlatModel:
    coef: np.ndarray  # (p, m) float32
    intercept: np.ndarray  # (m,) float32
    groups: sp.csr_array  # (m, d)
    label_counts: np.ndarray  # (d,) training rows of each label
    n_rows: int  # training rows in all
    classes: np.ndarray  # (d,) names, or 0 .. d-1
    normalize: bool
    decoder: str
    decoder_params: dict[str, Any] | None

    def make_decoder(self) -> Decoder:
        return DECODERS[self.decoder](self.groups, self.label_counts, **(self.decoder_params or {}))

    @classmethod
    def from_state(cls, facts, arrays):
        """Of a model folder's header and arrays; raises when they do not fit together."""
        p, m, d = facts["n_features"], facts["n_groups"], facts["n_labels"]
        params, names = facts["params"], facts["label_names"]
        indices = arrays["groups_indices"]
        shapes = {
            "coef": (p, m),
            "intercept": (m,),
            "groups_indptr": (m + 1,),
            "groups_indices": (int(arrays["groups_indptr"][-1]),),
            "label_counts": (d,),
        }
        for name, shape in shapes.items():
            if arrays[name].shape != shape:
                raise ValueError(f"{name} has shape {arrays[name].shape}, not {shape}")
        if len(indices) and not 0 <= indices.min() <= indices.max() < d:
            raise ValueError(f"groups_indices has ids outside 0 .. {d - 1}")
        if names is not None and len(names) != d:
            raise ValueError(f"{len(names)} names for {d} labels")
        if params["decoder"] not in DECODERS:
            raise ValueError(f"decoder={params['decoder']!r} is unknown")
        ones = np.ones(len(indices), np.float32)
        return cls(
            coef=arrays["coef"],
            intercept=arrays["intercept"],
            groups=sp.csr_array((ones, indices, arrays["groups_indptr"]), shape=(m, d)),
            label_counts=arrays["label_counts"],
            n_rows=facts["n_rows"],
            classes=np.arange(d) if names is None else np.array(names, object),
            normalize=params["normalize"],
            decoder=params["decoder"],
            decoder_params=params["decoder_params"],
        )

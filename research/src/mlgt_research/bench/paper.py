"""Systems of the paper's tables that are written here: PfastreXML, DiSMEC, PPD-Sparse and SLEEC."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..baselines import DiSMECClassifier, PfastreXMLClassifier, PPDSparseClassifier, SLEECClassifier
from .ours import Baseline
from .trained import Trained


class Stored(Baseline):
    """A baseline whose parts are dense and sparse matrices."""

    def save(self, folder: Path) -> None:
        for number, part in enumerate(self.arrays):
            if sp.issparse(part):
                sp.save_npz(folder / f"{number}.npz", part.astype(np.float32), compressed=False)
            else:
                np.save(folder / f"{number}.npy", part)


def _linear(model):
    return model.coef_, model.intercept_


def _embedded(model):
    clusters = [cluster for _, parts in model.learners_ for cluster in parts]
    return [part for one in clusters for part in (one.coef, one.embedded.astype(np.float32), one.Y)]


def _trees(model):
    return [*(part for tree in model.trees_ for part in tree), model.means_]


def _builder(kind: type, parts: Callable[[Any], Any]) -> Callable[..., Trained]:
    def build(
        X: sp.csr_array, Y: sp.csr_array, options: dict[str, Any], threads: int, seed: int, folder: Path
    ) -> Trained:
        model = kind(random_state=seed, n_jobs=threads, **options).fit(X, Y)
        return Stored(model, parts(model))

    return build


dismec = _builder(DiSMECClassifier, _linear)
ppd_sparse = _builder(PPDSparseClassifier, _linear)
sleec = _builder(SLEECClassifier, _embedded)
pfastrexml = _builder(PfastreXMLClassifier, _trees)

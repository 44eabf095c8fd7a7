"""mlgt itself, the paper's methods by mlgt, and the baselines."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from mlgt._core.progress import Narrator, narrating
from mlgt.estimators.methods import make_estimator
from mlgt.model.predictor import Predictor

from ..baselines import MLCSClassifier, OneVsAllClassifier
from .trained import Trained


class StageClock(Narrator):
    """Records the CPU seconds of each stage."""

    def __init__(self):
        super().__init__(0)
        self.spent = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        began = time.process_time()
        yield None
        self.spent[name] = self.spent.get(name, 0.0) + time.process_time() - began


class Fitted(Trained):
    """An estimator saved to a folder and read by `Predictor`, as a server would do it."""

    def __init__(self, model, clock, folder, threads):
        model.save(folder / "model")
        self.model = Predictor(folder / "model", n_jobs=threads)
        self.stages = clock.spent
        self.n_blocks = len(getattr(model, "blocks_", [None]))

    def predict(self, rows: Any, k: int) -> Any:
        return self.model.predict_topk(rows, k)[0]

    def prepare_one(self, X: sp.csr_array) -> Any:
        return X.indices, X.data

    def predict_one(self, row: Any, k: int) -> Any:
        indices, values = row
        return self.model(indices, values, k)

    def save(self, folder: Path) -> None:
        """The model is in the folder already."""


class Baseline(Trained):
    def __init__(self, model, arrays):
        self.model, self.arrays = model, arrays

    def predict(self, rows: Any, k: int) -> Any:
        return self.model.predict_topk(rows, k)[0]

    def save(self, folder: Path) -> None:
        for number, array in enumerate(self.arrays):
            np.save(folder / f"{number}.npy", array)


def fit_timed(model: Any, X: sp.csr_array, Y: sp.csr_array) -> tuple[Any, StageClock]:
    """Fit the estimator; returns it with the clock of its stages."""
    clock = StageClock()
    with narrating(clock):
        return model.fit(X, Y), clock


def _fit(method, X, Y, options, threads, seed, folder):
    estimator = make_estimator(method, random_state=seed, n_jobs=threads, **options)
    model, clock = fit_timed(estimator, X, Y)
    return Fitted(model, clock, folder, threads)


mlgt, nmf_gt, he_nmfgt = (partial(_fit, method) for method in ("auto", "nmf-gt", "he-nmfgt"))


def one_vs_all(
    X: sp.csr_array, Y: sp.csr_array, options: dict[str, Any], threads: int, seed: int, folder: Path
) -> Trained:
    model = OneVsAllClassifier(random_state=seed, n_jobs=threads, **options).fit(X, Y)
    return Baseline(model, (model.classifiers_.coef, model.classifiers_.intercept))


def mlcs(
    X: sp.csr_array, Y: sp.csr_array, options: dict[str, Any], threads: int, seed: int, folder: Path
) -> Trained:
    model = MLCSClassifier(random_state=seed, n_jobs=threads, **options).fit(X, Y)
    return Baseline(model, (model.coef_, model.projection_))

"""mlgt itself, the paper's methods by mlgt, and the baselines."""

import time
from contextlib import contextmanager

import numpy as np

from mlgt._core.progress import Narrator
from mlgt.estimators import HierarchicalMLGTClassifier, MLGTClassifier
from mlgt.model.predictor import Predictor

from ..baselines import MLCSClassifier, OneVsAllClassifier
from .trained import Trained

PAPER = {"decoder": "top_k", "ranker": None}
"""Hard decoding, and no ranker after it."""
HE_NMFGT = {**PAPER, "budget": None, "negatives": 0.0, "combination": "weighted"}
"""Strict separators, foreign rows dropped; weights that add to 1, the paper's text."""


class StageClock(Narrator):
    """Notes the CPU seconds of each stage."""

    def __init__(self):
        super().__init__(0)
        self.spent = {}

    @contextmanager
    def stage(self, name):
        began = time.process_time()
        yield None
        self.spent[name] = self.spent.get(name, 0.0) + time.process_time() - began


class Fitted(Trained):
    """An estimator with a model folder, asked as a server would: through `Predictor`."""

    def __init__(self, model, folder, clock, threads):
        model.set_params(verbose=0)
        model.save(folder / "model")
        self.model = Predictor(folder / "model", n_jobs=threads)
        self.stages = clock.spent
        self.n_blocks = len(getattr(model, "blocks_", [None]))

    def predict(self, rows, k):
        return self.model.predict_topk(rows, k)[0]

    def prepare_one(self, X):
        return X.indices, X.data

    def predict_one(self, row, k):
        indices, values = row
        return self.model(indices, values, k)

    def save(self, folder):
        """It is there already."""


class Baseline(Trained):
    def __init__(self, model, arrays):
        self.model, self.arrays = model, arrays

    def predict(self, rows, k):
        return self.model.predict_topk(rows, k)[0]

    def save(self, folder):
        for number, array in enumerate(self.arrays):
            np.save(folder / f"{number}.npy", array)


def _fit(kind, X, Y, options, threads, seed, folder):
    clock = StageClock()
    model = kind(random_state=seed, n_jobs=threads, verbose=clock, **options).fit(X, Y)
    return Fitted(model, folder, clock, threads)


def mlgt(X, Y, options, threads, seed, folder):
    return _fit(MLGTClassifier, X, Y, options, threads, seed, folder)


def nmf_gt(X, Y, options, threads, seed, folder):
    return _fit(MLGTClassifier, X, Y, {**PAPER, **options}, threads, seed, folder)


def he_nmfgt(X, Y, options, threads, seed, folder):
    return _fit(HierarchicalMLGTClassifier, X, Y, {**HE_NMFGT, **options}, threads, seed, folder)


def one_vs_all(X, Y, options, threads, seed, folder):
    model = OneVsAllClassifier(random_state=seed, n_jobs=threads, **options).fit(X, Y)
    return Baseline(model, (model.classifiers_.coef, model.classifiers_.intercept))


def mlcs(X, Y, options, threads, seed, folder):
    model = MLCSClassifier(random_state=seed, n_jobs=threads, **options).fit(X, Y)
    return Baseline(model, (model.coef_, model.projection_))

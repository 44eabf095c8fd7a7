"""What scikit-learn does with the data of `mlgt demo`: one linear classifier per tag, its own defaults.

    python research/micro/demo_peers.py [--out FILE]

mlgt with no option, and scikit-learn's OneVsRestClassifier of LinearSVC, and of SGDClassifier, on the same
packages: rows of length 1, and TF-IDF of length 1. One thread each; kernels were compiled before. CPU
seconds of training, CPU ms per test package for the five best tags, precision on the test packages.
"""

import argparse
import os
import time
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import Normalizer
from sklearn.svm import LinearSVC

from common import machine, table
from mlgt import MLGTClassifier
from mlgt.data.datasets import load_debtags
from mlgt.metrics import evaluate

K = 5


class OneVsRest:
    """scikit-learn's classifiers behind the two methods that are measured."""

    def __init__(self, scale, classifier):
        self.scale, self.model = scale, OneVsRestClassifier(classifier)

    def fit(self, X, Y):
        self.model.fit(self.scale.fit_transform(sp.csr_matrix(X)), sp.csr_matrix(Y))

    def predict_topk(self, X, k):
        scores = self.model.decision_function(self.scale.transform(sp.csr_matrix(X)))
        best = np.argpartition(-scores, k, axis=1)[:, :k]
        order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1)
        return np.take_along_axis(best, order, axis=1), None


def systems():
    yield "mlgt", MLGTClassifier(random_state=0, n_jobs=1)
    yield "SGDClassifier, length 1", OneVsRest(Normalizer(), SGDClassifier(random_state=0))
    yield "SGDClassifier, TF-IDF", OneVsRest(TfidfTransformer(), SGDClassifier(random_state=0))
    yield "LinearSVC, length 1", OneVsRest(Normalizer(), LinearSVC(random_state=0))
    yield "LinearSVC, TF-IDF", OneVsRest(TfidfTransformer(), LinearSVC(random_state=0))


def measure(name, system, data):
    began = time.process_time()
    system.fit(data.train.X, data.train.Y)
    trained = time.process_time()
    labels, _ = system.predict_topk(data.test.X, K)
    done = time.process_time()
    report = evaluate(data.test.Y, labels)
    seconds, each = trained - began, 1000 * (done - trained) / len(labels)
    line = [name, *(f"{report[f'P@{k}']:.3f}" for k in (1, 3, 5)), f"{seconds:.1f}", f"{each:.3f}"]
    print(*line, sep="  ", flush=True)
    return line, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    data = load_debtags()
    next(systems())[1].fit(data.train.X, data.train.Y)  # compiles
    found = [measure(name, system, data) for name, system in systems()]
    lines = [[*line, f"{seconds / found[0][1]:.1f}"] for line, seconds in found]
    header = ["system", "P@1", "P@3", "P@5", "training CPU s", "CPU ms per row", "training, times mlgt's"]
    text = f"The data of `mlgt demo`, one run. {machine()}.\n\n{table(header, lines)}\n"
    print(text)
    if options.out:
        options.out.write_text(text, "utf-8")


if __name__ == "__main__":
    main()

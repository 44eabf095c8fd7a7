"""What `mlgt prune` costs: precision on held-out training rows and the size of the model, by threshold.

    MLGT_DATA=... python research/micro/pruning.py EURLex-4K YSO-Finna-en Debian-debtags

Up to 12,000 rows of train.txt.gz are drawn; 15 % of them are held out. The test rows are not touched.
"""

import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from common import machine, table
from mlgt import MLGTClassifier, Predictor
from mlgt.data import read_xmc
from mlgt.metrics import evaluate
from mlgt.model.format import to_arrays
from mlgt.model.packing import packed

MEASURES = ("P@1", "P@3", "P@5", "nDCG@5")


def facts(model, X, Y):
    labels, _ = Predictor(model).predict_topk(X, 5)
    report = evaluate(Y, labels)
    size = sum(array.nbytes for array in packed(to_arrays(model)).values()) / 1e6
    return [*(f"{report[name]:.4f}".removeprefix("0") for name in MEASURES), f"{size:.1f}"]


def main(names):
    rows = []
    for name in names:
        data = read_xmc(Path(os.environ["MLGT_DATA"]) / name / "train.txt.gz")
        drawn = np.random.default_rng(0).permutation(data.X.shape[0])[:12_000]
        cut = int(0.85 * len(drawn))
        kept, held = np.sort(drawn[:cut]), np.sort(drawn[cut:])
        model = MLGTClassifier(random_state=0).fit(data.X[kept], data.Y[kept]).fitted_model()
        X, Y = data.X[held], data.Y[held]
        rows.append([name, "-", *facts(model, X, Y)])
        for threshold in (0.2, 0.3, 0.5):
            ranked = replace(model, ranker=model.ranker.pruned(threshold))
            both = replace(ranked, classifiers=model.classifiers.pruned(threshold))
            rows.append(["rankers only", threshold, *facts(ranked, X, Y)])
            rows.append(["rankers and groups", threshold, *facts(both, X, Y)])
    print(machine())
    print(table(("", "threshold", *MEASURES, "MB"), rows))


if __name__ == "__main__":
    main(sys.argv[1:] or ["EURLex-4K", "YSO-Finna-en", "Debian-debtags"])

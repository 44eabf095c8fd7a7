"""The cost of checking sparse matrices, as a share of a prediction: EURLex-4K, one batch and one row.

    MLGT_DATA=... python research/micro/checking.py [--model DIR] [--repeats 9]

`check_stored` and `Predictor.predict_topk` take turns; printed is the median (min to max) of the ratios of
neighbouring runs. Without --model, a model is trained first.
"""

import argparse
import statistics
import tempfile
from timeit import timeit

from common import machine, table
from mlgt import MLGTClassifier, Predictor
from mlgt._core.sparse import check_stored
from mlgt.data import datasets


def share(check, predict, repeats, number):
    """(median, min, max) of the time of `check` over that of `predict`, and the median times."""
    check(), predict()
    pairs = [
        (timeit(check, number=10 * number) / 10, timeit(predict, number=number)) for _ in range(repeats)
    ]
    ratios = sorted(one / two for one, two in pairs)
    times = [statistics.median(column) / number for column in zip(*pairs)]
    return (statistics.median(ratios), ratios[0], ratios[-1]), times


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model")
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args()
    train, test = datasets.load("EURLex-4K")
    if options.model is None:
        with tempfile.TemporaryDirectory() as folder:
            MLGTClassifier(random_state=0).fit(train.X, train.Y).save(f"{folder}/m")
            predictor = Predictor(f"{folder}/m")
    else:
        predictor = Predictor(options.model)
    rows = []
    for name, X, number in (("all test rows", test.X, 1), ("one row", test.X[[0]], 200)):
        ratio, times = share(
            lambda X=X: check_stored(X), lambda X=X: predictor.predict_topk(X), options.repeats, number
        )
        middle, low, high = (f"{100 * value:.2f}" for value in ratio)
        rows.append((name, *(f"{1e6 * time:.1f} µs" for time in times), f"{middle} % ({low} to {high})"))
    print(machine())
    print(table(["rows", "check_stored", "predict_topk", "share"], rows))


if __name__ == "__main__":
    main()

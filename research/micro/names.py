"""What label names bring: YSO-Finna-en as texts with its vocabulary, with and without names as evidence.

    MLGT_DATA=... python research/micro/names.py [--seeds 1] [--high] [--rows EURLex-4K]

Without names, the same terms and labels are trained as rows, so that nothing else differs. Differences are
paired over the rows of the test split, with their standard errors. `--rows` adds the default on data sets
of rows, and quality="high" with `--high`. Results: results/names.md.
"""

import argparse
import csv
import gzip
import os
import time
from pathlib import Path

import numpy as np

from mlgt import MLGTClassifier, TextTagger, datasets
from mlgt.metrics import hits, ndcg_rows, recall_rows
from mlgt.text import label_matrix, learn_features
from mlgt.vocabulary import match_labels, read_vocabulary

MEASURES = ("P@1", "P@3", "P@5", "nDCG@5", "recall@100")


def read_texts(folder, part):
    with gzip.open(folder / f"{part}.csv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [row["text"] for row in rows], [row["labels"].split("|") for row in rows]


def measure(Y, labels):
    """The measures of each row, by name."""
    right = hits(Y, labels)
    found = {f"P@{k}": right[:, :k].mean(axis=1) for k in (1, 3, 5)}
    return found | {"nDCG@5": ndcg_rows(Y, labels, 5), "recall@100": recall_rows(Y, labels[:, :100])}


def timed(function):
    start = time.process_time()
    return function(), time.process_time() - start


def with_names(folder, seed, quality):
    (train, test), path = (read_texts(folder, part) for part in ("train", "test")), folder / "labels.txt.gz"
    classifier = MLGTClassifier(random_state=seed, n_jobs=1, quality=quality)
    tagger, cpu = timed(lambda: TextTagger(classifier, vocabulary=read_vocabulary(path)).fit(*train))
    (labels, _), seconds = timed(lambda: tagger.predict_topk(test[0], 100))
    lists = match_labels(test[1], tagger.vocabulary_, keep_retired=True).lists
    Y, _ = label_matrix(lists, tagger.classes_)
    return measure(Y, labels), cpu, 1000 * seconds / len(test[0])


def without_names(folder, seed):
    train, test = (read_texts(folder, part) for part in ("train", "test"))
    vocabulary = read_vocabulary(folder / "labels.txt.gz")
    Y, names = label_matrix(match_labels(train[1], vocabulary).lists, vocabulary.names)
    Y_test, _ = label_matrix(match_labels(test[1], vocabulary).lists, names)

    def fit():
        features, X = learn_features(train[0], min_df=2)
        return features, MLGTClassifier(random_state=seed, n_jobs=1).fit(X, Y)

    (features, model), cpu = timed(fit)
    (labels, _), seconds = timed(lambda: model.predict_topk(features(test[0]), 100))
    return measure(Y_test, labels), cpu, 1000 * seconds / len(test[0])


def on_rows(name, seed, quality):
    train, test = datasets.load(name)
    model = MLGTClassifier(random_state=seed, n_jobs=1, quality=quality)
    _, cpu = timed(lambda: model.fit(train.X, train.Y))
    (labels, _), seconds = timed(lambda: model.predict_topk(test.X, min(100, test.Y.shape[1])))
    return measure(test.Y, labels), cpu, 1000 * seconds / test.X.shape[0]


def line(what, runs, base=None):
    """A line of the table: means over rows and seeds, and the difference to `base` with its error."""
    cells = []
    for name in MEASURES:
        values = np.mean([found[name] for found, *_ in runs], axis=0)
        cell = f"{values.mean():.4f}".lstrip("0")
        if base is not None:
            gained = values - np.mean([found[name] for found, *_ in base], axis=0)
            cell += f" ({100 * gained.mean():+.2f} ±{100 * gained.std() / np.sqrt(len(gained)):.2f})"
        cells.append(cell)
    cpu, ms = (np.mean([run[i] for run in runs]) for i in (1, 2))
    return f"| {what} | {' | '.join(cells)} | {cpu:.1f} | {ms:.3f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--high", action="store_true")
    parser.add_argument("--rows", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--no-texts", action="store_true")
    options = parser.parse_args()
    folder, seeds = Path(os.environ["MLGT_DATA"]) / "YSO-Finna-en", range(options.seeds)
    without_names(folder, 0) if not options.no_texts else None  # compiles
    print(f"| data | {' | '.join(MEASURES)} | training CPU s | CPU ms per row |")
    print("|---" * (len(MEASURES) + 3) + "|")
    if not options.no_texts:
        base = [without_names(folder, seed) for seed in seeds]
        print(line("YSO-Finna-en, texts without names", base), flush=True)
        for quality in ("normal", "high") if options.high else ("normal",):
            runs = [with_names(folder, seed, quality) for seed in seeds]
            print(line(f"texts and vocabulary, quality {quality}", runs, base), flush=True)
    for name in options.rows:
        for quality in ("normal", "high") if options.high else ("normal",):
            runs = [on_rows(name, seed, quality) for seed in seeds]
            print(line(f"{name}, rows, quality {quality}", runs), flush=True)


if __name__ == "__main__":
    main()

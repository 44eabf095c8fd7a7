"""What stems of words bring, and what dropping stop words brings beside them.

    MLGT_DATA=... python research/micro/stems.py [--rows 30000] [--out FILE]

On training rows of YSO-Finna-en: a fifth of them is held out, the same for all. Differences from plain
words in points, with paired standard errors over the held-out rows. Stop words are scikit-learn's.
"""

import argparse
import csv
import gzip
import os
import time
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from common import machine, table
from mlgt import MLGTClassifier
from mlgt.text import Analyzer, check_label_lists, label_matrix, learn_features

TRIED = {
    "words": (False, None),
    "English stems": (False, "en"),
    "words without stop words": (True, None),
    "English stems without stop words": (True, "en"),
    "stems of the guessed language": (False, "auto"),
}


def read(count):
    """(training texts, their labels, held-out texts, their labels)."""
    csv.field_size_limit(1 << 30)
    path = Path(os.environ["MLGT_DATA"]) / "YSO-Finna-en" / "train.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    chosen = np.random.default_rng(0).permutation(len(rows))[:count]
    texts = [rows[i]["text"] for i in chosen]
    labels = check_label_lists([rows[i]["labels"].split("|") for i in chosen])
    cut = 4 * len(texts) // 5
    return texts[:cut], labels[:cut], texts[cut:], labels[cut:]


def without_stop_words(texts):
    kept = (Analyzer().words([text]).strings() for text in texts)
    return [" ".join(word for word in words if word not in ENGLISH_STOP_WORDS) for words in kept]


def hits(texts, Y, new, truth, language):
    """(P@1, P@3, P@5 of each held-out row (n, 3), columns)."""
    features, X = learn_features(texts, analyzer=Analyzer.of(language, texts=texts))
    model = MLGTClassifier(random_state=0, n_jobs=1).fit(X, Y)
    labels, _ = model.predict_topk(features(new), 5)
    hit = truth[np.arange(len(new))[:, None], np.maximum(labels, 0)].toarray() * (labels >= 0)
    return np.column_stack([hit[:, :k].mean(axis=1) for k in (1, 3, 5)]), X.shape[1]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=30_000)
    parser.add_argument("--out", help="write the table there too")
    options = parser.parse_args()
    texts, labels, new, new_labels = read(options.rows)
    Y, names = label_matrix(labels)
    truth = label_matrix(new_labels, names)[0]
    lines, plain = [], None
    for name, (stop, language) in TRIED.items():
        began = time.process_time()
        pair = (without_stop_words(texts), without_stop_words(new)) if stop else (texts, new)
        found, columns = hits(pair[0], Y, pair[1], truth, language)
        seconds = time.process_time() - began
        plain = found if plain is None else plain
        change = 100 * (found - plain)
        errors = change.std(axis=0) / np.sqrt(len(new))
        shown = [f"{d:+.2f} ±{e:.2f}" for d, e in zip(change.mean(axis=0), errors)]
        means = [f"{value:.4f}" for value in found.mean(axis=0)]
        lines.append([name, columns, *(means if found is plain else shown), f"{seconds:.0f}"])
        print(*lines[-1], flush=True)
    report = f"{len(texts)} texts to learn from, {len(new)} held out, one seed, one thread; {machine()}."
    report += f"\n\n{table(['', 'columns', 'P@1', 'P@3', 'P@5', 'CPU s'], lines)}\n"
    print(report)
    if options.out:
        Path(options.out).write_text(f"# Stems and stop words\n\n{report}", "utf-8")


if __name__ == "__main__":
    main()

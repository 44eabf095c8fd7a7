"""Texts to rows: mlgt's words and terms against scikit-learn's vectorisers, one thread, bits compared.

    MLGT_DATA=... python research/micro/text_speed.py [--texts 5000] [--repeats 5] [--out FILE]

On the texts of YSO-Finna-en, as they are and joined by forties (long ones). `learning` counts the terms of
training texts and makes their rows, `rows` makes those of new texts with known terms. scikit-learn has the
same normal form and the same pattern of words, see tests/references/terms.py. CPU seconds of mlgt, and the
ratio of scikit-learn's time to it: median, min and max over pairs run back to back.
"""

import argparse
import csv
import gzip
import os
import statistics
import sys
import time
from pathlib import Path

from common import machine, table
from mlgt.text import Analyzer, learn_features

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
from references import terms as reference

KINDS = {
    "words": (("words", 1, 1), {}, {}),
    "words, hashed": (("words", 1, 1), {"hashing": True}, {"width": 1 << 18}),
    "words and pairs": (("words", 1, 2), {"words": 2, "min_df": 2}, {"min_df": 2}),
    "characters 3-5": (
        ("characters", 3, 5), {"words": 0, "characters": (3, 5), "min_df": 2}, {"min_df": 2}
    ),
    "words, English stems": (("words", 1, 1), {"analyzer": Analyzer.of("en")}, {}),
}  # fmt: skip
JOINED = 40


def read(count):
    """Texts, and the same joined."""
    csv.field_size_limit(1 << 30)
    with gzip.open(
        Path(os.environ["MLGT_DATA"]) / "YSO-Finna-en" / "train.csv.gz", "rt", encoding="utf-8"
    ) as file:
        texts = [row["text"] for row, _ in zip(csv.DictReader(file), range(count))]
    return {"short": texts, "long": [" ".join(texts[i : i + JOINED]) for i in range(0, count, JOINED)]}


def timed(function, *arguments, **options):
    began = time.process_time()
    result = function(*arguments, **options)
    return time.process_time() - began, result


def same(A, B):
    return A.shape == B.shape and all(
        (getattr(A, name) == getattr(B, name)).all() for name in ("indptr", "indices", "data")
    )


def compare(texts, kind, ours, theirs, repeats):
    """(mlgt's seconds, ratios) of learning and of rows; the bits are compared unless words are stemmed."""
    cut = 2 * len(texts) // 3
    train, new = texts[:cut], texts[cut:]
    seconds, ratios = ([], []), ([], [])
    for _ in range(repeats + 1):
        learning, (features, X) = timed(learn_features, train, **ours)
        rows, found = timed(features, new)
        their_learning, (_, _, expected, transform) = timed(reference.learn, train, *kind, **theirs)
        their_rows, expected_rows = timed(transform, new)
        assert "analyzer" in ours or (same(X, expected) and same(found, expected_rows))
        for i, (own, other) in enumerate(((learning, their_learning), (rows, their_rows))):
            seconds[i].append(own)
            ratios[i].append(other / own)
    return [(statistics.median(own[1:]), sorted(ratio[1:])) for own, ratio in zip(seconds, ratios)]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--texts", type=int, default=5000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", help="write the table there too")
    options = parser.parse_args()
    lines = []
    for size, texts in read(options.texts).items():
        characters = sum(map(len, texts)) / len(texts)
        for name, (kind, ours, theirs) in KINDS.items():
            found = compare(texts, kind, ours, theirs, options.repeats)
            ratios = [f"{statistics.median(r):.1f} ({r[0]:.1f} to {r[-1]:.1f})" for _, r in found]
            lines.append([f"{size}, {characters:.0f} characters", name, *ratios, f"{found[1][0]:.3f}"])
            print(*lines[-1], flush=True)
    header = ["texts", "terms", "learning, ratio", "rows, ratio", "rows, CPU s of mlgt"]
    report = f"{options.texts} texts of YSO-Finna-en, {options.repeats} repeats, one thread; {machine()}."
    report += f"\n\n{table(header, lines)}\n"
    print(report)
    if options.out:
        Path(options.out).write_text(f"# Texts to rows\n\n{report}", "utf-8")


if __name__ == "__main__":
    main()

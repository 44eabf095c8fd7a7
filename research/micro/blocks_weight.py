"""How many groups a label of He-NMFGT should join, on rows with few and with many labels.

    MLGT_DATA=... python research/micro/blocks_weight.py [--data NAME] [--splits 3] [--out FILE]

Settings are those of `mlgt reproduce methods`: four blocks of 300 groups with one strict separator. A fifth
of the training rows is held out; the test rows are not touched. "positive" is the share of groups that are
positive in a training row, the mean of all blocks: with k labels per row, each in c of m groups at random,
it is at most about 1 - (1 - c / m)^k. "tied" is the number of labels of a block, per held-out row, whose
groups are all predicted positive: the decoder cannot tell them apart, and takes those with the lowest ids.
"searched" chooses c for each block by Remark 1, without a classifier; the votes of blocks with different c
do not compare.
"""

import argparse
import os
from pathlib import Path

import numpy as np

from common import machine, spread, table
from mlgt._core.rows import scale_rows
from mlgt.data import read_xmc
from mlgt.estimators.methods import make_estimator
from mlgt.groups import pool
from mlgt.metrics import evaluate

N_GROUPS = 300
WEIGHTS = (4, 6, 8, 10, 20, 40, None)
MEASURES = ("P@1", "P@3", "P@5", "Pi@1")


def measure(X, Y, held, weight, seed):
    """(share of positive groups, tied labels, column weights, {measure: value}) of one split."""
    kept = np.setdiff1d(np.arange(X.shape[0]), held)
    options = {} if weight is None else {"column_weight": weight}
    model = make_estimator("he-nmfgt", n_groups=N_GROUPS, random_state=seed, **options)
    model.fit(X[kept], Y[kept])
    positive = np.mean([pool(Y[kept][:, block.labels], block.groups).mean() for block in model.blocks_])
    tied = np.mean([count_tied(block, X[held]) for block in model.blocks_])
    labels, _ = model.predict_topk(X[held], 5)
    return positive, tied, model.column_weight_, evaluate(Y[held], labels)


def count_tied(block, X):
    """The labels per row whose groups are all predicted positive."""
    missed = (block.classifiers.margins(X) <= 0).astype(np.float32) @ block.groups
    return (missed == 0).sum(axis=1).mean()


def main(options):
    data = read_xmc(Path(os.environ["MLGT_DATA"]) / options.data / "train.txt.gz")
    X, n = scale_rows(data.X, 1.0), data.X.shape[0]
    rows = []
    for weight in WEIGHTS:
        found = []
        for seed in range(options.splits):
            held = np.sort(np.random.default_rng(seed).choice(n, n // 5, replace=False))
            found.append(measure(X, data.Y, held, weight, seed))
        positive, tied, chosen, judged = zip(*found)
        searched = ", ".join(str(c) for one in chosen for c in one)
        quality = [spread([one[name] for one in judged], 3) for name in MEASURES]
        rows.append([weight or f"searched: {searched}", spread(positive, 2), spread(tied, 1), *quality])
        print(rows[-1], flush=True)
    about = f"{options.data}: {data.Y.sum() / n:.1f} labels per row, {options.splits} splits."
    header = ("c", "positive", "tied", *MEASURES)
    text = f"# Column weight of He-NMFGT\n\n{about} {machine()}.\n\n{table(header, rows)}\n"
    if options.out:
        options.out.write_text(text, "utf-8")
    print(text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="Wiki10-tenth-synth")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--out", type=Path)
    main(parser.parse_args())

"""The paper's Table 1 beside ours: NMF-GT, CW-GT and SP-GT, hard and soft decoding, one-vs-all.

    MLGT_DATA=... python benchmarks/constructions.py [--seeds 10] [--data Bibtex ...] [--out FILE]

The column weight is searched as in Remark 1 over the range of the authors' code, 10, 20, ... 70. Hard
is the paper's decoder (top 5 of A'z, ties to the lowest label id); soft is ours. NMF-GT is drawn with
exactly c groups a label (ours) and by the paper's Bernoulli sampling. Training CPU covers design and
classifiers, prediction CPU the decoding of all test rows, on one thread.
"""

import argparse
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from common import machine, spread, table
from mlgt.classify import train
from mlgt.column_weight import choose_column_weight
from mlgt.datasets import load
from mlgt.decode import DECODERS
from mlgt.graph import label_counts
from mlgt.groups import CONSTRUCTIONS, correlation_metric, pool
from mlgt.metrics import modified_precision_at, precision_at
from mlgt.retrieve import LabelIndex, search

GROUPS = {"Bibtex": 120, "Mediamill": 50, "EURLex-4K": 350}
WEIGHTS = tuple(range(10, 71, 10))
METHODS = {
    "NMF-GT": ("nmf", {}),
    "NMF-GT, Bernoulli": ("nmf", {"sampling": "bernoulli"}),
    "CW-GT": ("constant_weight", {}),
    "SP-GT": ("sparse_random", {}),
}
PAPER = {  # Table 1: Pi@1, Pi@3, Pi@5, Phi
    ("Bibtex", "NMF-GT"): (0.7354, 0.3664, 0.2231, 10.610),
    ("Bibtex", "CW-GT"): (0.7089, 0.3328, 0.2017, 12.390),
    ("Bibtex", "SP-GT"): (0.6939, 0.3034, 0.1823, 12.983),
    ("Bibtex", "one-vs-all"): (0.6111, 0.2842, 0.1739, None),
    ("Mediamill", "NMF-GT"): (0.8804, 0.6069, 0.3693, 10.377),
    ("Mediamill", "CW-GT"): (0.8286, 0.5413, 0.3276, 11.003),
    ("Mediamill", "SP-GT"): (0.6358, 0.2729, 0.1638, 10.876),
    ("Mediamill", "one-vs-all"): (0.8539, 0.5315, 0.3231, None),
    ("EURLex-4K", "NMF-GT"): (0.8477, 0.5547, 0.3444, 80.023),
    ("EURLex-4K", "CW-GT"): (0.8430, 0.5582, 0.3597, 80.732),
    ("EURLex-4K", "SP-GT"): (0.6792, 0.3933, 0.2758, 82.257),
    ("EURLex-4K", "one-vs-all"): (0.8535, 0.6132, 0.4085, None),
}
COLUMNS = ["Pi@1", "Pi@3", "Pi@5", "P@1", "P@3", "P@5"]


def design(Y, method, m, rng):
    """Algorithm 1's first step: the group matrix and the column weight that Remark 1 finds."""
    name, options = METHODS[method]
    draw = CONSTRUCTIONS[name].plan(Y, m, rng, **options).draw
    c = None
    if CONSTRUCTIONS[name].WEIGHTED:
        c, _ = choose_column_weight(draw, Y, m, rng, candidates=WEIGHTS)
    return draw(c, rng), c


def measure(data, A, seed, results):
    """Train on A, decode hard and soft; appends to results[decoder][column]."""
    (X, Y), (X_test, Y_test) = data
    began = time.process_time()
    classifiers = train(X, pool(Y, A), n_jobs=1, tol=1e-2, seed=seed)
    training = time.process_time() - began
    counts = label_counts(Y)
    index = LabelIndex(A)
    for decoder in ("top_k", "soft"):
        decode = DECODERS[decoder](A, counts)
        began = time.process_time()
        blocks = []
        for first in range(0, X_test.shape[0], 512):
            margins = classifiers.margins(X_test[first : first + 512])
            blocks.append(search(decode.values(margins), index, decode, 5)[0])
        labels = np.concatenate(blocks)
        row = results[decoder]
        row["predict"].append(time.process_time() - began)
        row["train"].append(training)
        for k in (1, 3, 5):
            row[f"Pi@{k}"].append(modified_precision_at(Y_test, labels, k))
            row[f"P@{k}"].append(precision_at(Y_test, labels, k))


def run(name, seeds):
    split = load(name)
    data = [(sp.csr_array(normalize(part.X)), part.Y) for part in split]
    Y, m = data[0][1], GROUPS[name]
    lines = []
    for method in METHODS:
        results = {decoder: defaultdict(list) for decoder in ("top_k", "soft")}
        weights, phis, designing = [], [], []
        for seed in range(seeds):
            began = time.process_time()
            A, c = design(Y, method, m, np.random.default_rng(seed))
            designing.append(time.process_time() - began)
            weights.append(c)
            phis.append(correlation_metric(Y, A))
            measure(data, A, seed, results)
        for row in results.values():
            row["train"] = [a + b for a, b in zip(row["train"], designing)]
        lines += rows(name, method, results, weights, phis)
    results = {decoder: defaultdict(list) for decoder in ("top_k", "soft")}
    measure(data, sp.eye_array(Y.shape[1], format="csr", dtype=np.float32), 0, results)
    lines += rows(name, "one-vs-all", results, [None], [])
    header = ["method", "decoder", "c", *COLUMNS, "Phi", "train CPU s", "predict CPU s"]
    return f"### {name} (d = {Y.shape[1]}, m = {m})\n\n" + table(header, lines)


def rows(name, method, results, weights, phis):
    """Our two rows and the paper's, as table cells."""
    chosen = sorted({str(c) for c in weights if c is not None})
    out = []
    for decoder, label in (("top_k", "hard"), ("soft", "soft")):
        row = results[decoder]
        cells = [spread(row[column]) for column in COLUMNS]
        phi = spread(phis, 2) if phis else ""
        out.append(
            [
                method,
                label,
                " ".join(chosen),
                *cells,
                phi,
                spread(row["train"], 2),
                spread(row["predict"], 2),
            ]
        )
    if (name, method) in PAPER:
        *pi, phi = PAPER[name, method]
        printed = [f"{value:.4f}".lstrip("0") for value in pi]
        out.append([method, "*paper*", "", *printed, "", "", "", phi or "", "", ""])
    return out


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--data", nargs="+", default=list(GROUPS), choices=list(GROUPS))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    text = f"Mean ± standard deviation over {options.seeds} seeds. {machine()}.\n"
    for name in options.data:
        text += "\n" + run(name, options.seeds) + "\n"
        print(text, flush=True)
    if options.out:
        options.out.write_text(text, "utf-8")

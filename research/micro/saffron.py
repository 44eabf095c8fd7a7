"""SAFFRON: what its decoders recover, how long they take, and what real classifiers make of it.

    MLGT_DATA=... python research/micro/saffron.py [--out FILE.md] [--plot FILE.png]

*Recovery.* Rows of k random labels are pooled exactly, then a share of the tests is flipped; `found` is the
share of the k labels among the k best decoded. Hard is the paper's peeling of 0/1 tests, noisy is ours on
margins of -1 and +1. The column weight is what density evolution finds best.

*Real label sets.* The same with the label sets of EURLex-4K's test rows, on regular and on NMF graphs.

*Time.* One thread, noise-free tests, k = 5, 25 bins, c = 5; beside the linear decoder, top 5 of A'z over
all labels, on m = 8 k log2(d) groups with 16 a label, in batches (64 rows side by side) and row by row.
Times are the best of nine; ratios are linear over SAFFRON, medians of nine pairs run back to back.

*Real classifiers.* EURLex-4K, a linear classifier of mlgt for every test; beside soft decoding of
NMF and constant-weight groups at equal m, and of SAFFRON's own. One seed.
"""

import argparse
import time
from functools import partial
from pathlib import Path
from timeit import timeit
from types import SimpleNamespace

import numpy as np

from common import machine, ratio, table
from mlgt._core.rows import scale_rows
from mlgt.classifiers.train import train
from mlgt.data.datasets import load
from mlgt.decoding import Decoder, decode_soft, search
from mlgt.decoding.decoder import hard_tests
from mlgt.decoding.index import LabelIndex
from mlgt.groups import CONSTRUCTIONS, pool, regular_graph, saffron_design
from mlgt.groups.density_evolution import best_column_weight, expected_recovery
from mlgt.groups.saffron import GRAPHS, plan_design
from mlgt.metrics import precision_at, recall_at
from mlgt_research.paper.decoding import DECODERS, draw_labels, shares_found

K = 5
WRONG = (0.0, 0.001, 0.01, 0.05)


def three(share):
    return f"{share:.3f}"


def recovery_row(rng, d, k, m1, signatures, n=200):
    """The design, what density evolution expects, and what is found at each share of wrong tests."""
    c = best_column_weight(k, m1)
    design = saffron_design(regular_graph(m1, d, c, rng), rng, signatures=signatures)
    truth = draw_labels(rng, n, d, k)
    shares = [shares_found(design, truth, wrong, rng) for wrong in WRONG]
    cells = [f"{d:,}", k, m1, c, signatures, design.n_groups, three(expected_recovery(k, m1, c))]
    return [*cells, *(three(s["hard"]) for s in shares), *(three(s["noisy"]) for s in shares)], shares


def recovery(curves):
    """The table of recoveries against m, k and d; curves[signatures] receives (m, shares) to plot."""
    cases = [(4000, K, m1) for m1 in (6, 8, 10, 12, 16, 20, 24, 32)]
    cases += [(10**5, k, 4 * k) for k in (5, 20, 80)]
    cases += [(10**e, K, 20) for e in (3, 4, 5, 6)]
    lines = []
    for i, (d, k, m1) in enumerate(cases):
        for signatures in ("local", "global"):
            line, shares = recovery_row(np.random.default_rng(i), d, k, m1, signatures)
            lines.append(line)
            if d == 4000:
                curves.setdefault(signatures, []).append((line[5], shares))
    header = ["d", "k", "bins", "c", "signatures", "m", "expected"]
    return table([*header, *(f"{name} {wrong:.1%}" for name in DECODERS for wrong in WRONG)], lines)


def real_label_sets(train_Y, Y, n=500):
    """The same for label sets of a data set, on both graphs."""
    rows = [Y.indices[Y.indptr[i] : Y.indptr[i + 1]] for i in range(n)]
    truth = np.full((n, max(map(len, rows))), -1)
    for padded, row in zip(truth, rows):
        padded[: len(row)] = row
    lines = []
    for m1, c in ((5, 2), (20, 4), (50, 8)):
        for graph, draw in GRAPHS.items():
            rng = np.random.default_rng(0)
            T = draw(train_Y, m1, c, rng, None)
            for signatures in ("local", "global"):
                design = saffron_design(T, rng, signatures=signatures)
                shares = [shares_found(design, truth, wrong, rng) for wrong in WRONG]
                cells = [graph, signatures, m1, c, design.n_groups]
                lines.append([*cells, *(three(s[name]) for name in DECODERS for s in shares)])
    header = ["graph", "signatures", "bins", "c", "m"]
    return table([*header, *(f"{name} {wrong:.1%}" for name in DECODERS for wrong in WRONG)], lines)


def linear_design(d, rng, c=16):
    """Constant weight: a random group of each of c bands, as the index and decoder that `search` takes."""
    m = int(np.ceil(8 * K * np.log2(d)))
    edges = np.linspace(0, m, c + 1).astype(np.int32)
    groups = rng.integers(edges[:-1], edges[1:], size=(d, c), dtype=np.int32)
    index = SimpleNamespace(indptr=np.arange(0, d * c + 1, c), groups=groups.ravel(), n_labels=d)
    decoder = Decoder(hard_tests, np.ones(d, np.float32), np.zeros(d, np.float32))
    return m, groups, index, decoder


def best_time(function, n, repeats=9):
    """Microseconds per row, the best of the repeats."""
    function()
    return 1e6 * min(timeit(function, number=1) for _ in range(repeats)) / n


def measure_time(d, n=64, m1=25, c=5):
    rng = np.random.default_rng(0)
    truth = np.array([rng.permutation(np.unique(rng.integers(d, size=4 * K)))[:K] for _ in range(n)])
    m, groups, index, decoder = linear_design(d, rng)
    values = np.zeros((n, m), np.float32)
    for v, labels in zip(values, truth):
        v[groups[labels]] = 1
    few = 2 if d > 10**6 else 8
    ways = {
        "batch": lambda: search(values, index, decoder, K, method="product"),
        "row": lambda: search(values[:few], index, decoder, K, method="row"),
    }
    design = saffron_design(regular_graph(m1, d, c, rng), rng)
    margins = np.where(design.pool(truth), np.float32(1), np.float32(-1))
    row = {"m": m, "saffron m": design.n_groups}
    for name, decode in DECODERS.items():
        counts = np.empty(n, np.int64)
        labels, _ = decode(design, margins, K, operations=counts)
        row[f"{name} found"] = np.mean([np.isin(t, l).mean() for t, l in zip(truth, labels)])
        row[f"{name} operations"] = counts.mean()
        row[f"{name} us"] = best_time(lambda decode=decode: decode(design, margins, K), n)
        for way, linear in ways.items():
            each = 1 if way == "batch" else n / few
            middle, low, high = ratio(linear, lambda decode=decode: decode(design, margins, K))
            row[f"{way} / {name}"] = [each * r for r in (middle, low, high)]
    row["linear found"] = np.mean([np.isin(t, l).mean() for t, l in zip(truth, ways["batch"]()[0])])
    row["batch us"] = best_time(ways["batch"], n, 3)
    row["row us"] = best_time(ways["row"], few, 3)
    return row


def timing(sizes, drawn):
    rows = [measure_time(d) for d in sizes]
    drawn.update({name: [row[f"{name} us"] for row in rows] for name in ("batch", "row", *DECODERS)})
    counts = [
        [f"{d:,}", row["m"], row["saffron m"], f"{16 * d:.3g}"]
        + [f"{row[f'{name} operations']:,.0f}" for name in DECODERS]
        + [f"{row[f'{name} operations'] / (K * np.log2(d / K)):.0f}" for name in DECODERS]
        for d, row in zip(sizes, rows)
    ]
    times = [
        [f"{d:,}"]
        + [f"{row[f'{name} us']:.1f}" for name in ("batch", "row", *DECODERS)]
        + [
            "{:.3g} ({:.3g} to {:.3g})".format(*row[f"{way} / {name}"])
            for way in ("batch", "row")
            for name in DECODERS
        ]
        + [three(row[f"{name} found"]) for name in ("linear", *DECODERS)]
        for d, row in zip(sizes, rows)
    ]
    exponents = [f"{np.polyfit(np.log(sizes), np.log(drawn[name]), 1)[0]:.2f}" for name in drawn]
    times.append(["exponent", *exponents, *[""] * 7])
    first = ["d", "m, linear", "m, SAFFRON", "linear additions"]
    first += [f"{name} operations" for name in DECODERS] + [f"{name} / k log2(d/k)" for name in DECODERS]
    second = ["d", "linear batch, us", "linear row, us", "hard, us", "noisy, us"]
    second += [f"{way} / {name}" for way in ("batch", "row") for name in DECODERS]
    second += ["linear found", "hard found", "noisy found"]
    return f"{table(first, counts)}\n\n{table(second, times)}"


def classifier_rows(data, test):
    """Soft decoding of known constructions and SAFFRON, with trained classifiers."""
    X, X_test = scale_rows(data.X), scale_rows(test.X)

    def margins_of(A):
        Z = pool(data.Y, A)
        began = time.process_time()
        margins = train(X, Z, tol=1e-2, n_jobs=1).margins(X_test)
        wrong = np.mean((margins > 0) != (pool(test.Y, A).toarray() > 0))
        return margins, wrong, time.process_time() - began

    def scored(labels):
        return [f"{precision_at(test.Y, labels, k):.3f}" for k in (1, 3, 5)]

    def soft(A):
        index, decoder = LabelIndex(A), decode_soft(A)
        return lambda margins, k: search(decoder.values(margins), index, decoder, k)

    lines = []

    def add(groups, A, bins, c, decoders):
        margins, wrong, seconds = margins_of(A)
        for name, decode in decoders.items():
            scores = scored(decode(margins, 5)[0])
            recall = f"{recall_at(test.Y, decode(margins, 50)[0], 50):.3f}"
            cells = [groups, A.shape[0], bins, c, f"{wrong:.1%}", name, *scores, recall]
            lines.append([*cells, f"{seconds:.0f}"])

    for m, weights in ((350, (None, 2)), (1440, (1, None))):
        for name, c in (("nmf", 16), ("constant_weight", 8)):
            rng = np.random.default_rng(0)
            A = CONSTRUCTIONS[name].plan(data.Y, m, rng).draw(c, rng)
            add(name, A, "", c, {"soft": soft(A)})
        kinds = [("regular", "local", c) for c in weights]
        kinds += [("regular", "global", weights[-1]), ("nmf", "local", weights[-1])]
        for graph, signatures, c in kinds:
            rng = np.random.default_rng(0)
            design = plan_design(data.Y, m, rng, graph=graph, signatures=signatures).draw(c, rng)
            decoders = {name: partial(decode, design) for name, decode in DECODERS.items()}
            decoders["soft"] = soft(design.A)
            groups = f"saffron, {graph}, {signatures}"
            add(groups, design.A, design.n_bins, design.tables.max_weight, decoders)
    header = ["groups", "m", "bins", "c", "wrong tests", "decoder", "P@1", "P@3", "P@5", "recall@50"]
    return table([*header, "train CPU s"], lines)


def draw(path, curves, sizes, times):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.2), layout="constrained", dpi=90)
    left, right = figure.subplots(1, 2)
    m = [m for m, _ in curves["local"]]
    for wrong, colour in zip(range(len(WRONG)), ("C0", "C2", "C1", "C3")):
        for name, style in (("hard", "--"), ("noisy", "-")):
            shares = [shares[wrong][name] for _, shares in curves["local"]]
            left.plot(m, shares, style, color=colour, label=f"{name}, {WRONG[wrong]:.1%} wrong")
    left.set(xlabel="tests m", ylabel="share of 5 labels of 4,000 found")
    left.legend(frameon=False, fontsize=8, ncols=2)
    names = {"batch": "linear, batch", "row": "linear, row by row", "hard": "SAFFRON, hard"}
    for name, values in times.items():
        right.loglog(sizes, values, "o-", label=names.get(name, "SAFFRON, noisy"))
    right.set(xlabel="labels d", ylabel="microseconds per row, one thread")
    right.legend(frameon=False, fontsize=9)
    for axes in (left, right):
        axes.grid(alpha=0.3)
    figure.savefig(path)


def main(plot, sizes):
    curves, times = {}, {}
    sections = {"Recovery": recovery(curves)}
    data, test = load("EURLex-4K")
    sections["Real label sets, EURLex-4K"] = real_label_sets(data.Y, test.Y)
    sections["Time and operations"] = timing(sizes, times)
    if plot:
        draw(plot, curves, sizes, times)
    sections["Real classifiers, EURLex-4K"] = classifier_rows(data, test)
    return (
        "\n\n".join([f"{machine()}.", *(f"## {title}\n\n{text}" for title, text in sections.items())])
        + "\n"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--largest", type=int, default=7, help="d goes up to ten to this power")
    options = parser.parse_args()
    text = main(options.plot, [10**e for e in range(3, options.largest + 1)])
    print(text)
    if options.out:
        options.out.write_text(text, "utf-8")

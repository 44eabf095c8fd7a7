"""Time and counted operations of finding the top 5 among d = 10^3 ... 10^6 labels.

    python research/micro/decoding.py [--out FILE.md] [--plot FILE.png]

m = 8 k log2(d) groups for k = 5 labels per row, constant weight c = 16; group margins as good classifiers
give them: 1 for the groups of the row's labels, -1 for the others, with normal noise of deviation 0.5. The
full product forms all label scores (scipy's sparse product) and sorts out the best; the fused product keeps
only those, 64 rows side by side; the plain product is a compiled loop over the labels of one row; the count
filter is what mlgt does for one row. All return the same labels. Time is per row on one thread, the median
of the repeats. Operations are float additions (products), or 64-bit word operations, of which a vector
instruction does eight, plus the additions of the labels scored (filter). Exponents are slopes of log
against log d.
"""

import argparse
import statistics
import time
from pathlib import Path

import numba
import numpy as np

from common import machine, table
from mlgt._core.topk import top_k
from mlgt.decoding import DECODERS, search
from mlgt.decoding.index import LabelIndex
from mlgt.decoding.search import count_filter
from mlgt.groups import constant_weight_groups

K, C, NOISE = 5, 16, 0.5
WAYS = ("full product, batch", "fused product, batch", "plain product, one row", "count filter, one row")


def rows(index, n, rng):
    """Margins of n rows with K labels each."""
    margins = NOISE * rng.normal(size=(n, index.n_groups)) - 1.0
    members = index.groups.reshape(-1, C)
    for row in margins:
        row[np.unique(members[rng.choice(index.n_labels, K, replace=False)])] += 2.0
    return margins.astype(np.float32)


@numba.njit
def plain_product(v, groups, c, scale, offset, labels, best):
    """One row, label by label: what the count filter must beat."""
    k = labels.shape[0]
    for l in range(groups.shape[0] // c):
        total = np.float32(0.0)
        for e in range(l * c, l * c + c):
            total += v[groups[e]]
        score = total * scale + offset
        if score > best[k - 1]:
            at = k - 1
            while at > 0 and score > best[at - 1]:
                best[at] = best[at - 1]
                labels[at] = labels[at - 1]
                at -= 1
            best[at] = score
            labels[at] = l


def one_by_one(values, index, decoder):
    labels = np.full((len(values), K), -1)
    best = np.full((len(values), K), -np.inf, np.float32)
    for i, v in enumerate(values):
        plain_product(v, index.groups, C, decoder.scale[0], decoder.offset[0], labels[i], best[i])
    return labels, best


def filter_operations(values, index, decoder):
    """Word operations plus additions, and the share of labels scored; means over rows."""
    counted = []
    for v in values:
        labels, best = np.full(K, -1), np.full(K, -np.inf, np.float32)
        operations, scored = count_filter(v, index, decoder, labels, best)
        counted.append((operations + C * scored, scored / index.n_labels))
    return np.mean(counted, axis=0)


def timed(function, n_rows, repeats):
    """(seconds per row, result)."""
    function()
    laps = []
    for _ in range(repeats):
        began = time.perf_counter()
        result = function()
        laps.append(time.perf_counter() - began)
    return statistics.median(laps) / n_rows, result


def measure(d, name, rng, repeats):
    m = int(np.ceil(8 * K * np.log2(d)))
    A = constant_weight_groups(m, d, C, rng)
    index, decoder = LabelIndex(A), DECODERS[name](A, np.ones(d))
    n, few = 64, 4 if d >= 10**6 else 16
    margins = rows(index, n, rng)
    values = decoder.values(margins)
    runs = [
        timed(lambda: top_k(decoder.scores(margins[:few], A), K), few, repeats),
        timed(lambda: search(values, index, decoder, K, method="product"), n, repeats),
        timed(lambda: one_by_one(values[:few], index, decoder), few, repeats),
        timed(lambda: search(values, index, decoder, K, method="count_filter"), n, repeats),
    ]
    for _, (labels, _) in runs:
        assert (labels[:few] == runs[0][1][0]).all()
    operations, share = filter_operations(values, index, decoder)
    seconds = [seconds for seconds, _ in runs]
    return {
        "m": m,
        "seconds": seconds,
        "operations": operations,
        "share": share,
        "bytes": index.bits.nbytes,
    }


def exponent(sizes, values):
    return np.polyfit(np.log(sizes), np.log(values), 1)[0]


def main(repeats, plot):
    sizes = [10**3, 10**4, 10**5, 10**6]
    text = f"c = {C}, {K} labels per row, top {K}. {machine()}.\n"
    drawn = {}
    header = ["d", "m", *(f"{way}, us" for way in WAYS), "plain / filter", "additions"]
    header += ["filter's operations", "labels scored", "bits, MB"]
    for name in ("soft", "top_k"):
        found = [measure(d, name, np.random.default_rng(0), repeats) for d in sizes]
        lines = []
        for d, row in zip(sizes, found):
            cells = [f"{d:,}", row["m"], *(f"{1e6 * seconds:.1f}" for seconds in row["seconds"])]
            cells += [f"{row['seconds'][2] / row['seconds'][3]:.1f}", f"{d * C:.3g}"]
            lines.append(
                [*cells, f"{row['operations']:.3g}", f"{row['share']:.2%}", f"{row['bytes'] / 1e6:.1f}"]
            )
        slopes = [f"{exponent(sizes, [row['seconds'][w] for row in found]):.2f}" for w in range(len(WAYS))]
        counted = f"{exponent(sizes, [row['operations'] for row in found]):.2f}"
        lines.append(["exponent", "", *slopes, "", "1.00", counted, "", ""])
        text += f"\nDecoder `{name}`:\n\n{table(header, lines)}\n"
        drawn[name] = [[row["seconds"][w] for row in found] for w in range(len(WAYS))]
    if plot:
        draw(plot, sizes, drawn)
    return text


def draw(path, sizes, drawn):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.4), layout="constrained", dpi=110)
    for axes, (name, ways) in zip(figure.subplots(1, 2, sharey=True), drawn.items()):
        for way, seconds in zip(WAYS, ways):
            label = f"{way}: d^{exponent(sizes, seconds):.2f}"
            axes.loglog(sizes, np.array(seconds) * 1e6, "o-", label=label)
        axes.set_xlabel("labels d")
        axes.set_title(f"top {K} by the decoder {name}", loc="left", fontsize=11)
        axes.grid(alpha=0.3)
        axes.legend(frameon=False, fontsize=9)
    figure.axes[0].set_ylabel("microseconds per row, one thread")
    figure.savefig(path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    text = main(options.repeats, options.plot)
    print(text)
    if options.out:
        options.out.write_text(text, "utf-8")

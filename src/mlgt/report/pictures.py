"""Results as pictures."""

from pathlib import Path

import numpy as np

from .._core.errors import MLGTError
from ..data.files import replacing

FORMATS = ("png", "pdf", "svg")

COLOURS = ("#1b7837", "#5aae9f", "#c7c7c7")
TITLE = {"fontsize": 11, "loc": "left"}


def draw_demo(path, Y, names, scores, example, precisions):
    """One picture in three parts: which labels occur together, how one row is decoded, how good it is.

    Y (n, d) training labels with `names` of the form facet::value; `example` = (title, ids of its true
    labels) and `scores` (d,) its label scores; `precisions` {method: {k: P@k}}.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15, 5.2), layout="constrained", dpi=110)
    together, decoded, measured = figure.subplots(1, 3, width_ratios=(1.15, 1.2, 1))
    _draw_cooccurrence(together, Y, names)
    _draw_decoding(decoded, names, scores, *example)
    _draw_precisions(measured, precisions)
    _save(figure, path)


def draw_reliability(path, table, title):
    """How often labels are right, by the probability they were given, from `metrics.reliability`."""
    figure = reliability_figure(table, (5, 5.6))
    figure.axes[0].set_title(title, **TITLE)
    _save(figure, path)


def reliability_figure(table, size):
    """The same as a figure: rows (mean probability, share right, count)."""
    from matplotlib.figure import Figure

    said, true, counts = np.asarray(table, float).reshape(-1, 3).T
    figure = Figure(figsize=size, layout="constrained", dpi=120)
    curve, sizes = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
    curve.plot([0, 1], [0, 1], color=COLOURS[2], linestyle="--", linewidth=1)
    curve.plot(said, true, marker="o", color=COLOURS[0])
    curve.set_ylabel("share that is right")
    curve.set_ylim(0, 1)
    sizes.bar(said, counts, width=0.06, color=COLOURS[1])
    sizes.set_yscale("log")
    sizes.set_ylabel("labels")
    sizes.set_xlabel("probability")
    sizes.set_xlim(0, 1)
    _open(curve, sizes)
    return figure


def coverage_figure(rows, size):
    """Precision, recall and rows with a prediction left, by the least probability that is kept; `rows` are
    those of `diagnose.diagnose`."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained", dpi=120)
    axes = figure.subplots()
    lines = {"precision": (COLOURS[0], "-"), "recall": (COLOURS[1], "-"), "rows": ("#888888", "--")}
    words = {"rows": "rows with a label", "recall": "true labels found", "precision": "right among kept"}
    for name, (colour, style) in lines.items():
        known = [(row["threshold"], row[name]) for row in rows if row[name] is not None]
        axes.plot(*np.array(known).reshape(-1, 2).T, style, color=colour, label=words[name], linewidth=2)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("least probability kept")
    axes.set_ylabel("share")
    figure.legend(loc="outside upper left", ncols=3, frameon=False, fontsize=9)
    _open(axes)
    return figure


def frequency_figure(bands, size):
    """Precision and recall by how many training rows labels have; `bands` are those of `diagnose`."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained", dpi=120)
    axes = figure.subplots()
    at = np.arange(len(bands))
    for i, (name, words) in enumerate(
        (("precision", "right among predicted"), ("recall", "found of true"))
    ):
        shares = [band[name] for band in bands]
        bars = axes.bar(at + 0.4 * i - 0.2, [s or 0 for s in shares], 0.38, color=COLOURS[i], label=words)
        axes.bar_label(bars, [as_share(s, 2) for s in shares], fontsize=8)
    axes.set_xticks(at, [f"{band_name(band)}\n{band['labels']} labels" for band in bands], fontsize=8)
    axes.set_xlabel("training rows of a label")
    axes.set_ylim(0, 1.05)
    figure.legend(loc="outside upper left", ncols=2, frameon=False, fontsize=9)
    _open(axes)
    return figure


def band_name(band):
    """Training rows of a band of labels: 5-19, 1000+."""
    if band["most"] is None:
        return f"{band['least']}+"
    return str(band["least"]) if band["least"] == band["most"] else f"{band['least']}-{band['most']}"


def as_share(value, digits=3):
    """A share in figures; a dash where there is none."""
    return "-" if value is None else f"{value:.{digits}f}"


def _open(*all_axes):
    for axes in all_axes:
        axes.spines[["top", "right"]].set_visible(False)


def draw_partition(path, G, partition, pixels=600):
    """The co-occurrence matrix G (d, d) with its labels in the order of the partition (the paper's
    figure 1): blocks along the diagonal, separators in the band at the end. A pixel is darker the more
    rows its labels share."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.4, 5.6), layout="constrained", dpi=120)
    axes = figure.subplots()
    d = partition.n_labels
    axes.imshow(
        np.ma.masked_equal(np.log1p(binned_cooccurrence(G, partition.permutation, min(d, pixels))), 0),
        cmap="YlGnBu",
        vmin=-1,
        extent=(0, d, d, 0),
        interpolation="nearest",
    )
    begin, end = partition.offsets[:-1], partition.offsets[1:]
    for v in range(partition.n_blocks):
        axes.add_patch(_frame(begin[v], end[v], COLOURS[0]))
    axes.add_patch(_frame(end[partition.n_blocks - 1], d, "#b35806"))
    axes.set_xticks([])
    axes.set_yticks([])
    title = f"{d} labels: {partition.n_blocks} blocks; at the end, {len(partition.separator)} in separators"
    axes.set_title(title, fontsize=10, loc="left")
    _save(figure, path)


def check_picture(path):
    """Raise unless a picture can be written there; "/dev/null" and other names without an ending: PNG."""
    path = Path(path)
    if _format(path) not in FORMATS:
        raise MLGTError(
            f"{path}: {path.suffix} is no format of pictures here; let the name end in "
            f"{', '.join(f'.{name}' for name in FORMATS)}."
        )
    if not path.resolve().parent.is_dir():
        raise FileNotFoundError(f"{path.parent}: the folder of the picture does not exist; create it.")


def _format(path):
    return path.suffix.removeprefix(".").lower() or FORMATS[0]


def _save(figure, path):
    """Write the picture whole or not at all, in the format that its name ends in."""
    check_picture(path)
    with replacing(path) as file:
        figure.savefig(file, format=_format(Path(path)))


def binned_cooccurrence(G, permutation, pixels):
    """Sums of G, reordered, over `pixels` x `pixels` squares."""
    d = len(permutation)
    place = np.empty(d, np.int64)
    place[permutation] = np.arange(d)
    square = place * pixels // d
    rows = np.repeat(square, np.diff(G.indptr))
    return np.bincount(rows * pixels + square[G.indices], G.data, pixels**2).reshape(pixels, pixels)


def _frame(begin, end, colour):
    from matplotlib.patches import Rectangle

    return Rectangle((begin, begin), end - begin, end - begin, fill=False, edgecolor=colour, linewidth=0.8)


def _draw_cooccurrence(axes, Y, names):
    """Label by label, sorted by name: blocks are facets, bands are labels that go with everything."""
    G = (Y.T @ Y).toarray()
    order = np.argsort(names)
    counts = G[np.ix_(order, order)]
    image = np.ma.masked_equal(np.log10(np.maximum(counts, 1)) + (counts > 0), 0)
    axes.imshow(image, cmap="YlGnBu", vmin=-0.5, interpolation="antialiased")
    facets = np.array([names[i].split("::")[0] for i in order])
    starts = np.flatnonzero(np.concatenate([[True], facets[1:] != facets[:-1]]))
    ends = np.append(starts[1:], len(facets))
    large = [(s, e) for s, e in zip(starts, ends) if e - s >= 0.03 * len(facets)]
    axes.set_yticks([(s + e) / 2 for s, e in large], [facets[s] for s, _ in large], fontsize=8)
    axes.set_xticks([])
    axes.set_title(f"Which of the {len(names)} labels occur together", **TITLE)


def _draw_decoding(axes, names, scores, title, truth, shown=10):
    """The best labels of one row, by the probability its score stands for."""
    best = np.argsort(-scores, kind="stable")[:shown][::-1]
    colours = [COLOURS[0] if label in truth else COLOURS[2] for label in best]
    axes.barh(np.arange(shown), np.exp(scores[best]), color=colours)
    axes.set_yticks(np.arange(shown), [names[label] for label in best], fontsize=8)
    axes.set_xlabel("geometric mean of its groups' probabilities")
    missed = len(set(truth) - set(best))
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(f"{title}: true labels in green" + (f", {missed} not here" if missed else ""), **TITLE)


def _draw_precisions(axes, precisions):
    """P@k of each method side by side."""
    width = 0.8 / len(precisions)
    for i, (method, values) in enumerate(precisions.items()):
        at = np.arange(len(values)) + (i - (len(precisions) - 1) / 2) * width
        bars = axes.bar(at, list(values.values()), width * 0.95, label=method, color=COLOURS[i])
        axes.bar_label(bars, fmt="%.2f", fontsize=8)
    axes.set_xticks(np.arange(len(values)), [f"P@{k}" for k in values])
    axes.set_ylim(0, 1)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=9)
    axes.set_title("Share of right labels among the first k", **TITLE)

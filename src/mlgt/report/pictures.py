"""Pictures of results, drawn with matplotlib."""

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.errors import MLGTError
from .._core.files import PathLike, replacing
from .._core.sigmoid import sigmoid
from .._core.terminal import visible

FORMATS = ("png", "pdf", "svg")
COLOURS = ("#1b7837", "#5aae9f", "#c7c7c7")
TITLE = {"fontsize": 11, "loc": "left", "parse_math": False}
"""Names of labels and files may have dollar signs, which are no mathematics."""


def draw_demo(
    path: PathLike, Y: sp.csr_array, names: list[str], scores: np.ndarray, example: tuple, precisions: dict
) -> None:
    """Draw three parts side by side: labels that occur together, the decoding of one row, precisions.

    Y (n, d) holds the training labels, with `names` of the form facet::value; `example` is the title and
    the true labels of a row, and `scores` (d,) its log-odds; `precisions` is {method: {k: P@k}}.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15, 5.2), layout="constrained", dpi=110)
    together, decoded, measured = figure.subplots(1, 3, width_ratios=(1.15, 1.2, 1))
    _draw_cooccurrence(together, Y, names)
    _draw_decoding(decoded, names, scores, *example)
    _draw_precisions(measured, precisions)
    save_figure(figure, path)


def draw_reliability(path: PathLike, table: Any, title: str) -> None:
    """Draw a table of `metrics.reliability`: how often labels are right, by their probability."""
    figure = reliability_figure(table, (5, 5.6))
    figure.axes[0].set_title(visible(title), **TITLE)
    save_figure(figure, path)


def reliability_figure(table: Any, size: tuple[float, float]) -> Any:
    """Return the figure of a table of `metrics.reliability`."""
    from matplotlib.figure import Figure

    predicted, true, counts = np.asarray(table, float).reshape(-1, 3).T
    figure = Figure(figsize=size, layout="constrained", dpi=120)
    curve, sizes = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
    curve.plot([0, 1], [0, 1], color=COLOURS[2], linestyle="--", linewidth=1)
    curve.plot(predicted, true, marker="o", color=COLOURS[0])
    curve.set_ylabel("share of right labels")
    curve.set_ylim(0, 1)
    sizes.bar(predicted, counts, width=0.06, color=COLOURS[1])
    sizes.set_yscale("log")
    sizes.set_ylabel("labels")
    sizes.set_xlabel("probability")
    sizes.set_xlim(0, 1)
    hide_spines(curve, sizes)
    return figure


def coverage_figure(rows: list[dict[str, Any]], size: tuple[float, float]) -> Any:
    """Return the figure of the "coverage" of a diagnosis: precision, recall and rows by threshold."""
    figure, axes = _new_figure(size)
    lines = {"precision": (COLOURS[0], "-"), "recall": (COLOURS[1], "-"), "rows": ("#888888", "--")}
    for name, (colour, style) in lines.items():
        label = "rows with a label" if name == "rows" else name
        known = [(row["threshold"], row[name]) for row in rows if row[name] is not None]
        axes.plot(*np.array(known).reshape(-1, 2).T, style, color=colour, label=label, linewidth=2)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("threshold of probability")
    axes.set_ylabel("share")
    figure.legend(loc="outside upper left", ncols=3, frameon=False, fontsize=9)
    hide_spines(axes)
    return figure


def frequency_figure(bands: list[dict[str, Any]], size: tuple[float, float]) -> Any:
    """Return the figure of "by_frequency" of a diagnosis: precision and recall by training rows."""
    figure, axes = _new_figure(size)
    at = np.arange(len(bands))
    for i, name in enumerate(("precision", "recall")):
        shares = [band[name] for band in bands]
        bars = axes.bar(at + 0.4 * i - 0.2, [s or 0 for s in shares], 0.38, color=COLOURS[i], label=name)
        axes.bar_label(bars, [format_share(s, 2) for s in shares], fontsize=8)
    axes.set_xticks(at, [f"{band_name(band)}\n{band['labels']} labels" for band in bands], fontsize=8)
    axes.set_xlabel("training rows per label")
    axes.set_ylim(0, 1.05)
    figure.legend(loc="outside upper left", ncols=2, frameon=False, fontsize=9)
    hide_spines(axes)
    return figure


def band_name(band: dict[str, Any]) -> str:
    """Format the training rows of a band of labels: 5-19, 1000+."""
    if band["most"] is None:
        return f"{band['least']}+"
    return str(band["least"]) if band["least"] == band["most"] else f"{band['least']}-{band['most']}"


def format_share(value: float | None, digits: int = 3) -> str:
    """Format a share; None is a dash."""
    return "-" if value is None else f"{value:.{digits}f}"


def _new_figure(size):
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained", dpi=120)
    return figure, figure.subplots()


def hide_spines(*all_axes: Any) -> None:
    """Draw the axes without a frame above and at the right."""
    for axes in all_axes:
        axes.spines[["top", "right"]].set_visible(False)


def draw_partition(path: PathLike, G: sp.csr_array, partition: Any, pixels: int = 600) -> None:
    """Draw the co-occurrence matrix G (d, d) in the order of the partition (the paper's figure 1).

    Blocks are along the diagonal, separators in the band at the end. A pixel is darker the more rows its
    labels share.
    """
    figure, axes = _new_figure((5.4, 5.6))
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
    save_figure(figure, path)


def check_picture(path: PathLike) -> None:
    """Raise unless a picture can be written to `path`; names without an ending are PNG."""
    path = Path(path)
    if _picture_format(path) not in FORMATS:
        raise MLGTError(
            f"{path}: {path.suffix} is not a supported picture format; choose a name that ends in "
            f"{', '.join(f'.{name}' for name in FORMATS)}."
        )
    if not path.resolve().parent.is_dir():
        raise FileNotFoundError(f"{path.parent}: the folder of the picture does not exist; create it.")


def _picture_format(path):
    return path.suffix.removeprefix(".").lower() or FORMATS[0]


def save_figure(figure: Any, path: PathLike) -> None:
    """Write the picture atomically, in the format of its name."""
    check_picture(path)
    with replacing(path) as file:
        figure.savefig(file, format=_picture_format(Path(path)))


def binned_cooccurrence(G: sp.csr_array, permutation: np.ndarray, pixels: int) -> np.ndarray:
    """Sum the reordered G over `pixels` x `pixels` squares."""
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
    """Draw the co-occurrence of labels sorted by name: blocks are facets, bands are general labels."""
    G = (Y.T @ Y).toarray()
    order = np.argsort(names)
    counts = G[np.ix_(order, order)]
    image = np.ma.masked_equal(np.log10(np.maximum(counts, 1)) + (counts > 0), 0)
    axes.imshow(image, cmap="YlGnBu", vmin=-0.5, interpolation="antialiased")
    facets = np.array([names[i].split("::")[0] for i in order])
    starts = np.flatnonzero(np.concatenate([[True], facets[1:] != facets[:-1]]))
    ends = np.append(starts[1:], len(facets))
    large = [(s, e) for s, e in zip(starts, ends) if e - s >= 0.03 * len(facets)]
    axes.set_yticks(
        [(s + e) / 2 for s, e in large],
        [visible(facets[s]) for s, _ in large],
        fontsize=8,
        parse_math=False,
    )
    axes.set_xticks([])
    axes.set_title(f"Co-occurrence of the {len(names)} labels", **TITLE)


def _draw_decoding(axes, names, scores, title, truth, shown=10):
    """Draw the best labels of one row with their probabilities; the scores are log-odds."""
    best = np.argsort(-scores, kind="stable")[:shown][::-1]
    colours = [COLOURS[0] if label in truth else COLOURS[2] for label in best]
    axes.barh(np.arange(shown), sigmoid(scores[best]), color=colours)
    axes.set_yticks(
        np.arange(shown), [visible(names[label]) for label in best], fontsize=8, parse_math=False
    )
    axes.set_xlabel("probability")
    axes.set_xlim(0, 1)
    missed = len(set(truth) - set(best))
    hide_spines(axes)
    title = f"{visible(title)}: true labels in green" + (f", {missed} not here" if missed else "")
    axes.set_title(title, **TITLE)


def _draw_precisions(axes, precisions):
    """Draw P@k of each method side by side."""
    width = 0.8 / len(precisions)
    for i, (method, values) in enumerate(precisions.items()):
        at = np.arange(len(values)) + (i - (len(precisions) - 1) / 2) * width
        bars = axes.bar(at, list(values.values()), width * 0.95, label=method, color=COLOURS[i])
        axes.bar_label(bars, fmt="%.2f", fontsize=8)
    axes.set_xticks(np.arange(len(values)), [f"P@{k}" for k in values])
    axes.set_ylim(0, 1)
    hide_spines(axes)
    axes.legend(frameon=False, fontsize=9)
    axes.set_title("Precision of the first k labels", **TITLE)

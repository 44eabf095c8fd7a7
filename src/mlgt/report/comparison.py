"""A comparison of two models: tables, one picture and a page."""

from typing import Any

import numpy as np

from .._core.files import PathLike
from .._core.markup import escape
from .._core.terminal import visible
from .._version import __version__
from ..metrics.compare import is_sure
from .document import PAGE_STYLE, document, section, svg, table
from .page import join_labels, label_name, one_line
from .pictures import TITLE, band_name, hide_spines, save_figure
from .words import comparison_in_words, taught_in_words

BETTER, WORSE, UNSURE = "#1b7837", "#b2182b", "#888888"
MEASURED = ("", "A", "B", "B - A", "95 % interval")
STYLE = (
    PAGE_STYLE
    + """.both { display: grid; grid-template-columns: 1fr 1fr; gap: 0 1rem; margin: .3rem 0 1rem; }
.both div { border-left: 3px solid #dfe3dc; padding-left: .6rem; }
.true { color: #555; }
"""
)


def comparison_page(title: str, names: tuple[str, str], report: dict[str, Any]) -> str:
    """Return the page for a report of `mlgt compare --json`; `names` are those of A and B."""
    sentences = "".join(f'<p class="say">{escape(line)}</p>' for line in comparison_in_words(report))
    note = "".join(f"<p>{escape(line)}</p>" for line in notes(report))
    rows = f"{report['n']:,} rows, {report['n_unlabelled']:,} of them without labels."
    who = f"A is {names[0]}, B is {names[1]}. {rows}"
    caption = (
        "Points are hundredths. Lines are 95 % intervals; those in grey, and (?) in the tables, hold zero: "
        "no sure difference."
    )
    body = [
        f"<h1>{escape(title)}</h1><p>{escape(who)}</p><section>{sentences}{note}</section>",
        section("The difference at a glance", caption, svg(comparison_figure(report), "comparison")),
        section("All measures", "F1 is that of the given labels.", table(MEASURED, measure_cells(report))),
        section(
            "Rare and frequent labels",
            "F1 of the labels together, by their number of training rows in A.",
            table(("training rows", "labels", *MEASURED[1:]), band_cells(report)),
        ),
        section("Labels that changed most", LABELS_CAPTION, table(LABEL_HEADER, label_cells(report))),
    ]
    for end in ("better", "worse"):
        rows = "".join(_row(row) for row in report["rows"][end])
        caption = f"Rows (counted from 1) whose F1 changed most. ✗ marks wrong labels. B is {end} here."
        body.append(section(f"Rows that became {end}", caption, rows or "<p>none</p>"))
    return document(title, STYLE, f"{''.join(body)}<footer>mlgt {__version__}</footer>")


LABEL_HEADER = ("label", "true", "given A, B", "right A, B", "F1 A", "F1 B", "B - A", "95 % interval")
LABELS_CAPTION = (
    "By the change of F1 times the rows of the label. As labels are chosen for their change, part of it "
    "is chance, which the intervals of single labels do not take into account."
)


def notes(report: dict[str, Any]) -> list[str]:
    """Return sentences about what makes the comparison less than plain."""
    outcome = (
        "they are not compared"
        if report["n_left_out"]
        else "what it gains on them says nothing about other rows"
    )
    sentences = [
        f"{taught_in_words(count, name)}: {outcome}."
        for name, count in zip("AB", report["n_taught"])
        if count
    ]
    without = [name for name, sure in zip("AB", report["probabilities"]) if not sure]
    if len(without) == 2:
        sentences.append("The models have no probabilities: the numbers beside labels are scores.")
    if len(without) == 1:
        sentences.append(
            f"{without[0]} has no probabilities and gives its five best labels, the other chooses their "
            "number; pass -k to compare as many of both."
        )
    return sentences


def measure_cells(report: dict[str, Any]) -> list[tuple]:
    """Return the rows of the table of measures, below MEASURED."""
    return [(name, *_difference(facts)) for name, facts in report["measures"].items()]


def band_cells(report: dict[str, Any]) -> list[tuple]:
    """Return the rows of the table by frequency."""
    return [(band_name(band), band["labels"], *_difference(band)) for band in report["by_frequency"]]


def label_cells(report: dict[str, Any]) -> list[tuple]:
    """Return the rows of the table of labels, below LABEL_HEADER."""
    return [
        (
            one_line(label_name(label), 40),
            label["true"],
            ", ".join(map(str, label["predicted"])),
            ", ".join(map(str, label["right"])),
            *_difference(label, 2),
        )
        for label in report["labels"]
    ]


def _difference(facts, digits=4):
    low, high = facts["interval"]
    return (
        f"{facts['a']:.{digits}f}",
        f"{facts['b']:.{digits}f}",
        f"{facts['difference']:+.{digits}f}" + ("" if is_sure(facts) else " (?)"),
        f"{low:+.{max(3, digits - 1)}f} to {high:+.{max(3, digits - 1)}f}",
    )


def answer_text(labels: list[dict[str, Any]]) -> str:
    """Return an answer in one line: * marks wrong labels."""
    return join_labels(
        labels, lambda l: f"{'' if l['right'] else '*'}{label_name(l)} {l['value']:.2f}", limit=8
    )


def _row(row):
    text = f'<div class="text">{escape(one_line(row["text"], 600))}</div>' if "text" in row else ""
    true = escape(join_labels(row["true"], label_name))
    sides = "".join(
        f"<div>{name.upper()}, F1 {f1:.2f}: {join_labels(row[name], _coloured)}</div>"
        for name, f1 in zip("ab", row["F1"])
    )
    return (
        f'<b>row {row["row"]}</b>{text}<div class="true">true: {true}</div><div class="both">{sides}</div>'
    )


def _coloured(label):
    kind, mark = ("right", "") if label["right"] else ("wrong", "✗ ")
    return f'<span class="{kind}">{mark}{escape(label_name(label))} {label["value"]:.2f}</span>'


def draw_comparison(path: PathLike, report: dict[str, Any], title: str) -> None:
    """Draw the differences of the measures, of bands of labels, and of the labels that changed most."""
    figure = comparison_figure(report)
    figure.suptitle(visible(title), fontsize=11, x=0.01, ha="left", parse_math=False)
    save_figure(figure, path)


def comparison_figure(report: dict[str, Any]) -> Any:
    """Return the figure: B - A in points, with 95 % intervals."""
    from matplotlib.figure import Figure

    measures = list(report["measures"].items())
    bands = [(f"{band_name(b)} rows ({b['labels']})", b) for b in report["by_frequency"]]
    labels = [(one_line(label_name(label), 24), label) for label in report["labels"]]
    parts = [("Measures", measures), ("F1 by training rows (labels)", bands)]
    parts += [("F1 of labels that changed most", labels)] if labels else []
    tallest = max(len(own) for _, own in parts)
    figure = Figure(figsize=(4.1 * len(parts), 1.1 + 0.34 * tallest), layout="constrained", dpi=120)
    for axes, (title, own) in zip(np.atleast_1d(figure.subplots(1, len(parts))), parts):
        _draw_differences(axes, own)
        axes.set_title(title, **TITLE)
    return figure


def _draw_differences(axes, named):
    """Draw a point and its interval per entry, the first on top."""
    at = np.arange(len(named))[::-1]
    for y, (_, facts) in zip(at, named):
        low, high = (100 * end for end in facts["interval"])
        sure = is_sure(facts)
        colour = (BETTER if facts["difference"] > 0 else WORSE) if sure else UNSURE
        axes.plot([low, high], [y, y], color=colour, linewidth=2, solid_capstyle="round")
        axes.plot([100 * facts["difference"]], [y], "o", color=colour, markersize=5)
    axes.axvline(0, color="#bbbbbb", linewidth=1, zorder=0)
    axes.set_yticks(at, [visible(name) for name, _ in named], fontsize=8, parse_math=False)
    axes.set_ylim(-0.7, len(named) - 0.3)
    axes.set_xlabel("B - A, points", fontsize=9)
    axes.tick_params(axis="x", labelsize=8)
    hide_spines(axes)

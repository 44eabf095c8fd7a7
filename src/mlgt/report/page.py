"""An evaluation as one self-contained HTML page with pictures and tables."""

import io
from collections.abc import Callable
from typing import Any

from .._version import __version__
from .document import document, escape
from .pictures import coverage_figure, format_share, frequency_figure, reliability_figure

STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; color: #222; background: #f5f6f4; margin: 0; }
main { max-width: 66rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 0 0 .3rem; }
p { margin: .2rem 0 .8rem; color: #555; }
section, .card { background: #fff; border: 1px solid #dfe3dc; border-radius: 6px; padding: 1rem; }
section { margin-top: 1rem; overflow-x: auto; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .75rem; }
.cards { margin-top: 1rem; }
.card b { display: block; font-size: 1.6rem; line-height: 1.2; color: #1b7837; font-weight: 600; }
.card span { color: #555; font-size: .85rem; }
.side { display: grid; grid-template-columns: repeat(auto-fit, minmax(24rem, 1fr)); gap: 0 1rem; }
svg { max-width: 100%; height: auto; display: block; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: right; padding: .25rem .5rem; border-bottom: 1px solid #e8ebe6; vertical-align: top; }
th { color: #555; font-weight: 600; line-height: 1.25; vertical-align: bottom; }
th:first-child, td:first-child, .words td, .words th { text-align: left; overflow-wrap: break-word; }
td:not(:first-child) { font-variant-numeric: tabular-nums; }
.right { color: #1b7837; } .wrong { color: #b2182b; }
footer { margin-top: 1.5rem; color: #777; font-size: .85rem; }
@media (max-width: 30rem) { .side { grid-template-columns: 1fr; } }
"""
PICTURE_SIZE = (5.4, 3.9)  # inches


def evaluation_page(title: str, report: dict[str, Any]) -> str:
    """Return the page for a report of `mlgt evaluate --json`."""
    found = report["diagnosis"]
    parts = [_cards(report), _measures(report)]
    pictures = []
    if "coverage" in found:
        pictures += [
            _section(
                "Threshold of probability",
                "With a higher threshold, more of the kept labels are right, but fewer of the true labels "
                "are found.",
                _svg(coverage_figure(found["coverage"], PICTURE_SIZE), "coverage"),
            ),
            _section(
                "Calibration of the probabilities",
                "On the dashed line, probabilities are exact. The mean distance from it is "
                f"{report['calibration_error']:.4f}.",
                _svg(reliability_figure(calibration_table(found), PICTURE_SIZE), "reliability"),
            ),
        ]
    pictures.append(
        _section(
            "Rare and frequent labels",
            "Precision and recall of the predicted sets, by the number of training rows of a label.",
            _svg(frequency_figure(found["by_frequency"], PICTURE_SIZE), "frequency"),
        )
    )
    if "coverage" in found:
        pictures.append(_threshold_table(found["coverage"]))
    parts.append(f'<div class="side">{"".join(pictures)}</div>')
    parts += [_label_table(f"{end.title()} labels", found[f"{end}_labels"]) for end in ("worst", "best")]
    parts.append(_errors(found["errors"]))
    rows = f"{report['n']:,} rows, {report['n_unlabelled']:,} of them without labels."
    body = f"<h1>{escape(title)}</h1><p>{rows}</p>{''.join(parts)}<footer>mlgt {__version__}</footer>"
    return document(title, STYLE, body)


def _section(title, caption, body):
    return f"<section><h2>{escape(title)}</h2><p>{escape(caption)}</p>{body}</section>"


def _cards(report):
    captions = {
        "P@1": "P@1: share of the first labels that is right",
        "P@5": "P@5: share of the first five that is right",
        "nDCG@5": "nDCG@5: takes the order into account",
        "PSP@5": "PSP@5: rare labels count more",
        "F1": "F1 of the predicted sets",
        "labels_per_row": "predicted labels per row",
    }
    cards = "".join(
        f'<div class="card"><b>{report[name]:.{1 if name == "labels_per_row" else 3}f}</b>'
        f"<span>{escape(caption)}</span></div>"
        for name, caption in captions.items()
        if name in report
    )
    return f'<div class="cards">{cards}</div>'


def _measures(report):
    rows = measure_rows(report, lambda value, low, high: f"{value:.4f} ({low:.3f} to {high:.3f})")
    caption = "With 95 % bootstrap intervals over the rows. Rows without labels count as zero."
    return _section("All measures", caption, _table(("", "k = 1", "k = 3", "k = 5"), rows))


def measure_rows(report: dict[str, Any], cell: Callable[[float, float, float], str]) -> list[list[str]]:
    """Return a row per measure, with `cell(value, low, high)` for each k."""
    rows = []
    for name in ("P", "Pi", "nDCG", "PSP", "recall"):
        keys = [f"{name}@{k}" for k in (1, 3, 5)]
        rows.append([f"{name}@k", *(cell(report[key], *report["intervals"][key]) for key in keys)])
    return rows


def _threshold_table(rows):
    rows = [row for row in rows if round(row["threshold"] * 100) % 10 == 0 or row["threshold"] > 0.9]
    shares = ("precision", "recall", "rows")
    cells = [
        (
            f"{row['threshold']:.2f}",
            *(format_share(row[name]) for name in shares),
            f"{row['labels_per_row']:.2f}",
        )
        for row in rows
    ]
    header = ("threshold", "precision", "recall", "rows with a label", "labels per row")
    return _section("Thresholds", "What each threshold of probability keeps.", _table(header, cells))


def _label_table(title, labels):
    header = ("label", "true", "predicted", "right", "precision", "recall", "F1")
    rows = [
        (
            label_name(label),
            *(f"{label[name]:,}" for name in header[1:4]),
            *(format_share(label[name], 2) for name in header[4:]),
        )
        for label in labels
    ]
    caption = "Labels with at least five true rows, if there are enough, ordered by F1."
    return _section(title, caption, _table(header, rows))


def _errors(errors):
    rows = []
    for error in errors:
        predicted = join_labels(wrong_first(error["predicted"]), _coloured)
        missing = join_labels(error["missed"], lambda label: escape(label_name(label)))
        rows.append(f"<tr><td>{error['row']}</td><td>{predicted}</td><td>{missing}</td></tr>")
    body = '<table class="words"><tr><th>row</th><th>predicted</th><th>missed</th></tr>'
    caption = (
        "Rows (counted from 1) with the most confident wrong label. ✗ marks wrong labels, which come first."
    )
    return _section("Most confident errors", caption, f"{body}{''.join(rows)}</table>")


def _coloured(label):
    kind, mark = ("right", "") if label["right"] else ("wrong", "✗ ")
    return f'<span class="{kind}">{mark}{escape(label_name(label))} {label["score"]:.2f}</span>'


def label_name(label: dict[str, Any]) -> str:
    """Return the name of a label in a diagnosis, on one line, or its id."""
    return " ".join(label.get("name", str(label["id"])).split())


def wrong_first(predicted: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sort the predicted labels of an error: wrong ones first."""
    return sorted(predicted, key=lambda label: label["right"])


def join_labels(labels: list[Any], format: Callable[[Any], str] = str, limit: int = 10) -> str:
    """Join `format(label)` of the first labels with commas, and the number of the others."""
    shown = [format(label) for label in labels[:limit]]
    more = len(labels) - len(shown)
    return ", ".join([*shown, f"and {more} more"] if more else shown) or "-"


def _table(header, rows):
    tags = ["th", *["td"] * len(rows)]
    lines = (
        "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in line)
        for tag, line in zip(tags, [header, *rows])
    )
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def calibration_table(found: dict[str, Any]) -> list[tuple[float, float, int]]:
    """Return the calibration of a diagnosis as the table of `metrics.reliability`."""
    return [(bin["probability"], bin["right"], bin["labels"]) for bin in found["calibration"]]


def _svg(figure, salt):
    """Return the figure as SVG for a page; the same figure gives the same text."""
    import matplotlib

    out = io.StringIO()
    settings = {"svg.fonttype": "none", "svg.hashsalt": salt, "font.family": "sans-serif"}
    with matplotlib.rc_context(settings):
        figure.savefig(out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    return text[text.index("<svg") :]

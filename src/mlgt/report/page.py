"""An evaluation as one self-contained HTML page with pictures and tables."""

from collections.abc import Callable, Sequence
from typing import Any

from .._core.markup import escape
from .._version import __version__
from .document import PAGE_STYLE, document, section, svg, table
from .pictures import coverage_figure, format_share, frequency_figure, reliability_figure
from .words import in_words

PICTURE_SIZE = (5.4, 3.9)  # inches


def evaluation_page(title: str, report: dict[str, Any]) -> str:
    """Return the page for a report of `mlgt evaluate --json`."""
    found = report["diagnosis"]
    parts = [_words(report), _cards(report), _measures(report)]
    pictures = []
    if "coverage" in found:
        pictures += [
            section(
                "Threshold of probability",
                "With a higher threshold, more of the kept labels are right, but fewer of the true labels "
                "are found.",
                svg(coverage_figure(found["coverage"], PICTURE_SIZE), "coverage"),
            ),
            section(
                "Calibration of the probabilities",
                "On the dashed line, probabilities are exact. The mean distance from it is "
                f"{report['calibration_error']:.4f}.",
                svg(reliability_figure(calibration_table(found), PICTURE_SIZE), "reliability"),
            ),
        ]
    pictures.append(
        section(
            "Rare and frequent labels",
            "Precision and recall of the predicted sets, by the number of training rows of a label.",
            svg(frequency_figure(found["by_frequency"], PICTURE_SIZE), "frequency"),
        )
    )
    if "coverage" in found:
        pictures.append(_threshold_table(found["coverage"]))
    parts.append(f'<div class="side">{"".join(pictures)}</div>')
    parts += [_label_table(f"{end.title()} labels", found[f"{end}_labels"]) for end in ("worst", "best")]
    parts += [_confusions(found.get("confusions", ())), _errors(found["errors"])]
    rows = f"{report['n']:,} rows, {report['n_unlabelled']:,} of them without labels."
    body = f"<h1>{escape(title)}</h1><p>{rows}</p>{''.join(parts)}<footer>mlgt {__version__}</footer>"
    return document(title, PAGE_STYLE, body)


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


def _words(report):
    lines = "".join(f'<p class="say">{escape(line)}</p>' for line in in_words(report))
    return f"<section>{lines}</section>"


def _measures(report):
    rows = measure_rows(report, lambda value, low, high: f"{value:.4f} ({low:.3f} to {high:.3f})")
    caption = "With 95 % bootstrap intervals over the rows. Rows without labels count as zero."
    return section("All measures", caption, table(("", "k = 1", "k = 3", "k = 5"), rows))


def measure_rows(report: dict[str, Any], cell: Callable[[float, float, float], str]) -> list[list[str]]:
    """Return a row per measure, with `cell(value, low, high)` for each k, and the highest P@k there is."""
    rows = []
    for name in ("P", "Pi", "nDCG", "PSP", "recall"):
        keys = [f"{name}@{k}" for k in (1, 3, 5)]
        rows.append([f"{name}@k", *(cell(report[key], *report["intervals"][key]) for key in keys)])
        if name == "P" and "highest" in report:
            rows.append(["highest P@k", *(f"{report['highest'][key]:.4f}" for key in keys)])
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
    return section("Thresholds", "What each threshold of probability keeps.", table(header, cells))


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
    return section(title, caption, table(header, rows))


def _confusions(pairs):
    if not pairs:
        return ""
    caption = "Rows in which a true label is missed and another is given instead; and the other way round."
    return section(
        "Labels given instead of each other", caption, table(CONFUSED, confusion_rows(pairs), "words")
    )


CONFUSED = ("true label, missed", "given instead", "rows", "the other way round")


def confusion_rows(pairs: Sequence[dict[str, Any]]) -> list[tuple]:
    """Return the cells of the "confusions" of a diagnosis, below CONFUSED."""
    return [
        (label_name(pair["true"]), label_name(pair["predicted"]), pair["rows"], pair["reversed"])
        for pair in pairs
    ]


def _errors(errors):
    rows = []
    for error in errors:
        predicted = join_labels(wrong_first(error["predicted"]), _coloured)
        missing = join_labels(error["missed"], lambda label: escape(label_name(label)))
        text = f'<div class="text">{escape(one_line(error["text"], 500))}</div>' if "text" in error else ""
        rows.append(f"<tr><td>{error['row']}</td><td>{text}{predicted}</td><td>{missing}</td></tr>")
    body = '<table class="words"><tr><th>row</th><th>predicted</th><th>missed</th></tr>'
    caption = (
        "Rows (counted from 1) with the most confident wrong label. ✗ marks wrong labels, which come first."
    )
    return section("Most confident errors", caption, f"{body}{''.join(rows)}</table>")


def _coloured(label):
    kind, mark = ("right", "") if label["right"] else ("wrong", "✗ ")
    return f'<span class="{kind}">{mark}{escape(label_name(label))} {label["score"]:.2f}</span>'


def label_name(label: dict[str, Any]) -> str:
    """Return the name of a label in a diagnosis, on one line, or its id."""
    return " ".join(label.get("name", str(label["id"])).split())


def wrong_first(predicted: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sort the predicted labels of an error: wrong ones first."""
    return sorted(predicted, key=lambda label: label["right"])


def one_line(text: str, length: int) -> str:
    """Return a text on one line, cut after `length` characters."""
    text = " ".join(text.split())
    return text if len(text) <= length else text[: length - 3] + "..."


def join_labels(labels: list[Any], format: Callable[[Any], str] = str, limit: int = 10) -> str:
    """Join `format(label)` of the first labels with commas, and the number of the others."""
    shown = [format(label) for label in labels[:limit]]
    more = len(labels) - len(shown)
    return ", ".join([*shown, f"and {more} more"] if more else shown) or "-"


def calibration_table(found: dict[str, Any]) -> list[tuple[float, float, int]]:
    """Return the calibration of a diagnosis as the table of `metrics.reliability`."""
    return [(bin["probability"], bin["right"], bin["labels"]) for bin in found["calibration"]]

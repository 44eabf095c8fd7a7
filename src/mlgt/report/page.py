"""An evaluation as one HTML page that needs nothing beside it: style, pictures and tables are inside."""

import io
from html import escape

from .._version import __version__
from .document import document
from .pictures import as_share, coverage_figure, frequency_figure, reliability_figure

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


def evaluation_page(title, report):
    """The page of a report as `mlgt evaluate --json` prints it."""
    found = report["diagnosis"]
    parts = [_cards(report), _measures(report)]
    pictures = []
    if "coverage" in found:
        pictures += [
            _section(
                "How sure must it be?",
                "Keep only the labels of at least a probability: what is kept is right more often, but "
                "less is found.",
                _svg(coverage_figure(found["coverage"], (5.4, 3.9)), "coverage"),
            ),
            _section(
                "Do probabilities mean what they say?",
                f"On the dashed line they do; the mean distance is {report['calibration_error']:.4f}.",
                _svg(reliability_figure(_reliability_rows(found), (5.4, 3.9)), "reliability"),
            ),
        ]
    pictures.append(
        _section(
            "Rare labels and frequent ones",
            "The predicted sets, by how many training rows a label had.",
            _svg(frequency_figure(found["by_frequency"], (5.4, 3.9)), "frequency"),
        )
    )
    if "coverage" in found:
        pictures.append(_kept_table(found["coverage"]))
    parts.append(f'<div class="side">{"".join(pictures)}</div>')
    parts += [_label_table("Labels done worst", found["worst_labels"])]
    parts += [_label_table("Labels done best", found["best_labels"])]
    parts.append(_errors(found["errors"]))
    rows = f"{report['n']:,} rows, {report['n_unlabelled']:,} of them without labels."
    body = f"<h1>{escape(title)}</h1><p>{rows}</p>{''.join(parts)}<footer>mlgt {__version__}</footer>"
    return document(title, STYLE, body)


def _section(title, words, body):
    return f"<section><h2>{escape(title)}</h2><p>{escape(words)}</p>{body}</section>"


def _cards(report):
    shown = [("P@1", "of the first labels are right"), ("P@5", "of the first five are right")]
    shown += [("nDCG@5", "nDCG@5: right, and in order"), ("PSP@5", "PSP@5: rare labels count more")]
    cards = [(f"{report[name]:.3f}", words) for name, words in shown if name in report]
    if "F1" in report:
        cards.append((f"{report['F1']:.3f}", "F1 of the predicted sets"))
        cards.append((f"{report['labels_per_row']:.1f}", "labels predicted a row"))
    cells = (
        f'<div class="card"><b>{value}</b><span>{escape(words)}</span></div>' for value, words in cards
    )
    return f'<div class="cards">{"".join(cells)}</div>'


def _measures(report):
    rows = []
    for name in ("P", "Pi", "nDCG", "PSP", "recall"):
        cells = [f"{name}@k"]
        for k in (1, 3, 5):
            low, high = report["intervals"][f"{name}@{k}"]
            cells.append(f"{report[f'{name}@{k}']:.4f} ({low:.3f} to {high:.3f})")
        rows.append(cells)
    words = "With 95 % intervals over resampled rows. Rows without labels count as zero."
    return _section("All measures", words, _table(("", "k = 1", "k = 3", "k = 5"), rows))


def _kept_table(rows):
    rows = [row for row in rows if round(row["threshold"] * 100) % 10 == 0 or row["threshold"] > 0.9]
    cells = [
        (
            f"{row['threshold']:.2f}",
            *(as_share(row[name]) for name in ("precision", "recall", "rows")),
            f"{row['labels_per_row']:.2f}",
        )
        for row in rows
    ]
    header = ("at least", "right among kept", "true labels found", "rows with a label", "labels a row")
    return _section("The same in figures", "Choose a threshold by what it costs.", _table(header, cells))


def _label_table(title, labels):
    header = ("label", "true", "predicted", "right", "precision", "recall", "F1")
    rows = [
        (
            label_name(label),
            *(f"{label[name]:,}" for name in header[1:4]),
            *(as_share(label[name], 2) for name in header[4:]),
        )
        for label in labels
    ]
    words = "Labels with at least five true rows, where there are enough; ordered by F1."
    return _section(title, words, _table(header, rows))


def _errors(errors):
    rows = []
    for error in errors:
        predicted = told_labels(wrong_first(error["predicted"]), _coloured)
        missing = told_labels(error["missed"], lambda label: escape(label_name(label)))
        rows.append(f"<tr><td>{error['row']}</td><td>{predicted}</td><td>{missing}</td></tr>")
    body = '<table class="words"><tr><th>row</th><th>predicted</th><th>missed</th></tr>'
    words = (
        "The rows whose wrong label was thought most certain, counted from 1. ✗ is wrong, and comes first."
    )
    return _section("The surest errors", words, f"{body}{''.join(rows)}</table>")


def _coloured(label):
    kind, mark = ("right", "") if label["right"] else ("wrong", "✗ ")
    return f'<span class="{kind}">{mark}{escape(label_name(label))} {label["score"]:.2f}</span>'


def label_name(label):
    """A label of a diagnosis in words: its name, in one line, or its id."""
    return " ".join(label.get("name", str(label["id"])).split())


def wrong_first(predicted):
    return sorted(predicted, key=lambda label: label["right"])


def told_labels(labels, say, most=10):
    """Some labels in words, `say(label)` each: the first, and how many more there are."""
    words = [say(label) for label in labels[:most]]
    more = len(labels) - len(words)
    return ", ".join([*words, f"and {more} more"] if more else words) or "-"


def _table(header, rows):
    lines = [header, *rows]
    tags = ["th", *["td"] * len(rows)]
    return (
        "<table>"
        + "".join(
            "<tr>" + "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in line) + "</tr>"
            for tag, line in zip(tags, lines)
        )
        + "</table>"
    )


def _reliability_rows(found):
    return [(bin["probability"], bin["right"], bin["labels"]) for bin in found["calibration"]]


def _svg(figure, salt):
    """The figure as text to stand in a page; the same figure gives the same text."""
    import matplotlib

    out = io.StringIO()
    settings = {"svg.fonttype": "none", "svg.hashsalt": salt, "font.family": "sans-serif"}
    with matplotlib.rc_context(settings):
        figure.savefig(out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    return text[text.index("<svg") :]

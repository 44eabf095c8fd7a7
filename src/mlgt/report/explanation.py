"""An explanation as a page, and as tables of its arithmetic."""

from typing import Any

from .._core.markup import escape, marked_html
from .._version import __version__
from ..model.explain import Explanation, LabelReasons
from .document import PAGE_STYLE, document, section, table
from .page import join_labels

STYLE = PAGE_STYLE + ".text { line-height: 1.8; margin: .5rem 0 .8rem; }\n"


def explanation_page(title: str, found: Explanation, count: int = 6) -> str:
    """Return the page: for each label, the text with the words for and against it."""
    sections = []
    for label in found.labels:
        body = ""
        if found.text is not None:
            body = f'<div class="text">{marked_html(found.text, label.marks)}</div>'
        words = [
            (name, join_words(label, count, sign)) for name, sign in (("for it", 1), ("against it", -1))
        ]
        body += table(("", "words"), words, "words")
        sections.append(section(label.name, value_of(label), body))
    if found.labels:
        more = "".join(table(header, rows) for _, header, rows in arithmetic(found, count))
        sections.append(f"<section><details><summary>The arithmetic</summary>{more}</details></section>")
    else:
        sections.append("<p>The text has no word that the model knows.</p>")
    legend = "Words on green speak for the label, words on red, underlined, against it; strong ones more."
    head = f"<h1>{escape(title)}</h1><p>{escape(legend)}</p>"
    return document(title, STYLE, f"{head}{''.join(sections)}<footer>mlgt {__version__}</footer>")


def value_of(label: LabelReasons) -> str:
    """Return the probability of a label, or its score if it has none."""
    if label.probability is None:
        return f"score {label.score:.2f}"
    return f"probability {label.probability:.2f}"


def join_words(label: LabelReasons, count: int, sign: int) -> str:
    """Return the words with the largest shares for (1) or against (-1) a label, without numbers."""
    return ", ".join(word for word, _ in label.words_for(count, sign)) or "-"


def arithmetic(found: Explanation, count: int) -> list[tuple[str, tuple, list[tuple]]]:
    """Return (title, header, rows) of the tables of shares, of parts of the scores, and of groups."""
    calibrated = found.labels[0].probability is not None
    header: tuple[Any, ...] = ("label", "probability" if calibrated else "score")
    shares = [
        (
            label.name,
            f"{label.probability if calibrated else label.score:.3f}",
            _shares(label, count, 1),
            _shares(label, count, -1),
        )
        for label in found.labels
    ]
    tables = [
        (
            "Words and their shares of the margin",
            (*header, "words for it", "words against it"),
            shares,
        ),
        _score_table(found),
    ]
    if found.groups:
        groups = [
            (group.group, f"{group.margin:+.2f}", join_labels(list(group.labels), limit=6))
            for group in found.groups
        ]
        title = f"Groups with the largest margins, of {found.n_fired} that fired"
        tables.append((title, ("group", "margin", "labels in it"), groups))
    return tables


def _score_table(found):
    names = [f"+ {evidence.name}" for evidence in found.labels[0].evidence]
    rows = [
        (
            label.name,
            f"{label.margin:+.2f}",
            f"{label.n_fired} of {label.n_groups}",
            *(f"{evidence.contribution:+.2f}" for evidence in label.evidence),
            f"{label.intercept:+.2f}",
            f"{label.score:+.2f}",
        )
        for label in found.labels
    ]
    own = found.labels[0].by == "ranker" or found.labels[0].n_groups == 1
    title = f"Parts of the score; margins are those of the label's {'own classifier' if own else 'groups'}"
    return title, ("label", "margin", "groups fired", *names, "+ constant", "= score"), rows


def _shares(label, count, sign):
    """List the words, and the bias, with the largest shares for (1) or against (-1) a label."""
    shares = [*label.words, ("(bias)", label.bias)]
    chosen = sorted((share for share in shares if share[1] * sign > 0), key=lambda share: -abs(share[1]))
    return ", ".join(f"{name} {share:+.2f}" for name, share in chosen[:count])

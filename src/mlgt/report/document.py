"""Frame and parts of a self-contained HTML page."""

import io
from collections.abc import Sequence
from typing import Any

from .._core.markup import escape

PAGE_STYLE = """
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
.text { white-space: pre-wrap; overflow-wrap: anywhere; color: #333; }
.say { font-size: 1.05rem; color: #222; margin: .3rem 0; }
footer { margin-top: 1.5rem; color: #777; font-size: .85rem; }
@media (max-width: 30rem) { .side { grid-template-columns: 1fr; } }
"""
"""Style of the pages about models."""


def document(title: str, style: str, body: str) -> str:
    """Return the page; `style` is CSS, `body` is HTML, and the title is escaped."""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{style}</style></head><body><main>{body}</main></body></html>\n"
    )


def section(title: str, caption: str, body: str) -> str:
    """Return a section; title and caption are escaped, `body` is HTML."""
    return f"<section><h2>{escape(title)}</h2><p>{escape(caption)}</p>{body}</section>"


def table(header: Sequence[Any], rows: Sequence[Sequence[Any]], kind: str = "") -> str:
    """Return a table of escaped cells; the class `kind` is "words" for cells of text."""
    tags = ["th", *["td"] * len(rows)]
    lines = (
        "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in line)
        for tag, line in zip(tags, [header, *rows])
    )
    return f'<table class="{kind}">{"".join(f"<tr>{line}</tr>" for line in lines)}</table>'


def svg(figure: Any, salt: str) -> str:
    """Return a figure of matplotlib as SVG for a page; the same figure gives the same text."""
    import matplotlib

    out = io.StringIO()
    settings = {"svg.fonttype": "none", "svg.hashsalt": salt, "font.family": "sans-serif"}
    with matplotlib.rc_context(settings):
        figure.savefig(out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    return text[text.index("<svg") :]

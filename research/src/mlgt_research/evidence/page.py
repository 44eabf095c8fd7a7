"""All results as one HTML page that needs nothing else: style and pictures are inside it."""

import base64
import json
import re
from html import escape

from mlgt.report.document import document

from .claim import Claim
from .markdown import MAX_TABLE_ROWS, anchor, details, origin
from .record import Result
from .show import best_cells, filled, format_cell

STYLE = """
:root { --ink: #1d2a23; --soft: #5d6b63; --line: #dfe5e1; --paper: #fbfcfb; --green: #1b7837;
        --wash: #f1f6f2; }
* { box-sizing: border-box; }
body { margin: 0; color: var(--ink); background: var(--paper);
       font: 15px/1.55 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 28px 28px 80px; }
h1 { font-size: 30px; margin: 0 0 4px; } h2 { font-size: 22px; margin: 56px 0 8px; }
h3 { font-size: 16px; margin: 22px 0 6px; } p { max-width: 78ch; }
nav { display: flex; flex-wrap: wrap; gap: 6px; margin: 18px 0; }
nav a, .chip { font-size: 13px; padding: 2px 10px; border-radius: 12px; background: var(--wash);
               color: var(--green); text-decoration: none; white-space: nowrap; }
a { color: var(--green); }
.scroll { overflow-x: auto; margin: 10px 0; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 12px 4px 0; text-align: right; border-bottom: 1px solid var(--line);
         white-space: nowrap; }
th { font-weight: 600; color: var(--soft); vertical-align: bottom; }
th:first-child, td:first-child, .text { text-align: left; }
tr.paper td { color: var(--soft); font-style: italic; background: var(--wash); }
tr.paper td:first-child::after { content: " (printed)"; font-size: 11px; }
tr.group td { border-top: 2px solid var(--soft); }
td b { color: var(--green); }
td.wrap { white-space: normal; min-width: 220px; text-align: left; }
img { max-width: 100%; border: 1px solid var(--line); border-radius: 6px; margin: 8px 0;
      background: white; }
ul { padding-left: 20px; max-width: 90ch; } li { margin: 3px 0; }
.about { color: var(--soft); white-space: pre-line; }
.verdict { font-size: 12px; font-weight: 600; padding: 2px 10px; border-radius: 12px; white-space: nowrap; }
.confirmed { background: #d9efdd; color: #14562a; } .partly { background: #fdf0cd; color: #7a5300; }
.not-confirmed { background: #f9d9d6; color: #8c1d13; } .not-measured { background: #e7e7e7; color: #555; }
.claims td { white-space: normal; text-align: left; padding-right: 18px; vertical-align: top; }
.beside::marker { content: "· "; color: var(--soft); } .beside { color: var(--soft); }
.fails::marker { content: "✗ "; color: #8c1d13; } .holds::marker { content: "✓ "; color: var(--green); }
details { margin: 8px 0; } summary { cursor: pointer; color: var(--soft); }
pre { font-size: 12px; background: var(--wash); padding: 10px; overflow-x: auto; border-radius: 6px; }
.small { font-size: 12px; color: var(--soft); max-width: none; }
@media (max-width: 700px) { main { padding: 16px 12px 60px; } h1 { font-size: 24px; } }
"""


def render(
    title: str, introduction: str, claims: list[Claim], results: list[Result], pictures: dict[str, bytes]
) -> str:
    """The page; `pictures` are {result name: PNG bytes}."""
    names = {result.name: _short(result) for result in results}
    links = "".join(f'<a href="#{anchor(name)}">{escape(short)}</a>' for name, short in names.items())
    if claims:
        links = '<a href="#claims">the claims</a>' + links
    body = f"<h1>{escape(title)}</h1><p>{escape(introduction)}</p><nav>{links}</nav>"
    if claims:
        body += '<h2 id="claims">The paper\'s claims</h2>' + _claims(claims, names)
    for result in results:
        body += _result(result, pictures.get(result.name))
    return document(title, STYLE, body)


def _claims(claims, names):
    rows = "".join(
        f'<tr><td><a href="#{anchor(c.text)}">{escape(c.text)}</a></td><td>{escape(c.where)}</td>'
        f"<td>{_verdict(c)}</td><td>{c.count}</td></tr>"
        for c in claims
    )
    text = f'<div class="scroll"><table class="claims">{rows}</table></div>'
    for claim in claims:
        links = ", ".join(
            f'<a href="#{anchor(name)}">{escape(names[name])}</a>'
            for name in claim.results
            if name in names
        )
        checks = "".join(
            f'<li class="{"holds" if holds else "fails"}">{inline(sentence)}</li>'
            for holds, sentence in claim.checks
        )
        checks += "".join(f'<li class="beside">{inline(sentence)}</li>' for sentence in claim.notes)
        text += f'<h3 id="{anchor(claim.text)}">{escape(claim.text)} {_verdict(claim)}</h3>'
        text += f"<p>{inline(claim.remark)}</p><ul>{checks}</ul>"
        text += f'<p class="small">{escape(claim.where)}; from {links}</p>' if links else ""
    return text


def _short(result):
    """The title up to its colon, such as "Table 1", or the name of the folder."""
    return result.title.partition(":")[0] if ":" in result.title else result.name


def inline(text: str) -> str:
    """Text with `code` and *emphasis* as HTML."""
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
    return re.sub(r"(?<!\w)\*([^*]+)\*(?!\w)", r"<em>\1</em>", text)


def _verdict(claim):
    return f'<span class="verdict {claim.verdict.replace(" ", "-")}">{claim.verdict}</span>'


def _result(result, picture):
    quick = ' <span class="verdict partly">quick run</span>' if result.quick else ""
    text = f'<h2 id="{anchor(result.name)}">{escape(result.title)}{quick}</h2>'
    text += f'<p class="about">{inline(details(result.about))}</p>'
    if picture:
        data = base64.b64encode(picture).decode()
        text += f'<img alt="{escape(result.title)}" src="data:image/png;base64,{data}">'
    if result.notes:
        notes = "".join(f"<li>{inline(note)}</li>" for note in result.notes)
        text += f"<h3>Ours beside the paper</h3><ul>{notes}</ul>"
    for table in result.filled_tables:
        shown = _table(table)
        if len(table.rows) > MAX_TABLE_ROWS:
            summary = f"{len(table.rows)} rows: {escape(table.title)}"
            shown = f"<details><summary>{summary}</summary>{shown}</details>"
        elif len(result.tables) > 1:
            shown = f"<h3>{escape(table.title.capitalize())}</h3>{shown}"
        text += shown
    settings = escape(json.dumps({"settings": result.config, "data": result.provenance["data"]}, indent=1))
    text += f"<details><summary>settings and checksums</summary><pre>{settings}</pre></details>"
    return text + f'<p class="small">{escape(origin(result))}</p>'


def _table(table):
    columns, best = filled(table), best_cells(table)
    head = ""
    for column in columns:
        words = any(isinstance(row.get(column.name), str) for row in table.rows)
        head += f"<th{' class=text' if words else ''}>{escape(column.name)}</th>"
    rows, before = "", None
    for i, row in enumerate(table.rows):
        group = tuple(row.get(name) for name in table.by[:1])
        kind = f"{'paper' if row['source'] != 'ours' else ''}{' group' if i and group != before else ''}"
        before = group
        cells = "".join(_cell(row.get(c.name), c, (i, c.name) in best) for c in columns)
        rows += f'<tr class="{kind.strip()}">{cells}</tr>'
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _cell(cell, column, best):
    text = escape(format_cell(cell, column))
    kind = (" class=wrap" if len(text) > 40 else " class=text") if isinstance(cell, str) else ""
    return f"<td{kind}>{f'<b>{text}</b>' if best else text}</td>"

"""Results as Markdown, for the docs: the same tables as on the page."""

from .claim import Claim
from .record import Result, Table
from .show import best_cells, filled, format_cell

MAX_TABLE_ROWS = 60
"""Tables with more rows are left to the JSON, or folded on the page."""


def claims_markdown(claims: list[Claim]) -> str:
    lines = ["| claim | where | verdict | |", "|---|---|---|---|"]
    lines += [
        f"| [{c.text}](#{anchor(c.text)}) | {c.where} | **{c.verdict}** | {c.count} |" for c in claims
    ]
    text = "\n".join(lines) + "\n"
    for claim in claims:
        text += (
            f"\n### {claim.text}\n\n*{claim.where}.* **{claim.verdict.capitalize()}.** {claim.remark}\n\n"
        )
        for holds, sentence in claim.checks:
            text += f"- {'holds' if holds else '**does not hold**'}: {sentence}\n"
        for sentence in claim.notes:
            text += f"- beside: {sentence}\n"
        if claim.results:
            text += f"\nFrom {', '.join(f'[{name}](#{anchor(name)})' for name in claim.results)}.\n"
    return text


def anchor(title: str) -> str:
    """The anchor that the usual converters make from a heading."""
    kept = "".join(letter for letter in title.lower() if letter.isalnum() or letter in " -_")
    return kept.replace(" ", "-")


def result_markdown(result: Result, picture: str | None = None) -> str:
    """One result: heading, description, picture, tables, differences, origin."""
    quick = " (a quick run, to see that it works)" if result.quick else ""
    text = f"### {result.name}\n\n**{result.title}.**{quick}\n\n{details(result.about)}\n"
    if picture:
        text += f"\n![{result.title}]({picture})\n"
    for table in [part for whole in result.filled_tables for part in parts(whole)]:
        if len(table.rows) <= MAX_TABLE_ROWS:
            title = f"{table.title[0].upper()}{table.title[1:]}:\n\n" if len(result.tables) > 1 else ""
            text += f"\n{title}{table_markdown(table)}\n"
        else:
            text += f"\nThe {len(table.rows)} rows of the table *{table.title}* are in its results.json.\n"
    if result.notes:
        text += "\nOurs beside the paper:\n\n" + "".join(f"- {note}\n" for note in result.notes)
    return text + f"\n<small>{origin(result)}</small>\n"


def parts(table: Table) -> list[Table]:
    """The table, or if it is long and its best is judged per value of one column, a table per value."""
    if len(table.rows) <= MAX_TABLE_ROWS or len(table.by) != 1:
        return [table]
    (name,) = table.by
    columns = [column for column in table.columns if column.name != name]
    values = dict.fromkeys(row[name] for row in table.rows)
    return [
        Table(f"{table.title}, {value}", columns, [row for row in table.rows if row[name] == value])
        for value in values
    ]


def details(about: str) -> str:
    """Paragraphs after the first, which repeats the title, without their line breaks."""
    parts = [part.replace("\n", " ") for part in about.split("\n\n")]
    return "\n\n".join(parts[1:] or parts)


def table_markdown(table: Table) -> str:
    columns, best = filled(table), best_cells(table)
    lines = ["| " + " | ".join(column.name for column in columns) + " |", "|---" * len(columns) + "|"]
    for i, row in enumerate(table.rows):
        cells = []
        for column in columns:
            text = format_cell(row.get(column.name), column)
            text = f"**{text}**" if (i, column.name) in best else text
            cells.append(f"*{text}*" if text and row["source"] != "ours" else text)
        lines.append("| " + " | ".join(cells) + " |")
    note = (
        "\n\nIn italics: as printed in the paper." if any(r["source"] != "ours" for r in table.rows) else ""
    )
    return "\n".join(lines) + note


def origin(result: Result) -> str:
    """Versions, machine and cost of a run in one line."""
    found = result.provenance
    packages = ", ".join(f"{name} {version}" for name, version in found["packages"].items())
    spent = f"; {found['cpu_seconds']:,.0f} CPU s" if found.get("cpu_seconds") else ""
    n = result.config.get("trials")
    trials = f"{n} trial{'s' if n > 1 else ''}; " if n else ""
    date = f"{found['date']}; " if found.get("date") else ""
    kept = "".join(f"; {name} as run on {day}" for name, day in found.get("kept", {}).items())
    return f"{trials}{date}Python {found['python']}, {packages}; {found['machine']}{spent}{kept}."

"""Tables of results as text: cells rounded, trials as mean and spread, the best of each group found."""

import statistics
from typing import Any

from .record import Column, Table, average, deviation


def format_cell(cell: Any, column: Column) -> str:
    """`.7354 ±.0080` for trials and for intervals, `3.1 (2.8 to 3.4)` for ratios."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, dict):
        half = (cell["high"] - cell["low"]) / 2
        return f"{rounded(cell['value'], column.digits)} ±{rounded(half, column.digits)}"
    if column.ratio and isinstance(cell, list):
        low, high = (rounded(f(cell), column.digits) for f in (min, max))
        middle = rounded(statistics.median(cell), column.digits)
        return middle if low == high else f"{middle} ({low} to {high})"
    text = rounded(average(cell), column.digits)
    spread = deviation(cell)
    return f"{text} ±{rounded(spread, column.digits)}" if spread else text


def rounded(value: float, digits: int | None) -> str:
    """Shares lose their leading zero; counts get commas."""
    if digits is None or digits == 0:
        return f"{value:,.0f}" if float(value).is_integer() or digits == 0 else f"{value:g}"
    text = f"{value:,.{digits}f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def best_cells(table: Table) -> set[tuple[int, str]]:
    """{(row number, column name)} of the best of our figures in each group of rows."""
    found = set()
    groups: dict[tuple, list[int]] = {}
    for i, row in enumerate(table.rows):
        if row["source"] == "ours":
            groups.setdefault(tuple(row.get(name) for name in table.by), []).append(i)
    for column in table.columns:
        if not column.better:
            continue
        sign = 1 if column.better == "high" else -1
        for members in groups.values():
            values = {i: average(table.rows[i].get(column.name)) for i in members}
            values = {i: round(v, column.digits or 0) for i, v in values.items() if v is not None}
            if len(values) > 1:
                top = max(values.values(), key=lambda v: sign * v)
                found |= {(i, column.name) for i, v in values.items() if v == top}
    return found


def filled(table: Table) -> list[Column]:
    """The columns with at least one cell."""
    return [c for c in table.columns if any(row.get(c.name) is not None for row in table.rows)]


def plain_table(table: Table) -> tuple[list[str], list[list[str]]]:
    """(header, rows) of text; a column says which rows the paper printed."""
    columns = filled(table)
    header = [column.name for column in columns]
    rows = [[format_cell(row.get(c.name), c) for c in columns] for row in table.rows]
    if any(row["source"] != "ours" for row in table.rows):
        header.insert(1, "whose")
        for cells, row in zip(rows, table.rows):
            cells.insert(1, row["source"])
    return header, rows

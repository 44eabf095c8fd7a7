"""Cells as text, and which of them are best."""

import pytest

from mlgt_research.evidence.markdown import parts, result_markdown, table_markdown
from mlgt_research.evidence.record import Column, Result, Table, read_result, write_result
from mlgt_research.evidence.show import best_cells, format_cell


@pytest.mark.parametrize(
    ("cell", "column", "text"),
    [
        (None, Column("x"), ""),
        ("hard", Column("x"), "hard"),
        (12914, Column("x"), "12,914"),
        (0.73541, Column("x", digits=4), ".7354"),
        ([0.7, 0.8], Column("x", digits=3), ".750 ±.071"),
        ([0.7, 0.7], Column("x", digits=3), ".700"),
        ([2.0, 1.0, 4.0], Column("x", digits=1, ratio=True), "2.0 (1.0 to 4.0)"),
        ({"value": 0.5, "low": 0.45, "high": 0.57}, Column("x", digits=2), ".50 ±.06"),
        (-0.36, Column("x", digits=2), "-.36"),
    ],
)
def test_cells(cell, column, text):
    assert format_cell(cell, column) == text


def test_the_best_is_judged_among_our_rows_of_a_group():
    columns = [Column("data"), Column("method"), Column("P@1", "high", 3), Column("s", "low", 1)]
    table = Table("t", columns, by=("data",))
    table.add(data="a", method="x", **{"P@1": [0.5, 0.7], "s": 3.0})
    table.add(data="a", method="y", **{"P@1": 0.6, "s": 2.0})
    table.add("paper", data="a", method="z", **{"P@1": 0.9, "s": 1.0})
    table.add(data="b", method="x", **{"P@1": 0.1})
    assert best_cells(table) == {(0, "P@1"), (1, "P@1"), (1, "s")}


def test_a_long_table_has_a_part_per_data_set():
    table = Table("t", [Column("data"), Column("x", "high", 1)], by=("data",))
    for number in range(35):
        table.add(data="A", x=float(number))
        table.add(data="B", x=1.0)
    assert [(part.title, len(part.rows)) for part in parts(table)] == [("t, A", 35), ("t, B", 35)]
    assert "| **34.0** |" in table_markdown(parts(table)[0])
    table.by = ("data", "x")
    assert parts(table) == [table]


def test_a_result_survives_its_file(tmp_path):
    table = Table("t", [Column("a", "high", 3)], by=("a",))
    table.add(a=[0.1, 0.2])
    result = Result("n", "title", "about", [table], ["note"], {"m": 3}, {"data": {}})
    write_result(tmp_path / "n", result)
    assert read_result(tmp_path / "n" / "results.json") == result


def test_a_table_without_rows_is_not_shown():
    full, empty = Table("figures", [Column("a", "high", 3)]), Table("differences", [Column("a")])
    full.add(a=0.25)
    origin = {"data": {}, "python": "3", "packages": {}, "machine": "m", "date": "d", "cpu_seconds": 1.0}
    text = result_markdown(Result("n", "title", "about", [full, empty], [], {}, origin))
    assert ".250" in text
    assert "Differences" not in text

"""Add the systems of one run of `mlgt bench` to the result of another on the same data."""

from dataclasses import replace

from mlgt._core.errors import DataFormatError

from ..evidence.record import Result, Table


def add_to(old: Result, new: Result) -> Result:
    """The old result with the systems of the new one; a system that is in both has the new figures.

    The first system runs in both, so that ratios and differences are to its figures in the same run. Its
    own rows stay the old ones.
    """
    if old.provenance["data"] != new.provenance["data"]:
        raise DataFormatError(
            f"{old.name} has results of other data than this run; expected the same files. Write to "
            "another folder with --out, or leave out --add."
        )
    first = old.tables[0].rows[0]["system"]
    tables = [_joined(table, new.table(table.title), first) for table in old.tables]
    names = list(dict.fromkeys([*old.config["systems"], *new.config["systems"]]))
    seconds = old.provenance["cpu_seconds"] + new.provenance["cpu_seconds"]
    return replace(
        new,
        tables=tables,
        config={**new.config, "systems": names},
        provenance={**new.provenance, "cpu_seconds": round(seconds, 1)},
    )


def _joined(old: Table, new: Table, first: str) -> Table:
    rows = {row["system"]: row for row in old.rows}
    rows |= {row["system"]: row for row in new.rows if row["system"] != first}
    return replace(old, columns=new.columns, rows=list(rows.values()))

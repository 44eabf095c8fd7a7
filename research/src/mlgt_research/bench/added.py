"""Lines of systems that an earlier run of `mlgt bench` on the same files has, beside those of this run.

A line keeps its figures and the date of its run. Ratios to the first system and row-by-row differences are
left out where a line and the first system were not measured in the same run.
"""

from pathlib import Path

from ..evidence.record import Result, read_result


def read_earlier(folder: str | Path, checksums: dict[str, dict[str, str]]) -> Result:
    """The result in a folder; raises ValueError if it is not of the files with these checksums."""
    path = Path(folder) / "results.json"
    old = read_result(path)
    if old.provenance["data"] != checksums:
        raise ValueError(f"{path} is of other files than these; write to another folder.")
    return old


def add_lines(new: Result, old: Result) -> Result:
    """`new` with the lines of `old` that it does not have, in the order of `old`."""
    measured = {row["system"] for row in new.table("systems").rows}
    titles = [row["system"] for row in old.table("systems").rows]
    kept = [title for title in titles if title not in measured]
    for name in ("quality", "cost", "systems"):
        table = new.table(name)
        rows = {row["system"]: row for row in old.table(name).rows if row["system"] in kept}
        for row in [*rows.values(), *(table.rows if titles[0] in kept else [])]:
            row.update({column.name: None for column in table.columns if column.ratio})
        table.rows = _ordered(rows | {row["system"]: row for row in table.rows}, titles)
    if titles[0] in kept:
        new.table("difference to the first").rows.clear()
    earlier = old.provenance.get("kept", {})
    dates = {title: earlier.get(title, old.provenance["date"]) for title in kept}
    new.provenance["kept"] = dates | new.provenance.get("kept", {})
    new.config["systems"] = list(dict.fromkeys([*old.config["systems"], *new.config["systems"]]))
    return new


def _ordered(rows, titles):
    """Those of the old table in its order, then the others."""
    return [rows[title] for title in dict.fromkeys([*titles, *rows]) if title in rows]

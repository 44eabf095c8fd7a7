"""Run one experiment by name and write its result."""

import inspect
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from ..evidence.record import Result, Table, cpu_seconds, provenance, read_result, write_result
from . import EXPERIMENTS
from .sources import STAND_IN, Data


def find(name: str) -> Any:
    """The module of an experiment."""
    if name not in EXPERIMENTS:
        raise ValueError(f"there is no experiment {name!r}; choose one of {', '.join(EXPERIMENTS)}.")
    return import_module(f".{name.replace('-', '_')}", __package__)


def stand_ins(names: Iterable[str]) -> list[str]:
    """A note on the data sets that are synthetic stand-ins, if there are any."""
    found = [name for name in names if name.endswith(STAND_IN)]
    if not found:
        return []
    return [
        "Synthetic stand-ins that `mlgt synth` made, of the sizes of the paper's data sets: "
        f"{', '.join(found)}. Their figures compare with each other, not with the printed ones."
    ]


def keep_stand_ins(tables: list[Table], old: Result, loaded: Iterable[str]) -> list[str]:
    """Add the old rows of stand-ins that are not at hand to the tables; returns the stand-ins' names."""
    kept: dict[str, None] = {}
    for table in tables:
        before = [other for other in old.tables if other.title == table.title]
        for row in before[0].find() if before else []:
            name = row.get("data", "")
            if name.endswith(STAND_IN) and name not in loaded:
                table.rows.append(row)
                kept[name] = None
    return list(kept)


def reproduce(
    name: str,
    *,
    folder: str | None = None,
    out: str | Path = "results",
    quick: bool = False,
    quiet: bool = False,
    keep: str | Path | None = None,
) -> Result:
    """Run an experiment and write OUT/NAME/results.json and figure.png; returns the `Result`.

    Rows of stand-ins that OUT has and that are not at hand now are kept, with the date of their run.
    """
    module = find(name)
    data = Data(folder, quick, quiet, keep)
    config = module.QUICK if quick else module.FULL
    began = cpu_seconds()
    tables = module.run(config, data)
    origin = provenance(data.checksums, cpu_seconds() - began) | {"seeds": "trial t has seed t"}
    if keep is not None:
        origin.pop("cpu_seconds")  # kept answers took theirs in another run
    if not quick and (path := Path(out) / name / "results.json").exists():
        old = read_result(path)
        names = keep_stand_ins(tables, old, data.checksums)
        earlier = old.provenance.get("kept", {})
        origin["kept"] = {n: earlier.get(n, old.provenance["date"]) for n in names}
        origin["data"] |= {n: old.provenance["data"][n] for n in names}
    result = Result(
        name=name,
        title=f"{module.PAPER}: {EXPERIMENTS[name].split(': ', 1)[-1]}",
        about=inspect.cleandoc(module.__doc__),
        tables=tables,
        notes=module.differs(tables) + stand_ins(origin["data"]),
        config=config,
        provenance=origin,
        quick=quick,
    )
    write_result(Path(out) / name, result, module.draw)
    return result

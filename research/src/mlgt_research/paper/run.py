"""Run one experiment by name and write its result."""

import inspect
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from ..evidence.record import Result, Table, cpu_seconds, provenance, read_result, write_result
from . import EXPERIMENTS
from .sources import STAND_IN, Data
from .systems import keep_rows


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
        "Synthetic stand-ins that `mlgt synth` made, of the sizes of the paper's data sets or a tenth: "
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


def narrowed(config: dict[str, Any], systems: Iterable[str] | None, on: Iterable[str] | None) -> dict:
    """The configuration of an experiment on systems, with these systems and data sets only."""
    wanted = config["data"]
    if not isinstance(wanted, dict) or not all(isinstance(options, dict) for options in wanted.values()):
        raise ValueError("only the experiments methods and standard take systems and data sets to run.")
    known = {*wanted, *(one for options in wanted.values() for one in options)}
    unknown = sorted({*(systems or ()), *(on or ())} - known)
    if unknown:
        raise ValueError(f"the experiment has no system or data set {', '.join(unknown)}.")
    chosen = {
        name: {one: given for one, given in options.items() if systems is None or one in systems}
        for name, options in wanted.items()
        if on is None or name in on
    }
    return config | {"data": {name: options for name, options in chosen.items() if options}}


def reproduce(
    name: str,
    *,
    folder: str | None = None,
    out: str | Path = "results",
    quick: bool = False,
    quiet: bool = False,
    keep: str | Path | None = None,
    systems: Iterable[str] | None = None,
    on: Iterable[str] | None = None,
) -> Result:
    """Run an experiment and write OUT/NAME/results.json and figure.png; returns the `Result`.

    Rows of stand-ins that OUT has and that are not at hand now are kept, with the date of their run. With
    `systems` or `on` only these systems and data sets are run, and all other rows are kept.
    """
    module = find(name)
    data = Data(folder, quick, quiet, keep)
    config = module.QUICK if quick else module.FULL
    began = cpu_seconds()
    part = systems is not None or on is not None
    tables = module.run(narrowed(config, systems, on) if part else config, data)
    origin = provenance(data.checksums, cpu_seconds() - began) | {"seeds": "trial t has seed t"}
    if keep is not None:
        origin.pop("cpu_seconds")  # kept answers took theirs in another run
    if not quick and (path := Path(out) / name / "results.json").exists():
        old = read_result(path)
        names = keep_rows(tables, old) if part else keep_stand_ins(tables, old, data.checksums)
        earlier = old.provenance.get("kept", {})
        origin["kept"] = {
            f"{n}, other systems" if n in data.checksums else n: earlier.get(n, old.provenance["date"])
            for n in names
        }
        origin["data"] = {n: old.provenance["data"][n] for n in names} | origin["data"]
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

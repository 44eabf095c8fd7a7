"""Run systems in turn, each repeat in a process of its own, and make tables of their answers."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from ..evidence.record import Column, Table, average, deviation, installed
from . import DAMPENED, GROUPS, INSTALL, SYSTEMS, find_system, title_of
from .estimate import tell_estimate
from .kept import TookTooLong, kept_answer
from .worker import PAIRED, texts_beside, words_beside

THREADS = ("OMP", "OPENBLAS", "MKL", "NUMBA", "RAYON", "NUMEXPR")
QUALITY = [f"{measure}@{k}" for measure in ("P", "Pi", "nDCG", "PSP") for k in (1, 3, 5)]
COSTS = {
    "train wall": "training wall s",
    "train CPU": "training CPU s",
    "ms batch": "CPU ms a row, batch",
    "ms single": "CPU ms a row, single",
    "peak MB": "peak MB",
    "before MB": "of it before training",
    "model MB": "model MB",
}
TIMED = ("train CPU", "ms batch", "ms single")
MAX_REASON_LENGTH = 300
SIGXCPU = 24
"""The signal that ends a process at its limit of CPU time."""
WORD_READERS = ("fast_text", "extreme_text")
"""Modules of systems that read words without their values."""


@dataclass
class SystemRun:
    """The answers of one system, or why it failed."""

    name: str
    options: dict[str, Any]
    answers: list[dict[str, Any]] = field(default_factory=list)
    failure: str = ""

    @property
    def title(self) -> str:
        return title_of(self.name)

    @property
    def version(self) -> str | None:
        return installed(find_system(self.name).package)

    @property
    def kept(self) -> str:
        """The day of an earlier run whose answer this is; empty if it was measured now."""
        return self.answers[0].get("kept", "") if self.answers else ""

    def figures(self, name: str) -> list:
        """One number per repeat."""
        return [answer["figures"][name] for answer in self.answers]

    def quality(self, name: str) -> list[float]:
        return [answer["quality"][name] for answer in self.answers]


def check_systems(names: Iterable[str], dampen: bool = False) -> list[str]:
    """The names with groups written out; with `dampen`, every peer also on dampened rows."""
    listed = [one for name in names for one in GROUPS.get(name, (name,))]
    for name in listed:
        if name.removesuffix(DAMPENED) not in SYSTEMS:
            known = ", ".join([*SYSTEMS, *GROUPS])
            raise ValueError(f"there is no system {name!r}; choose among {known}.")
    if dampen:
        listed = [one for name in listed for one in (name, name.removesuffix(DAMPENED) + DAMPENED)]
        listed = [name for name in listed if name == "mlgt" or not _reads_no_values(name)]
    return list(dict.fromkeys(listed))


def _reads_no_values(name):
    """True for a dampened name whose system does not see the values of rows, or dampens them itself."""
    system = find_system(name)
    return name.endswith(DAMPENED) and (system.texts or system.module in ("ours", *WORD_READERS))


def run_systems(
    train: Path, test: Path, wanted: Mapping[str, dict], *, repeats: int = 3, threads: int = 1,
    timeout: float | None = None, cpu_limit: float | None = None, once_above: float | None = None,
    resamples: int = 1000, keep: str | Path | None = None, every: int | None = None,
    say: Callable[[str], Any] = print,
) -> list[SystemRun]:  # fmt: skip
    """[SystemRun] of {name: options}; a repeat is one round of all, with the repeat's number as seed.

    A system that used more than `cpu_limit` CPU seconds is stopped, one whose training took more than
    `once_above` CPU seconds is not repeated. Answers are kept in the folder `keep`, see `.kept`. With
    `every`, one-vs-all systems train only every so-many-th label, for an estimate.
    """
    runs = [SystemRun(name, {**find_system(name).options, **options}) for name, options in wanted.items()]
    for run in runs:
        if reason := why_not(run, train):
            run.failure = reason
            say(f"{run.title} is left out: {reason}")
    for repeat in range(repeats):
        for run in runs:
            slow = once_above is not None and any(s > once_above for s in run.figures("train CPU"))
            if not run.failure and not slow:
                say(f"{run.title}, {repeat + 1} of {repeats}")
                request = {
                    "system": run.name, "options": wanted[run.name], "train": str(train), "test": str(test),
                    "threads": threads, "seed": repeat, "resamples": resamples if repeat == 0 else 0,
                    "cpu_limit": cpu_limit, "timeout": timeout,
                }  # fmt: skip
                if every and find_system(run.name).per_label:
                    request["every"] = every
                ask = partial(run_worker, request, threads, timeout)
                try:
                    answer = kept_answer(keep, request, ask)
                    if "estimate" in answer:
                        run.failure = tell_estimate(answer["estimate"])
                    else:
                        run.answers.append(answer)
                except RuntimeError as error:
                    run.failure = f"failed: {error}"
                    say(f"{run.title} {run.failure}")
    return runs


def why_not(run: SystemRun, train: Path) -> str:
    """Why a system cannot run on this data; empty if it can."""
    if run.version is None:
        return f"not installed: {INSTALL}"
    beside = texts_beside(train), words_beside(train)
    if find_system(run.name).texts and not any(path.exists() for path in beside):
        wanted = " or ".join(path.name for path in beside)
        return f"it reads texts, and there is no {wanted} beside {train.name}"
    return ""


def run_worker(request: dict[str, Any], threads: int, timeout: float | None = None) -> dict[str, Any]:
    """The answer of one worker."""
    environment = os.environ | {f"{library}_NUM_THREADS": str(threads) for library in THREADS}
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        try:
            done = subprocess.run(
                [sys.executable, "-m", "mlgt_research.bench.worker"],
                input=json.dumps({**request, "answer": str(answer)}),
                capture_output=True, text=True, env=environment, timeout=timeout,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise TookTooLong(f"it took more than {timeout:g} seconds") from None
        if done.returncode == -SIGXCPU:
            raise TookTooLong(f"it took more than {request['cpu_limit']:g} CPU seconds")
        lines = done.stderr.strip().splitlines()
        if done.returncode < 0:
            said = f": {lines[-1].strip()[:MAX_REASON_LENGTH]}" if lines else ""
            raise RuntimeError(f"it was ended by signal {-done.returncode}{said}")
        if done.returncode or not answer.exists():
            raise RuntimeError((lines or [f"exit status {done.returncode}"])[-1][:MAX_REASON_LENGTH])
        return json.loads(answer.read_text())


def make_tables(runs: list[SystemRun], repeats: int) -> list[Table]:
    """Quality with intervals, cost with ratios to the first system that ran, and the systems."""
    done = [run for run in runs if run.answers]
    quality = Table("quality", [Column("system"), *(Column(name, "high", 3) for name in QUALITY)])
    for run in done:
        quality.add(system=run.title, **{name: _interval(run, name) for name in QUALITY})
    cost = Table("cost", [Column("system")])
    for name, title in COSTS.items():
        better = "" if name == "before MB" else "low"
        cost.columns.append(Column(title, better, 3 if name.startswith("ms") else 1))
        if name in TIMED:
            cost.columns.append(Column(f"{title}, ratio", "", 2, ratio=True))
    for run in done:
        cells: dict[str, Any] = {}
        for name, title in COSTS.items():
            figures = run.figures(name)
            cells[title] = None if None in figures else figures
            if name in TIMED and run is not done[0] and run.kept == done[0].kept:
                cells[f"{title}, ratio"] = _ratios(figures, done[0].figures(name))
        cost.add(system=run.title, **cells)
    setup = Table("systems", [Column("system"), Column("version"), Column("options"), Column("repeats")])
    setup.columns.append(Column("remark"))
    for run in runs:
        options = ", ".join(f"{name}={value}" for name, value in run.options.items()) or "defaults"
        remark = run.failure or find_system(run.name).note or None
        ran = f"{len(run.answers)} of {repeats}"
        setup.add(system=run.title, version=run.version, options=options, repeats=ran, remark=remark)
    return [quality, paired(done), cost, setup]


def _ratios(figures, first):
    """Of the same round; the shorter list counts, because slow systems run once. None if not measured."""
    pairs = list(zip(figures, first))
    return [ours / theirs for ours, theirs in pairs] if all(map(all, pairs)) else None


def paired(done: list[SystemRun]) -> Table:
    """P@k minus that of the first system on the same test rows, with 95 % intervals; first repeat only."""
    table = Table("difference to the first", [Column("system"), *(Column(f"P@{k}", "", 3) for k in PAIRED)])
    for run in done[1:]:
        cells = {}
        for k in map(str, PAIRED):
            rows = np.subtract(*(one.answers[0]["P@k of rows"][k] for one in (run, done[0])))
            half = 1.96 * rows.std() / np.sqrt(len(rows))
            cells[f"P@{k}"] = {"value": rows.mean(), "low": rows.mean() - half, "high": rows.mean() + half}
        table.add(system=run.title, **cells)
    return table


def _interval(run, name):
    """Mean and standard deviation over the repeats; the first one's 95 % interval over the test rows."""
    repeats = run.quality(name)
    first = run.answers[0]["quality"]
    low, high = first.get("intervals", {}).get(name, (first[name], first[name]))
    return {"value": average(repeats), "low": low, "high": high, "spread": deviation(repeats)}


def draw(figure: Any, tables: list[Table]) -> None:
    """P@1 and P@5 against the cost of training."""
    from matplotlib.ticker import LogLocator, NullFormatter

    quality, _, cost, _ = tables
    figure.set_size_inches(10.5, 4)
    for axes, name in zip(figure.subplots(1, 2), ("P@1", "P@5")):
        for judged, paid, sign in zip(quality.rows, cost.rows, cycle("Dosv^<>PX*phd")):
            cell, seconds = judged[name], average(paid["training CPU s"])
            bars = [[max(0, cell["value"] - cell["low"])], [max(0, cell["high"] - cell["value"])]]
            own = {"color": "#1b7837"} if judged["system"] == "mlgt" else {}
            axes.errorbar(seconds, cell["value"], bars, fmt=sign, capsize=2, label=judged["system"], **own)
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.margins(x=0.15)
        axes.set(xlabel="training, CPU s", ylabel=name)
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right center", frameon=False, fontsize=9)

"""The picture of docs/benchmarks.md: P@5 against each cost, all systems and data sets."""

import math
import statistics
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

STYLES = {
    "mlgt": ("#1b7837", "*"),
    "omikuji Parabel": ("#2166ac", "s"),
    "omikuji Bonsai": ("#67a9cf", "s"),
    "PECOS XR-Linear": ("#b2182b", "^"),
    "PECOS one-vs-all": ("#ef8a62", "^"),
    "napkinXC PLT": ("#762a83", "D"),
    "napkinXC one-vs-all": ("#c2a5cf", "D"),
    "fastText": ("#666666", "v"),
    "fastText, lr .1": ("#666666", "^"),
    "fastText, softmax tree": ("#666666", "8"),
    "extremeText": ("#bababa", "v"),
    "extremeText, lr .1": ("#bababa", "8"),
    "LibMultiLabel one-vs-rest": ("#8c510a", "h"),
    "LibMultiLabel tree": ("#dfc27d", "h"),
    "XML-CNN": ("#e7298a", "X"),
    "PfastreXML": ("#01665e", "<"),
    "SLEEC": ("#5ab4ac", ">"),
    "DiSMEC": ("#000000", "P"),
    "PPD-Sparse": ("#999900", "p"),
}
"""Colour and marker of each system."""
COSTS = {
    "training CPU s": "training, CPU seconds",
    "CPU ms a row, batch": "prediction, CPU ms per row",
    "model MB": "model, MB",
}
"""The rows of the picture."""
NOTE_WIDTH = 0.14
"""Width of a note in the picture, as a share of a panel."""
DAMPENED = ", square roots"
TICKS = {30: (1, 2, 5), 300: (1, 3), float("inf"): (1,)}
"""Ticks of a power of ten, by the largest ratio of the axis' ends that has them."""
FLOOR, DEPTH = 0.85, 3
"""A system is drawn at the lower edge, with an arrow, below this share of the best P@5, or if it is behind
the best by more than so many times what the median system is."""


def p5(system):
    """Return P@5."""
    return system["quality"]["P@5"]["value"]


def draw(results, path):
    """Draw P@5 against each cost, one column per data set."""
    matplotlib.rcParams.update({"svg.hashsalt": "benchmarks", "svg.fonttype": "none"})
    figure = Figure(figsize=(2.7 * len(results) + 0.6, 8.6), layout="constrained")
    grid = figure.subplots(len(COSTS), len(results), sharey="col", squeeze=False)
    shown = {}
    for row, (cost, title) in zip(grid, COSTS.items()):
        for axes, result in zip(row, results):
            floor = _floor(result["systems"])
            for name, system in result["systems"].items():
                mark = _mark(axes, name, system, cost, floor)
                if not name.endswith(DAMPENED):
                    shown[name] = mark
            axes.set(xscale="log", xlabel=title)
            axes.margins(x=0.15)
            _note_low(axes, result["systems"].values(), cost, floor)
            axes.xaxis.set_major_locator(LogLocator(subs=_steps(*axes.get_xlim()), numticks=6))
            axes.xaxis.set_major_formatter("{x:g}")
            axes.xaxis.set_minor_formatter(NullFormatter())
            axes.spines[["top", "right"]].set_visible(False)
            axes.grid(alpha=0.2)
        row[0].set_ylabel("P@5")
    for axes, result in zip(grid[0], results):
        absent = len([name for name in result["setup"] if name not in result["systems"]])
        note = f"\nwithout figures: {absent}" if absent else "\n"
        axes.set_title(result["data"] + note)
    shown = {name: shown[name] for name in STYLES if name in shown}
    shown["open: square roots"] = Line2D([], [], ls="", marker="o", color="#444444", mfc="white")
    columns = len(results) + 1
    figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=columns, frameon=False)
    figure.savefig(path, metadata={"Date": None} if Path(path).suffix == ".svg" else None)


def _floor(systems):
    """Return the P@5 of the lower edge."""
    values = [p5(system) for system in systems.values()]
    best = max(values)
    return max(FLOOR * best, best - DEPTH * (best - statistics.median(values)))


def _steps(low, high):
    """Return the ticks of a power of ten."""
    return next(steps for ratio, steps in TICKS.items() if high < ratio * low)


def _mark(axes, name, system, cost, floor):
    """Draw one system; an open marker if its rows are dampened, an arrow if it is below the floor."""
    colour, marker = STYLES[name.removesuffix(DAMPENED)]
    x, y = system["cost"][cost], system["quality"]["P@5"]
    face = "white" if name.endswith(DAMPENED) else colour
    style = {"fmt": marker, "color": colour, "markerfacecolor": face}
    if y["value"] < floor:
        return axes.plot(x, floor, style.pop("fmt"), markersize=6, **style)[0]
    bar = [[max(y["value"] - y["low"], 0)], [max(y["high"] - y["value"], 0)]]
    axes.errorbar(x, y["value"], bar, fmt="none", ecolor=colour, elinewidth=0.8, alpha=0.35)
    size, front = (12, 4) if name == "mlgt" else (6, 3)
    return axes.plot(x, y["value"], style.pop("fmt"), markersize=size, zorder=front, **style)[0]


def _note_low(axes, systems, cost, floor):
    """Write P@5 above the markers of systems below the floor, one above the other where they are near."""
    low, high = map(math.log, axes.get_xlim())
    ends = []  # of the notes at each height
    for system in sorted(systems, key=lambda one: one["cost"][cost]):
        if p5(system) < floor:
            place = (math.log(system["cost"][cost]) - low) / (high - low)
            level = next((at for at, end in enumerate(ends) if place - end > NOTE_WIDTH), len(ends))
            ends[level : level + 1] = [place]
            note, shift = f"{p5(system):.2f}↓".lstrip("0"), (0, 5 + 8 * level)
            where = (system["cost"][cost], floor)
            axes.annotate(note, where, shift, textcoords="offset points", size=7, ha="center")

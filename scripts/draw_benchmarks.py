"""Write docs/benchmarks.md and its picture from the results in research/results/bench-*.

    python scripts/draw_benchmarks.py [--out docs]

Run it after `mlgt bench` has written new results; tests/test_docs.py checks that the page is theirs.
"""

import argparse
import json
import statistics
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ("bench-bibtex", "bench-eurlex", "bench-yso")
ABOUT = """# Benchmarks

mlgt beside other systems for many labels, each with its documented defaults, on one thread of the same
machine. [The evidence](evidence.md) has all measures of these runs with their intervals and options;
[Beside other tools](comparison.md) says when not to use mlgt.

![Precision and training time of all systems on three data sets](pictures/benchmarks.svg)

Up is more precise, left is cheaper to train. Bars are 95 % intervals over the test rows.

P@k is the share of right labels among the k best. Training is in CPU seconds, prediction in CPU
milliseconds per row, one row at a time.
"""
COMMANDS = """
## To run it again

`MLGT_DATA` is the folder of the data sets, NAME is one of them, and DIR is {names}.

    pip install "./research[peers]"
    mlgt bench $MLGT_DATA/NAME/train.txt.gz $MLGT_DATA/NAME/test.txt.gz --out DIR
    python scripts/draw_benchmarks.py     # this page and its picture, from the results
"""
STYLES = {
    "mlgt": ("#1b7837", "o"),
    "omikuji Parabel": ("#2166ac", "s"),
    "omikuji Bonsai": ("#67a9cf", "s"),
    "PECOS XR-Linear": ("#b2182b", "^"),
    "PECOS one-vs-all": ("#ef8a62", "^"),
    "napkinXC PLT": ("#762a83", "D"),
    "napkinXC one-vs-all": ("#c2a5cf", "D"),
    "fastText": ("#666666", "v"),
}
"""Colour and marker of each system."""


def read(name):
    """Return a result by name: title, data set, date, and {system: figures}."""
    result = json.loads((ROOT / "research" / "results" / name / "results.json").read_text("utf-8"))
    tables = {table["title"]: {row["system"]: row for row in table["rows"]} for table in result["tables"]}
    systems = {}
    for system, quality in tables["quality"].items():
        cost = {
            key: statistics.mean(value)
            for key, value in tables["cost"][system].items()
            if isinstance(value, list)
        }
        systems[system] = {"quality": quality, "cost": cost, **tables["systems"][system]}
    (data,) = result["provenance"]["data"]
    return {"name": name, "data": data, "provenance": result["provenance"], "systems": systems}


def page(results):
    """Return the page as Markdown."""
    parts = [ABOUT]
    for result in results:
        parts.append(f"\n## {result['data']}\n\n")
        parts.append(_row("", "P@1", "P@3", "P@5", "training s", "ms per row", "peak MB", "model MB"))
        parts.append("|---|---|---|---|---|---|---|---|\n")
        for name, system in result["systems"].items():
            precision = [f"{system['quality'][f'P@{k}']['value']:.3f}"[1:] for k in (1, 3, 5)]
            cost = system["cost"]
            times = f"{cost['training CPU s']:.1f}", f"{cost['CPU ms a row, single']:.2f}"
            sizes = f"{cost['peak MB']:.0f}", f"{cost['model MB']:.1f}"
            parts.append(_row(f"{name} {system['version']}", *precision, *times, *sizes))
        made = result["provenance"]
        parts.append(f"\n{made['date']}, Python {made['python']}, {made['machine']}.\n")
    names = " or ".join(f"`research/results/{result['name']}`" for result in results)
    return "".join([*parts, COMMANDS.format(names=names)])


def _row(*cells):
    return "| " + " | ".join(cells) + " |\n"


def draw(results, path):
    """Draw P@5 against training time, one panel per data set."""
    matplotlib.rcParams.update({"svg.hashsalt": "benchmarks", "svg.fonttype": "none"})
    figure = Figure(figsize=(11, 4), layout="constrained")
    shown = {}
    for axes, result in zip(figure.subplots(1, len(results)), results):
        for name, system in result["systems"].items():
            colour, marker = STYLES[name]
            x, y = system["cost"]["training CPU s"], system["quality"]["P@5"]
            bar = [[max(y["value"] - y["low"], 0)], [max(y["high"] - y["value"], 0)]]
            shown[name] = axes.errorbar(
                x, y["value"], bar, fmt=marker, color=colour, capsize=2, elinewidth=1
            )
        axes.set(title=result["data"], xscale="log", xlabel="training, CPU seconds", ylabel="P@5")
        axes.margins(x=0.15)
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.spines[["top", "right"]].set_visible(False)
    figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(path, metadata={"Date": None} if Path(path).suffix == ".svg" else None)


def main(out):
    """Write the page and its picture below `out`."""
    results = [read(name) for name in RESULTS]
    (out / "pictures").mkdir(parents=True, exist_ok=True)
    (out / "benchmarks.md").write_text(page(results), "utf-8")
    draw(results, out / "pictures" / "benchmarks.svg")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "docs")
    main(parser.parse_args().out)

"""Write docs/benchmarks.md and its picture from the results in research/results/bench-*.

    python scripts/draw_benchmarks.py [--out docs]

Run it after `mlgt bench` has written new results; tests/test_docs.py checks that the page is theirs.
"""

import argparse
import json
import re
import statistics
from pathlib import Path

from benchmarks_picture import DAMPENED, FLOOR, STYLES, draw, p5

ROOT = Path(__file__).resolve().parents[1]
RESULTS = (
    "bench-bibtex", "bench-mediamill", "bench-eurlex", "bench-debtags", "bench-wordnet", "bench-yso",
)  # fmt: skip
"""Results in the order of the page; those that are not there are left out."""
CAREFUL = "fastText, lr .1", "fastText, softmax tree", "extremeText, lr .1"
"""Other settings, which are tried only where the usual ones fail."""
ABOUT = """# Benchmarks

mlgt beside other systems for many labels, on one thread of the same machine: the tools that people use
today with their documented defaults, and the systems of the paper's Tables 2 and 3.

![Precision against training time, latency and size, all systems and data sets](pictures/benchmarks.svg)

Up is more precise, left is cheaper. Each column is a data set; the rows show P@5 against the CPU
seconds of training, the CPU milliseconds per row when all test rows are predicted in one batch, and the
size of the model. Bars are 95 % intervals over the test rows. Open markers are the same systems on
dampened rows. Arrows are systems far below, with their P@5. Systems "without figures" did not end within
their limit or cannot run: they are in the tables, or under [what was run](#what-was-run).

Systems ran one after the other, each on one core of a machine with two, where other programs ran as well.
CPU seconds depend on such load: PECOS XR-Linear trained EURLex-4K in 16 CPU seconds one day and in 26 the
next. So compare the figures of one table only, and of one run: lines of earlier runs are named
below the table. On Mediamill, omikuji Parabel's line has 49 CPU seconds, and that on square roots, a day
later, 101: measured again minutes after, Parabel without roots took 103. So the other lines on square roots
there may have about twice the CPU seconds they would have had the day before.
`research/micro/results/default.md` has mlgt and PECOS XR-Linear side by side, in one run per data set.
Latency is that of a batch, because the CPU clock is too coarse for single rows.

- P@k is the share of right labels among the k best. "±" is the standard deviation over runs with different
  seeds. Lines without it are of one run, or all runs gave the same.
- "above N" is a system that was stopped after N CPU seconds.
- "about N" is an estimate, of two digits. A one-vs-all system trains every label by itself, so its time
  grows with their number: it was trained on every 40th to 200th label, sorted by their number of rows, and
  on a tenth of these, for its fixed cost. It is rather too low. Runs in full took 377 CPU seconds instead
  of 360 (PECOS on EURLex-4K), 563 instead of 330 (LibMultiLabel there), 330 instead of 230 (PPD-Sparse on
  YSO-Finna-en), 193 instead of 140 (PPD-Sparse on a tenth of Wiki10, in the evidence), 83 instead of 69 and
  755 instead of 220 (PPD-Sparse and PECOS on WordNet-hypernyms). napkinXC one-vs-all on EURLex-4K, with an
  estimate of 480, was stopped after 780.
- "square roots" is a second line of a system: it gets the square roots of all values, scaled to length 1.
  mlgt tries this on a sample of its training rows, and takes it where it helps. What is left of a lead
  there is not due to the scaling of rows. mlgt also chooses C on that sample, which peers are not given.
  Bibtex has only values of 0 and 1, whose roots are the same.
- [What was run](#what-was-run) has the version and settings of each system, and what was not run and
  why.
- [The evidence](evidence.md) has all measures with their intervals, and the paper's Tables 2 and 3
  beside the printed figures. Annif's ensemble is measured on texts in [mlgt in Annif](annif.md).
  [Beside other tools](comparison.md) says when not to use mlgt.
"""
NOT_RUN = """
## What was run

In brackets: how often, with seeds 0, 1, ... "Not tried" is for lack of time on a shared machine, and so are
limits that differ: "took more than N CPU seconds" is the one that a system had on that data set. Besides:

- One-vs-all systems train one classifier per label: PECOS, napkinXC, LibMultiLabel one-vs-rest, fastText
  with its loss "ova", DiSMEC and PPD-Sparse. WordNet-hypernyms has 11,705 labels and YSO-Finna-en 21,603:
  where the table says "by n of d labels", a system was trained on n of them, and its time for all d
  follows from that ("about" in the tables). Its precision is not known.
- fastText with its loss "ova" ends with "Encountered NaN" on YSO-Finna-en, within 25 CPU s. Each row moves
  the vectors of its words by a sum over all labels, so the step of its tutorial, .5, is too large for many
  labels; its authors advise a smaller one (facebookresearch/fastText, issue 638). With .1, its default,
  there was no NaN in the first 25 CPU seconds. "softmax tree" is its hierarchical softmax, with the options
  that its tutorial gives for speed. It learns one label of a row at a time, and is not made for several.
- extremeText ends with the same error on WordNet-hypernyms and YSO-Finna-en; "lr .1" has its default step,
  and was not tried on YSO-Finna-en. It also crashes while it builds its
  tree, in 3 of 25 runs on a small example with one thread. Its code says why: each start of its 2-means is
  drawn from 0 to n, and there is no label n. So about two of n + 1 runs read beyond its labels.
- Slow systems ran once, and so did all on WordNet-hypernyms and YSO-Finna-en. Where a table has three
  runs of a system, all three are of one later run.
- Second lines on dampened rows exist where a table has them.
- XML-CNN is a network on texts that is trained for hours on a graphics card. Here it has a budget of 300
  CPU seconds: half an epoch of the texts of YSO-Finna-en, after which it knows nothing yet, and 2.2 epochs
  of Debian-debtags, where it read the words of each row, which are not in the order of the text. Its lines
  say what such a budget gives, not what the network can do. Features of Mediamill are not words, those of
  EURLex-4K have no names and no order, and words of Bibtex were not tried.
- LibMultiLabel's tree ended with "graphblas.exceptions.InvalidValue" on EURLex-4K, while it split a cluster
  of labels. It runs without the 207 labels that no training row has, and is not given such ones since then.
  Its lines of Bibtex, Mediamill, Debian-debtags and WordNet-hypernyms are older.
- SLEEC's alpha and PfastreXML's C are not given by their papers in a form that fits here. Both were seen
  on test rows of Bibtex first, and then chosen on held-out training rows of Bibtex, with the same outcome
  (`research/micro/baselines.py`).

"""
GLANCE = """
## At a glance

P@5, and CPU seconds of training. The fastest is that of systems with at least 85 % of the best P@5.

"""
ANNIF = """
## YSO-Finna-en, texts in Annif

Annif's own commands on the texts of YSO-Finna-en: 5,000 of the test documents, and 4,000 training documents
fewer than above, 1,500 of which the weights of the two ensembles were tuned on. Compare these lines with
each other only. All but mlgt's are of an earlier run.
[mlgt in Annif](annif.md) has the settings; `research/micro/annif_eval.py` runs it.

"""
COMMANDS = """
## To run it again

`MLGT_DATA` is the folder of the data sets, NAME is one of them, and DIR is {names}.

    pip install "./research[peers]"
    mlgt bench $MLGT_DATA/NAME/train.txt.gz $MLGT_DATA/NAME/test.txt.gz --out DIR \\
        --systems all --dampen --once-above 20 --cpu-limit 900 --keep answers
    python scripts/draw_benchmarks.py     # this page and its picture, from the results

`--systems` takes names too; the systems of each result and the limits are in its `results.json`.
"""


def read(name):
    """Return a result by name: title, data set, date, and {system: figures}."""
    result = json.loads((ROOT / "research" / "results" / name / "results.json").read_text("utf-8"))
    tables = {table["title"]: {row["system"]: row for row in table["rows"]} for table in result["tables"]}
    systems = {}
    for system in sorted(tables["quality"], key=_place):
        quality = tables["quality"][system]
        trials = {key: value for key, value in tables["cost"][system].items() if isinstance(value, list)}
        cost = {key: statistics.mean(value) for key, value in trials.items()}
        systems[system] = {
            "quality": quality, "cost": cost, "seconds": trials["training CPU s"],
            **tables["systems"][system],
        }  # fmt: skip
    (data,) = result["provenance"]["data"]
    return {
        "name": name, "data": data, "provenance": result["provenance"],
        "systems": systems, "setup": tables["systems"],
    }  # fmt: skip


def _place(system):
    """Return the place of a system in tables: a dampened line follows its own."""
    name = system.removesuffix(DAMPENED)
    return list(STYLES).index(name), system != name


def page(results):
    """Return the page as Markdown."""
    parts = [ABOUT, glance(results)]
    for result in results:
        parts.append(f"\n## {result['data']}\n\n")
        parts.append(_row("", "P@1", "P@3", "P@5", "training s", "ms per row", "peak MB", "model MB"))
        parts.append("|---|---|---|---|---|---|---|---|\n")
        stopped = _stopped(result["setup"])
        for name in sorted([*result["systems"], *stopped], key=_place):
            parts.append(_line(name, result["systems"].get(name), stopped.get(name)))
        parts.append(f"\n{_ahead(result['systems'])}\n")
        made = result["provenance"]
        parts.append(f"\n{made['date']}, Python {made['python']}, {made['machine']}.{_earlier(result)}\n")
    names = " or ".join(f"`research/results/{result['name']}`" for result in results)
    return "".join([*parts, annif(), statement(results), COMMANDS.format(names=names)])


def _line(name, system, limit):
    """Return the row of one system, or that of one stopped at a limit or only estimated."""
    if system is None:
        return _row(name, "", "", "", limit, "", "", "")
    precision = []
    for k in (1, 3, 5):
        cell = system["quality"][f"P@{k}"]
        precision.append(_with_spread(cell["value"], cell.get("spread", 0), 3))
    cost, seconds = system["cost"], system["seconds"]
    spread = statistics.stdev(seconds) if len(seconds) > 1 else 0
    times = _with_spread(cost["training CPU s"], spread, 1), f"{cost['CPU ms a row, batch']:.3f}"
    return _row(name, *precision, *times, f"{cost['peak MB']:.0f}", f"{cost['model MB']:.1f}")


def _with_spread(value, spread, digits):
    """Return `.645 ±.001`, without a spread if there is none."""
    texts = (f"{number:.{digits}f}" for number in ([value, spread] if spread else [value]))
    return " ±".join(text.lstrip("0") if digits == 3 else text for text in texts)


def _stopped(setup):
    """Return {system: text} of those that were stopped at a limit, and of those only estimated."""
    found = {}
    for name, row in setup.items():
        for pattern, text in ((r"more than (\d+) CPU seconds", "above"), (r"about ([\d,.]+) CPU", "about")):
            if match := re.search(pattern, row["remark"] or ""):
                found[name] = f"{text} {match[1]}"
    return found


def annif():
    """Return the lines that `research/micro/annif_eval.py` measured."""
    path = ROOT / "research" / "micro" / "results" / "annif_eval.md"
    rows = [line.strip("| ").split("|") for line in path.read_text("utf-8").splitlines() if "|" in line]
    header, _, *rows = [[cell.strip() for cell in row] for row in rows]
    wanted = "Precision@1", "Precision@3", "Precision@5", "F1@5", "NDCG"
    places = [header.index(name) for name in wanted]
    names = {"mlgt": "mlgt", "bonsai": "omikuji Bonsai", "mllm": "MLLM", "ensemble": "Bonsai and MLLM",
             "mlgt-mllm": "mlgt and MLLM"}  # fmt: skip
    parts = [ANNIF, _row("", "P@1", "P@3", "P@5", *wanted[3:]), "|---|---|---|---|---|---|\n"]
    parts += [_row(names[row[0]], *(row[i] for i in places)) for row in rows if row[0] in names]
    return "".join(parts)


def glance(results):
    """Return a table of one line per data set: mlgt, the most precise and the fastest of the others."""
    parts = [GLANCE]
    parts.append(_row("data set", "mlgt", "most precise other", "fastest other to train"))
    parts.append("|---|---|---|---|\n")
    for result in results:
        systems = dict(result["systems"])
        own = systems.pop("mlgt")
        best = max(systems, key=lambda name: p5(systems[name]))
        near = {name: one for name, one in systems.items() if p5(one) >= FLOOR * p5(systems[best])}
        fastest = min(near, key=lambda name: systems[name]["cost"]["training CPU s"])
        others = (f"{name}: {_short(systems[name])}" for name in (best, fastest))
        parts.append(_row(f"[{result['data']}](#{result['data'].lower()})", _short(own), *others))
    return "".join(parts)


def _short(system):
    """Return P@5 and seconds of training."""
    precision = f"{p5(system):.3f}".lstrip("0")
    return f"{precision}, {system['cost']['training CPU s']:.1f} s"


def _ahead(systems):
    """Return who has a higher precision than mlgt, and in which measures."""
    found = []
    for name, system in systems.items():
        measures = [
            measure
            for measure in ("P@1", "P@3", "P@5")
            if system["quality"][measure]["value"] > systems["mlgt"]["quality"][measure]["value"]
        ]
        if measures:
            found.append(f"{name} ({', '.join(measures)})")
    return f"Ahead of mlgt: {'; '.join(found) or 'none'}."


def _earlier(result):
    """Return the lines that an earlier run measured, by date."""
    kept = result["provenance"].get("kept", {})
    days = {}
    for name, day in kept.items():
        if name in result["systems"]:
            days.setdefault(day, []).append(name)
    if set(result["systems"]) <= set(kept):
        dates = " and ".join(sorted(days))
        listed = "".join(f" Of {day}: {'; '.join(names)}." for day, names in sorted(days.items()))
        return f" The lines are of several runs, {dates}: their CPU seconds compare only roughly.{listed}"
    return "".join(f" Of earlier runs, {day}: {'; '.join(names)}." for day, names in days.items())


def statement(results):
    """Return what was run of each system, with version and settings, and what was not and why."""
    found = {}
    for result in results:
        for name, setup in result["setup"].items():
            system = found.setdefault(name, {"version": {}, "ran": [], "not": []})
            system["version"][setup["version"] or "not installed"] = None
            system["options"] = setup["options"]
            if name in result["systems"]:
                times = setup["repeats"].split(" ")[0]
                system["ran"].append(f"{result['data']} ({times})")
                system["note"] = setup["remark"] if setup["remark"] not in (None, "") else ""
            else:
                system["not"].append(f"{result['data']}: {setup['remark']}")
    parts = [NOT_RUN]
    parts.append(_row("system", "version", "settings", "ran on", "did not run on"))
    parts.append("|---|---|---|---|---|\n")
    for name in sorted(found, key=_place):
        system = found[name]
        untried = [result["data"] for result in results if name not in result["setup"]]
        if untried and DAMPENED not in name and name not in CAREFUL:
            system["not"].append(f"not tried: {', '.join(untried)}")
        settings = "; ".join(filter(None, [system["options"], system.get("note")]))
        lists = (", ".join(system["ran"]), "; ".join(system["not"]))
        parts.append(_row(name, ", ".join(system["version"]), settings, *lists))
    return "".join(parts)


def _row(*cells):
    return "| " + " | ".join(cells) + " |\n"


def main(out):
    """Write the page and its picture below `out`."""
    folder = ROOT / "research" / "results"
    results = [read(name) for name in RESULTS if (folder / name / "results.json").exists()]
    (out / "pictures").mkdir(parents=True, exist_ok=True)
    (out / "benchmarks.md").write_text(page(results), "utf-8")
    draw(results, out / "pictures" / "benchmarks.svg")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "docs")
    main(parser.parse_args().out)

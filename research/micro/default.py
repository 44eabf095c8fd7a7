"""What `mlgt train` gives with no option, beside PECOS XR-Linear: medians of repeats, with their spread.

    pip install "./research[peers]"
    MLGT_DATA=... python research/micro/default.py [NAME or FOLDER ...] [--repeats 5]
        [--peers SYSTEM ...] [--threads] [--out FILE]

Each run is a process of its own (`mlgt_research.bench.worker`): training on one thread with the repeat as
its seed, compiled code loaded before; then the test rows in a batch, and 300 of them one by one. Systems
take turns in every repeat, so that they see the same load of the machine. Figures are medians (lowest to
highest), precision means; the ratio to a peer is that of the same repeat. Peers train on the same rows,
scaled to unit length. Synthetic data: `mlgt synth FOLDER --preset wiki10`.

`--threads` measures one thing instead: the time of a batch on one thread as a multiple of that on two, of
wall clocks, taking turns; it needs two free cores.
"""

import argparse
import os
import statistics
import time
from pathlib import Path

from common import machine, span, table
from mlgt import MLGTClassifier, Predictor
from mlgt.data.datasets import load
from mlgt_research.bench.run import run_worker

DATA = ("EURLex-4K", "YSO-Finna-en", "WordNet-hypernyms", "Debian-debtags", "Bibtex", "Mediamill")
FIGURES = {
    "training CPU s": ("train CPU", 1),
    "batch, ms per row": ("ms batch", 3),
    "single, ms": ("ms single", 3),
    "model MB": ("model MB", 1),
    "peak MB": ("peak MB", 0),
}
BATCHES = 9


def run(system, name, seed):
    """The figures of one run."""
    folder = Path(name) if Path(name).is_dir() else Path(os.environ["MLGT_DATA"]) / name
    train, test = (str(next(folder.glob(f"{part}.txt*"))) for part in ("train", "test"))
    request = {"system": system, "options": {}, "train": train, "test": test, "seed": seed, "resamples": 0}
    found = run_worker(request | {"threads": 1}, 1)
    return found["figures"] | {f"P@{k}": found["quality"][f"P@{k}"] for k in (1, 3, 5)}


def lines_of(name, systems, repeats):
    """The rows of the table of one data set."""
    runs = {system: [] for system in systems}
    for repeat in range(repeats):
        for system in systems:
            runs[system].append(run(system, name, repeat))
            print(name, system, repeat, runs[system][-1], flush=True)
    lines = []
    for system, found in runs.items():
        precision = (statistics.fmean(one[f"P@{k}"] for one in found) for k in (1, 3, 5))
        figures = (span([one[key] for one in found], digits) for key, digits in FIGURES.values())
        lines.append([system, *(f"{value:.4f}".removeprefix("0") for value in precision), *figures])
    for peer in systems[1:]:
        pairs = list(zip(runs[systems[0]], runs[peer]))
        ratios = (span([own[key] / other[key] for own, other in pairs], 2) for key, _ in FIGURES.values())
        lines.append([f"ratio to {peer}", "", "", "", *ratios])
    return lines


def threads_of(name):
    """The gain of a second thread in a batch, median (lowest to highest)."""
    train, test = load(name)
    model = MLGTClassifier(random_state=0, n_jobs=-1).fit(train.X, train.Y)
    one, two = (Predictor(model, n_jobs=jobs) for jobs in (1, 2))
    gains = []
    for repeat in range(BATCHES + 1):
        laps = []
        for predictor in (one, two):
            began = time.perf_counter()
            predictor.predict_topk(test.X, 5)
            laps.append(time.perf_counter() - began)
        gains += [laps[0] / laps[1]] if repeat else []
    line = [name, span(gains, 2)]
    print(*line, flush=True)
    return line


def main(options):
    names = options.names or DATA
    if options.threads:
        lines = [threads_of(name) for name in names]
        return f"{machine()}.\n\n{table(['data', 'one thread / two threads'], lines)}\n"
    text = f"Medians of {options.repeats} repeats (lowest to highest). {machine()}.\n"
    header = ["system", "P@1", "P@3", "P@5", *FIGURES]
    for name in names:
        lines = lines_of(name, ["mlgt", *options.peers], options.repeats)
        text += f"\n### {Path(name).name}\n\n{table(header, lines)}\n"
        if options.out:
            options.out.write_text(text, "utf-8")
    return text


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--peers", nargs="*", default=["pecos-xr-linear"])
    parser.add_argument("--threads", action="store_true")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    text = main(options)
    print(text)
    if options.out:
        options.out.write_text(text, "utf-8")

"""Prediction of one row and of batches beside PECOS XR-Linear and omikuji, in CPU milliseconds per row.

    pip install "./research[peers]"
    MLGT_DATA=... python research/micro/one_row.py [NAME ...] [--models FOLDER] [--peers PECOS omikuji]
        [--repeats 7] [--out FILE]

Each system trains on the same rows of length 1 with its documented defaults, one thread, and predicts the
top 5 of the test rows: in one batch, and SINGLE of them one by one. Systems take turns in every repeat, so
that all see the same load of the machine; figures are medians, ratios to the faster peer are of the same
repeat, median (min to max). Rows are handed over as each library takes them, made before the clock starts.

`tag` is measured on a model of texts: the first 20 words of the texts of YSO-Finna-en, with its labels as
the vocabulary, and of Debian's packages (`mlgt demo --csv`).

`--models` keeps trained models in a folder, and uses those that are there.
"""

import argparse
import csv
import gzip
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

from common import machine, table
from mlgt import Predictor
from mlgt._core.rows import scale_rows
from mlgt.data.datasets import load
from mlgt_research.bench import ours, pecos_linear, trees

NAMES = ("EURLex-4K", "YSO-Finna-en", "WordNet-hypernyms", "Bibtex", "Mediamill", "Debian-debtags")
BUILD = {"mlgt": ours.mlgt, "PECOS": pecos_linear.xr_linear, "omikuji": trees.omikuji}
K = 5
SINGLE = 300
WORDS = 20
TAGGED = ("YSO-Finna-en", "Debian-debtags")


def kept(system, folder):
    """The system with the model of a folder, or None."""
    if not (folder / "model").exists():
        return None
    if system == "mlgt":
        made = ours.Fitted.__new__(ours.Fitted)
        made.model = Predictor(folder / "model")
        return made
    if system == "PECOS":
        from pecos.xmc.xlinear.model import XLinearModel

        made = pecos_linear.Pecos.__new__(pecos_linear.Pecos)
        made.model, made.threads = XLinearModel.load(str(folder / "model"), is_predict_only=True), 1
        return made
    from omikuji import Model

    made = trees.Omikuji.__new__(trees.Omikuji)
    made.model = Model.load(str(folder / "model"))
    made.model.densify_weights(0.05)
    return made


def trained(system, X, Y, folder):
    found = kept(system, folder)
    if found is None:
        folder.mkdir(parents=True, exist_ok=True)
        if system == "omikuji":
            trees.write_input(X, Y, folder)
        found = BUILD[system](X, Y, {}, 1, 0, folder)
        (folder / "train.txt").unlink(missing_ok=True)
    return found


def measure(name, folder, repeats, peers):
    """{system: (batch, single)}, lists of CPU milliseconds per row of each repeat."""
    train, test = load(name)
    X, rows = scale_rows(train.X), scale_rows(test.X)
    chosen = ["mlgt", *peers]
    systems = {system: trained(system, X, train.Y, folder / name / system) for system in chosen}
    batches = {system: model.prepare(rows) for system, model in systems.items()}
    singles = {
        system: [model.prepare_one(rows[[i]]) for i in range(min(SINGLE, rows.shape[0]))]
        for system, model in systems.items()
    }
    times = {system: ([], []) for system in systems}
    for repeat in range(repeats + 1):  # the first one warms up
        for system, model in systems.items():
            began = time.process_time()
            model.predict(batches[system], K)
            batch = 1e3 * (time.process_time() - began) / rows.shape[0]
            laps = []
            for row in singles[system]:
                began = time.process_time()
                model.predict_one(row, K)
                laps.append(1e3 * (time.process_time() - began))
            if repeat:
                times[system][0].append(batch)
                times[system][1].append(statistics.median(laps))
    return times


def lines_of(name, times):
    """Two rows of the table: batch and single."""
    lines = []
    for kind, what in enumerate(("batch", "single")):
        own = times["mlgt"][kind]
        peers = [times[system][kind] for system in times if system != "mlgt"]
        ratios = sorted(mine / min(others) for mine, *others in zip(own, *peers))
        figures = [f"{statistics.median(times[s][kind]):.4f}" if s in times else "–" for s in BUILD]
        spread = f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        lines.append([name, what, *figures, spread])
        print(*lines[-1], flush=True)
    return lines


def tagged(name, folder, repeats):
    """A row of the table of `tag`: CPU milliseconds per text of WORDS words, median (min to max)."""
    mlgt, model, files = [sys.executable, "-m", "mlgt"], folder / name / "texts", folder / name / "csv"
    columns = ["--text", "words", "--labels", "tags"]
    if name != "Debian-debtags":
        files = Path(os.environ["MLGT_DATA"]) / name
        columns = ["--text", "text", "--labels", "labels", "--label-separator", "|"]
        columns += ["--vocabulary", files / "labels.txt.gz"]
    elif not files.exists():
        subprocess.run([*mlgt, "demo", "--csv", files, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    if not model.exists():
        train = next(files.glob("train.csv*"))
        subprocess.run([*mlgt, "train", train, *columns, "--model", model, "--quiet"], check=True)
    path = next(files.glob("test.csv*"))
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as file:
        rows = [row[columns[1]].split()[:WORDS] for row, _ in zip(csv.DictReader(file), range(SINGLE))]
    predictor, texts, found = Predictor(model), [" ".join(words) for words in rows], []
    for repeat in range(repeats + 1):
        laps = []
        for text in texts:
            began = time.process_time()
            predictor.tag(text)
            laps.append(1e3 * (time.process_time() - began))
        found += [statistics.median(laps)] if repeat else []
    line = [name, f"{statistics.median(found):.3f} ({min(found):.3f} to {max(found):.3f})"]
    print(*line, flush=True)
    return line


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--models", type=Path)
    parser.add_argument("--peers", nargs="+", default=["PECOS", "omikuji"], choices=["PECOS", "omikuji"])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.models or Path(temporary)
        lines = [
            line
            for name in options.names or NAMES
            for line in lines_of(name, measure(name, folder, options.repeats, options.peers))
        ]
        tags = [
            tagged(name, folder, options.repeats) for name in TAGGED if name in (options.names or NAMES)
        ]
    header = ["data", "rows", *(f"{system}, ms" for system in BUILD), "ratio to the faster peer"]
    text = (
        f"CPU ms per row, top {K}, one thread, medians of {options.repeats} repeats. {machine()}.\n\n"
        f"{table(header, lines)}\n\n`Predictor.tag` of {WORDS} words:\n\n"
        f"{table(['data', 'CPU ms per text'], tags)}\n"
    )
    print(text)
    if options.out:
        options.out.write_text(text, "utf-8")


if __name__ == "__main__":
    main()

"""What `mlgt train` gives with no option, beside PECOS XR-Linear and omikuji Parabel.

    pip install "./research[peers]"
    MLGT_DATA=... python research/micro/default.py [--data EURLex-4K ...] [--seeds 3]
        [--peers NAME ...] [--out FILE]

mlgt: mean over the seeds. Training CPU seconds of the process on one thread, compilation and reading not
counted; CPU milliseconds per row of a batch on one thread, median of three; size of the model on disk.
Peers run once with their documented defaults on the same rows, scaled to unit length.
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from common import machine, table
from mlgt import MLGTClassifier, Predictor
from mlgt.data.datasets import load
from mlgt.metrics import precision_at
from prediction import omikuji_system, pecos_system

PEERS = {"PECOS XR-Linear": pecos_system, "omikuji Parabel": omikuji_system}
DATA = ("EURLex-4K", "YSO-Finna-en", "Bibtex", "Mediamill", "WordNet-hypernyms", "Debian-debtags")


def folder_size(path):
    return sum(file.stat().st_size for file in Path(path).rglob("*") if file.is_file())


def milliseconds(function, n):
    laps = []
    for _ in range(3):
        began = time.process_time()
        function()
        laps.append(time.process_time() - began)
    return 1e3 * statistics.median(laps) / n


def run_mlgt(train, test, seed):
    began = time.process_time()
    model = MLGTClassifier(random_state=seed, n_jobs=1).fit(train.X, train.Y)
    seconds = time.process_time() - began
    labels, speed, size = run_fitted(model, test)
    return [precision_at(test.Y, labels, k) for k in (1, 3, 5)] + [seconds, speed, size / 1e6]


def run_fitted(model, test):
    """(labels, milliseconds a row, bytes on disk) of a model that is written and read again."""
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "m")
        predictor = Predictor(Path(folder) / "m")
        labels, _ = predictor.predict_topk(test.X, 5)
        speed = milliseconds(lambda: predictor.predict_topk(test.X, 5), test.X.shape[0])
        return labels, speed, folder_size(folder)


def run_peer(build, train, test):
    X, X_test = (sp.csr_array(normalize(part.X)) for part in (train, test))
    began = time.process_time()
    system = build(X, train.Y)
    seconds = time.process_time() - began - system.get("saving", 0.0)
    labels = system["batch"](X_test)
    rows = system["convert"](X_test)
    speed = milliseconds(lambda: system["timed"](rows), X_test.shape[0])
    size = [system["bytes"] / 1e6] if "bytes" in system else []
    return [precision_at(test.Y, labels, k) for k in (1, 3, 5)] + [seconds, speed, *size]


def cells(name, figures):
    precision = [f"{value:.4f}".lstrip("0") for value in figures[:3]]
    rest = [f"{figures[3]:.1f}", f"{figures[4]:.3f}", f"{figures[5]:.1f}" if len(figures) > 5 else ""]
    return [name, *precision, *rest]


def main(data, seeds, peers):
    text = f"mlgt: mean of seeds 0 to {seeds - 1}. {machine()}.\n"
    header = ["system", "P@1", "P@3", "P@5", "training CPU s", "ms a row, batch", "model MB"]
    few = load("Bibtex").train
    for centroids in (False, True):  # compile
        options = {"n_candidates": 20, "centroids": centroids}
        model = MLGTClassifier(n_groups=64, ranker="linear", ranker_params=options)
        run_fitted(model.fit(few.X, few.Y), few)
    for name in data:
        train, test = load(name)
        figures = np.mean([run_mlgt(train, test, seed) for seed in range(seeds)], axis=0)
        lines = [cells("mlgt", figures)]
        for peer in peers:
            try:
                lines.append(cells(peer, run_peer(PEERS[peer], train, test)))
            except ImportError as missing:
                print(f'{peer} is left out ({missing}): pip install "./research[peers]"')
        text += f"\n### {name}\n\n{table(header, lines)}\n"
        print(text, flush=True)
    return text


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", default=list(DATA))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--peers", nargs="*", default=list(PEERS), choices=PEERS)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    text = main(options.data, options.seeds, options.peers)
    if options.out:
        options.out.write_text(text, "utf-8")

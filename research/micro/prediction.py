"""Prediction beside PECOS XR-Linear and omikuji: flat mlgt (m = 350, soft) on EURLex-4K, one thread.

    pip install "./research[peers]"
    MLGT_DATA=... python research/micro/prediction.py [--out FILE]

Each system trains on the same normalised rows with its documented defaults, then predicts the top 5 of the
test rows, in one batch and row by row. Batches of all systems are interleaved; ratios to mlgt are of
neighbouring runs, median (min to max). Rows are handed over as each library takes them, PECOS a one-row CSR
matrix, omikuji a list of (feature, value) pairs, mlgt's Predictor two arrays, all made before the clock
starts.
"""

import argparse
import os
import statistics
import tempfile
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from common import machine, table
from mlgt import MLGTClassifier, Predictor
from mlgt.data import write_xmc
from mlgt.data.datasets import load
from mlgt.metrics import precision_at

K = 5
SINGLE = 1000


def mlgt_system(X, Y):
    model = MLGTClassifier(n_groups=350, ranker=None, random_state=0).fit(X, Y)
    predictor = Predictor(model)
    return {
        "batch": lambda rows: predictor.predict_topk(rows, K)[0],
        "row": lambda row: predictor(*row, K)[0],
        "prepare": lambda rows: [
            (rows.indices[a:b], rows.data[a:b]) for a, b in zip(rows.indptr[:-1], rows.indptr[1:])
        ],
    }


def pecos_system(X, Y):
    from pecos.xmc import Indexer, LabelEmbeddingFactory
    from pecos.xmc.xlinear.model import XLinearModel

    X, Y = sp.csr_matrix(X), sp.csr_matrix(Y)
    chain = Indexer.gen(LabelEmbeddingFactory.create(Y, X), indexer_type="hierarchicalkmeans")
    model = XLinearModel.train(X, Y, C=chain, threads=1)
    trained = time.process_time()
    with tempfile.TemporaryDirectory() as folder:  # its fast path is for loaded models
        model.save(folder)
        size = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
        model = XLinearModel.load(folder, is_predict_only=True)
    saving = time.process_time() - trained

    def top(rows):
        found = sp.csr_matrix(model.predict(rows, only_topk=K, threads=1))
        labels = np.full((found.shape[0], K), -1)
        for i in range(found.shape[0]):
            row = slice(found.indptr[i], found.indptr[i + 1])
            order = np.argsort(-found.data[row], kind="stable")[:K]
            labels[i, : len(order)] = found.indices[row][order]
        return labels

    return {
        "bytes": size,
        "saving": saving,
        "batch": lambda rows: top(sp.csr_matrix(rows)),
        "timed": lambda rows: model.predict(rows, only_topk=K, threads=1),
        "row": lambda row: model.predict(row, only_topk=K, threads=1),
        "prepare": lambda rows: [sp.csr_matrix(rows[[i]]) for i in range(rows.shape[0])],
        "convert": sp.csr_matrix,
    }


def omikuji_system(X, Y):
    import omikuji

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.txt"
        write_xmc(path, X, Y)
        model = omikuji.Model.train_on_data(str(path), omikuji.Model.default_hyper_param(), n_threads=1)
    model.densify_weights(0.05)

    def rows_of(rows):
        return [
            list(zip(rows.indices[a:b].tolist(), rows.data[a:b].tolist()))
            for a, b in zip(rows.indptr[:-1], rows.indptr[1:])
        ]

    def one(row):
        return model.predict(row, top_k=K)

    def top(rows):
        return np.array([[l for l, _ in one(row)] + [-1] * (K - len(one(row))) for row in rows_of(rows)])

    return {"batch": top, "timed": lambda rows: [one(row) for row in rows], "row": one, "prepare": rows_of,
            "convert": rows_of}  # fmt: skip


SYSTEMS = {
    "mlgt": (mlgt_system, "mlgt"),
    "PECOS XR-Linear": (pecos_system, "libpecos"),
    "omikuji Parabel": (omikuji_system, "omikuji"),
}


def main(repeats=9):
    train, test = load("EURLex-4K")
    X, X_test = (sp.csr_array(normalize(part.X)) for part in (train, test))
    running, versions, precision = {}, {}, {}
    for name, (build, package) in SYSTEMS.items():
        try:
            versions[name] = version(package)
            running[name] = build(X, train.Y)
        except (ImportError, PackageNotFoundError) as missing:
            print(f'{name} is left out ({missing}): pip install "./research[peers]"')
            continue
        labels = running[name]["batch"](X_test)
        precision[name] = [precision_at(test.Y, labels, k) for k in (1, 3, 5)]

    times = {name: {"batch": [], "single": []} for name in running}
    inputs = {name: system.get("convert", lambda rows: rows)(X_test) for name, system in running.items()}
    singles = {name: system["prepare"](X_test[:SINGLE]) for name, system in running.items()}
    for _ in range(repeats):
        for name, system in running.items():
            timed = system.get("timed", system["batch"])
            began = time.perf_counter()
            timed(inputs[name])
            times[name]["batch"].append(1e3 * (time.perf_counter() - began) / X_test.shape[0])
            laps = []
            for row in singles[name]:
                began = time.perf_counter()
                system["row"](row)
                laps.append(1e3 * (time.perf_counter() - began))
            times[name]["single"].append(statistics.median(laps))

    lines = []
    for name in running:
        cells = [f"{name} {versions[name]}", *(f"{value:.3f}" for value in precision[name])]
        for kind in ("batch", "single"):
            ratios = sorted(b / a for a, b in zip(times["mlgt"][kind], times[name][kind]))
            cells.append(f"{statistics.median(times[name][kind]):.4f}")
            cells.append(f"{statistics.median(ratios):.1f} ({ratios[0]:.1f} to {ratios[-1]:.1f})")
        lines.append(cells)
    header = [
        "system",
        "P@1",
        "P@3",
        "P@5",
        "ms per row, batch",
        "ratio to mlgt",
        "ms, single row",
        "ratio to mlgt",
    ]
    return (
        f"EURLex-4K, top 5 of {X_test.shape[0]} rows (single: {SINGLE} rows, their median), one thread, "
        f"{repeats} interleaved repeats. {machine()}.\n\n{table(header, lines)}\n"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    text = main(options.repeats)
    print(text)
    if options.out:
        options.out.write_text(text, "utf-8")

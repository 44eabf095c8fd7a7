"""mlgt, omikuji Parabel and PECOS XR-Linear on data with 10^5 to 10^6 labels, such as `mlgt synth` makes.

    mlgt synth DATA/amazon670k --preset amazon670k
    python research/micro/large.py DATA/amazon670k [--systems mlgt omikuji pecos frequent] [--out FILE.json]

Every system runs in a process of its own, one thread, documented defaults: CPU seconds and wall seconds of
training (reading and compilation not counted), peak memory of the process, P@k and milliseconds per row on
the first 20,000 test rows. Results are added to FILE.json: systems can be run one at a time, and
`--table` prints what there is. The "system" partition times the blocks of the labels instead.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from common import machine, table
from mlgt.data import read_xmc
from mlgt.metrics import precision_at

TEST_ROWS = 20_000
SYSTEMS = ("mlgt", "omikuji", "pecos", "frequent", "partition")


def read(folder, part):
    return read_xmc(next(Path(folder).glob(f"{part}.txt*")))


def train_mlgt(train, threads):
    from mlgt import HierarchicalMLGTClassifier, Predictor
    from mlgt.data.datasets import load_debtags

    few, _ = load_debtags()
    HierarchicalMLGTClassifier(random_state=0).fit(few.X[:3000], few.Y[:3000])  # compile

    def fit():
        return HierarchicalMLGTClassifier(random_state=0, n_jobs=threads, verbose=1).fit(train.X, train.Y)

    def ready(model):
        with tempfile.TemporaryDirectory() as folder:
            model.save(Path(folder) / "m")
            size = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
            predictor = Predictor(Path(folder) / "m")
        return (lambda X: predictor.predict_topk(X, 5)[0]), size

    return fit, ready


def train_frequent(train, threads):
    def fit():
        return np.argsort(-np.bincount(train.Y.indices, minlength=train.Y.shape[1]), kind="stable")[:5]

    return fit, lambda best: ((lambda X: np.tile(best, (X.shape[0], 1))), best.nbytes)


def train_omikuji(train, threads):
    import omikuji
    from sklearn.preprocessing import normalize

    from mlgt.data import write_xmc

    folder = tempfile.mkdtemp()
    path = Path(folder) / "train.txt"
    write_xmc(path, sp.csr_array(normalize(train.X)), train.Y)

    def fit():
        options = omikuji.Model.default_hyper_param()
        return omikuji.Model.train_on_data(str(path), options, n_threads=threads)

    def ready(model):
        model.save(folder + "/model")
        size = sum(file.stat().st_size for file in Path(folder, "model").rglob("*") if file.is_file())
        model.densify_weights(0.05)

        def predict(X):
            X = sp.csr_array(normalize(X))
            found = np.full((X.shape[0], 5), -1)
            for i in range(X.shape[0]):
                row = slice(X.indptr[i], X.indptr[i + 1])
                best = model.predict(list(zip(X.indices[row].tolist(), X.data[row].tolist())), top_k=5)
                found[i, : len(best)] = [label for label, _ in best]
            return found

        return predict, size

    return fit, ready


def train_pecos(train, threads):
    from pecos.xmc import Indexer, LabelEmbeddingFactory
    from pecos.xmc.xlinear.model import XLinearModel
    from sklearn.preprocessing import normalize

    X, Y = sp.csr_matrix(normalize(train.X), dtype=np.float32), sp.csr_matrix(train.Y, dtype=np.float32)

    def fit():
        embedding = LabelEmbeddingFactory.create(Y, X)
        chain = Indexer.gen(embedding, indexer_type="hierarchicalkmeans", threads=threads)
        return XLinearModel.train(X, Y, C=chain, threads=threads)

    def ready(model):
        folder = tempfile.mkdtemp()
        model.save(folder)
        size = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
        loaded = XLinearModel.load(folder, is_predict_only=True)

        def predict(X):
            rows = sp.csr_matrix(normalize(X), dtype=np.float32)
            found = sp.csr_matrix(loaded.predict(rows, only_topk=5, threads=1))
            labels = np.full((found.shape[0], 5), -1)
            for i in range(found.shape[0]):
                row = slice(found.indptr[i], found.indptr[i + 1])
                order = np.argsort(-found.data[row], kind="stable")[:5]
                labels[i, : len(order)] = found.indices[row][order]
            return labels

        return predict, size

    return fit, ready


def run(system, folder, threads):
    """Figures of one system, in this process."""
    train = read(folder, "train")
    fit, ready = globals()[f"train_{system}"](train, threads)
    wall, cpu = time.perf_counter(), time.process_time()
    model = fit()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    predict, size = ready(model)
    test = read(folder, "test")
    X, Y = test.X[:TEST_ROWS], test.Y[:TEST_ROWS]
    predict(X[:200])
    began = time.process_time()
    labels = predict(X)
    ms = 1e3 * (time.process_time() - began) / X.shape[0]
    return {
        "system": system,
        "rows": train.X.shape[0],
        "features": train.X.shape[1],
        "labels": train.Y.shape[1],
        **{f"P@{k}": precision_at(Y, labels, k) for k in (1, 3, 5)},
        "train_cpu_s": cpu,
        "train_wall_s": wall,
        "peak_GB": peak,
        "ms_per_row_cpu": ms,
        "model_MB": size / 1e6,
        "threads": threads,
        "machine": machine(),
    }


def run_partition(folder, threads):
    """The label graph and its blocks of at most 20,000 labels, separators of 5 %."""
    from mlgt.data.datasets import load_debtags
    from mlgt.labels.graph import cooccurrence
    from mlgt.labels.partition import partition_labels

    Y = read(folder, "train").Y
    rng = np.random.default_rng(0)
    few = load_debtags().train
    partition_labels(cooccurrence(few.Y), rng, n_blocks=2, budget=0.05)  # compile
    began = time.process_time()
    graph = cooccurrence(Y)
    built = time.process_time() - began
    found = partition_labels(graph, rng, max_block_labels=20_000, budget=0.05)
    return {
        "graph_cpu_s": built,
        "partition_cpu_s": time.process_time() - began - built,
        "edges": int(graph.nnz // 2),
        "blocks": found.n_blocks,
        "separator": len(found.separator),
        "lost": found.lost,
    }


def show(results):
    for name, found in results.items():
        blocks = found.pop("partition", None)
        if blocks:
            seconds = f"{blocks['graph_cpu_s']:.1f} and {blocks['partition_cpu_s']:.1f} CPU s"
            sizes = f"{blocks['blocks']} blocks, {blocks['separator']} labels in separators"
            print(f"\n{name}, graph and partition: {seconds}; {sizes}, {blocks['lost']:.1%} lost")
        if not found:
            continue
        lines = [
            [
                f["system"], *(f"{f[f'P@{k}']:.3f}" for k in (1, 3, 5)), f"{f['train_cpu_s']:.0f}",
                f"{f['train_wall_s'] / 60:.1f}", f"{f['peak_GB']:.1f}", f"{f['ms_per_row_cpu']:.2f}",
                f"{f['model_MB']:.0f}",
            ]
            for f in found.values()
        ]  # fmt: skip
        f = next(iter(found.values()))
        print(f"\n### {name}: {f['rows']:,} rows, {f['features']:,} features, {f['labels']:,} labels\n")
        head = "system P@1 P@3 P@5 |training CPU s|wall min|peak GB|ms per row|model MB"
        print(table(head.split("|")[0].split() + head.split("|")[1:], lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), choices=SYSTEMS)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("large.json"))
    parser.add_argument("--table", action="store_true", help="only print the table of --out")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        system, folder = options.systems[0], options.folders[0]
        figures = run_partition if system == "partition" else partial(run, system)
        print(json.dumps(figures(folder, options.threads)))
        return
    results = json.loads(options.out.read_text("utf-8")) if options.out.exists() else {}
    if not options.table:
        for folder in options.folders:
            for system in options.systems:
                command = [sys.executable, __file__, str(folder), "--systems", system, "--here"]
                done = subprocess.run(
                    [*command, "--threads", str(options.threads)], stdout=subprocess.PIPE, text=True,
                    env=os.environ,
                )  # fmt: skip
                if done.returncode:
                    print(f"{system} failed on {folder.name}: exit code {done.returncode}", file=sys.stderr)
                    continue
                latest = json.loads(options.out.read_text("utf-8")) if options.out.exists() else {}
                latest.setdefault(folder.name, {})[system] = json.loads(done.stdout.splitlines()[-1])
                options.out.write_text(json.dumps(latest, indent=1) + "\n", "utf-8")
                results = latest
    show(results)


if __name__ == "__main__":
    main()

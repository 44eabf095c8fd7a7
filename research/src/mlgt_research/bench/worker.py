"""One system, trained and measured in a process of its own.

    python -m mlgt_research.bench.worker < request.json

The request names the system, its options, the two files, threads, seed and where the answer goes: a JSON
file, since libraries may write to standard output.
"""

import csv
import gc
import gzip
import json
import sys
import tempfile
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from mlgt._core.rows import scale_rows
from mlgt._core.sparse import label_counts
from mlgt.data import read_xmc
from mlgt.metrics import evaluate, hits

from . import DAMPENED, find_system
from .estimate import estimate_training
from .trained import Trained

K = 5
PAIRED = (1, 3, 5)
"""P@k that are compared row by row."""
WARM_ROWS, WARM_ENTRIES = 8_000, 1 << 20
"""Rows of the model that is trained before the clock starts; more if they have fewer non-zeros. Few short
rows may lead to other choices, which leave kernels of the measured run unloaded."""
SINGLE_ROWS = 300
TIMED_BATCHES = 3
"""Batches that are timed after the first one."""
LONG_ENOUGH = 20
"""CPU seconds after which no further batch or single row is timed."""


def measure(request: dict[str, Any]) -> dict[str, Any]:
    """Train, predict, judge; returns the figures. With `every`, only an estimate of training's seconds."""
    system = find_system(request["system"])
    module = import_module(f".{system.module}", __package__)
    build, write_input = getattr(module, system.build), getattr(module, "write_input", None)
    train = read_xmc(request["train"])
    test = read_xmc(request["test"], n_features=train.X.shape[1], n_labels=train.Y.shape[1])
    if system.texts:
        X, X_test = read_texts(request["train"], train.X), read_texts(request["test"], test.X)
    else:
        power = 0.5 if request["system"].endswith(DAMPENED) else 1.0
        X, X_test = scale_rows(train.X, power), scale_rows(test.X, power)
    options = {**system.options, **request["options"]}
    arguments = (options, request["threads"], request["seed"])
    if system.package == "mlgt":
        _warm_up(build, X, train.Y, X_test, arguments)
    if request.get("every"):
        return {"estimate": estimate_training(build, X, train.Y, arguments, request["every"])}
    held = peak_megabytes()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if write_input is not None:
            write_input(X, train.Y, folder)
        wall, cpu = time.perf_counter(), time.process_time()
        model = build(X, train.Y, *arguments, folder)
        figures: dict[str, Any] = {
            "train wall": time.perf_counter() - wall,
            "train CPU": time.process_time() - cpu,
        }
        (folder / "train.txt").unlink(missing_ok=True)  # an input, not a part of the model
        model.save(folder)
        size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        gc.disable()  # as `timeit` does: one collection takes as long as hundreds of single rows
        labels, speed = predict(model, X_test)
        gc.enable()
        figures |= speed
    judged = evaluate(
        test.Y, labels, train_counts=label_counts(train.Y), n_train=X.shape[0],
        resamples=request["resamples"],
    )  # fmt: skip
    blocks = model.stages.get("training blocks", 0.0)
    figures["paper's T train"] = figures["train CPU"] - blocks * (1 - 1 / model.n_blocks)
    figures |= {"model MB": size / 1e6, "peak MB": peak_megabytes(), "before MB": held}
    right = np.cumsum(hits(test.Y, labels), axis=1)
    rows = {str(k): (right[:, k - 1] / k).tolist() for k in PAIRED} if request["resamples"] else {}
    return {"figures": figures, "quality": judged, "stages": dict(model.stages), "P@k of rows": rows}


def texts_beside(rows: str | Path) -> Path:
    """Where the texts of a file of rows are: train.csv.gz beside train.txt.gz."""
    return Path(rows).with_name(Path(rows).name.split(".")[0] + ".csv.gz")


def words_beside(rows: str | Path) -> Path:
    """Where the words of the features are, one per line."""
    return Path(rows).with_name("features.txt.gz")


def read_texts(rows: str | Path, X: sp.csr_array) -> np.ndarray:
    """(n,) the texts of a file of rows, or else the words of each row, in the order of the features."""
    texts = texts_beside(rows)
    if texts.exists():
        with gzip.open(texts, "rt", encoding="utf-8", newline="") as file:
            return np.array([line["text"] for line in csv.DictReader(file)], dtype=object)
    with gzip.open(words_beside(rows), "rt", encoding="utf-8") as file:
        words = np.array(file.read().splitlines(), dtype=object)
    starts = zip(X.indptr[:-1], X.indptr[1:])
    return np.array([" ".join(words[np.sort(X.indices[begin:end])]) for begin, end in starts], dtype=object)


def limit_cpu(seconds: float | None) -> None:
    """End this process when it has used that many CPU seconds, where the system can do it."""
    with suppress(ImportError):
        from resource import RLIMIT_CPU, setrlimit

        if seconds is not None:
            setrlimit(RLIMIT_CPU, (int(seconds), int(seconds) + 5))


def _warm_up(build, X, Y, X_test, arguments):
    """Load compiled code before the clock starts: peers come compiled."""
    with tempfile.TemporaryDirectory() as name:
        count = max(WARM_ROWS, WARM_ENTRIES * X.shape[0] // max(1, X.nnz))
        some = np.random.default_rng(0).permutation(X.shape[0])[:count]
        model = build(X[some], Y[some], *arguments, Path(name))
        model.predict(model.prepare(X_test[:16]), 1)
        model.predict_one(model.prepare_one(X_test[:1]), 1)


def predict(model: Trained, X: sp.csr_array) -> tuple[np.ndarray, dict[str, float]]:
    """(labels, CPU milliseconds per row): in one batch, and one by one."""
    rows, k = model.prepare(X), K
    seconds: list[float] = []
    while len(seconds) <= TIMED_BATCHES and sum(seconds) < LONG_ENOUGH:
        began = time.process_time()
        found = model.predict(rows, k)
        seconds.append(time.process_time() - began)
    singles = [model.prepare_one(X[[i]]) for i in range(min(SINGLE_ROWS, X.shape[0]))]
    began = time.process_time()  # once for all: the CPU clock of some systems advances by milliseconds
    for done, row in enumerate(singles, 1):
        model.predict_one(row, k)
        spent = time.process_time() - began
        single = 1e3 * spent / done
        if spent > LONG_ENOUGH:
            break
    batch = 1e3 * min(seconds) / X.shape[0]
    speed = {"ms batch": batch, "ms single": single, "predict CPU": min(seconds)}
    return model.labels(found, k), speed


def peak_megabytes() -> float | None:
    """The peak memory of this process; None if the system does not report it."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1e3
    try:  # includes the memory of the parent at the start, so it comes second
        from resource import RUSAGE_SELF, getrusage
    except ImportError:
        return None
    return getrusage(RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


if __name__ == "__main__":
    request = json.load(sys.stdin)
    limit_cpu(request.get("cpu_limit"))
    Path(request["answer"]).write_text(json.dumps(measure(request)))

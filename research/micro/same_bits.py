"""Compare the models of two versions of mlgt bit by bit, by digests of the predictions of every method.

    MLGT_DATA=... python research/micro/same_bits.py OUT.json DATA ...     # with each version installed
    python research/micro/same_bits.py --compare OLD.json NEW.json

A model is trained for each data set, method and seed. Recorded are digests of its five best labels and
scores for the test rows and of the label sets of the first test rows. A run that was stopped goes on where
it stopped. The exit status of a comparison is 1 if anything differs.
"""

import hashlib
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

from mlgt import Predictor, load
from mlgt.cli import main
from mlgt.data import read_xmc

METHODS = ("nmf-gt", "cw-gt", "sp-gt", "saffron", "he-nmfgt")
RUNS = {
    "auto": [],
    **{method: ["--method", method] for method in METHODS},
    "blocks": "--blocks 3 --budget 0.1".split(),
    "routed": "--blocks 8 --budget 0.1 --route 0.05".split(),
    "tail": "--tail 0.5".split(),
}
"""Options of `mlgt train`."""
SEEDS = range(3)
SET_ROWS = 500
"""Number of test rows whose label sets are recorded."""


def digest(*arrays):
    """A short hash of dtypes, shapes and bytes."""
    found = hashlib.sha256()
    for array in arrays:
        found.update(str(array.dtype).encode() + str(array.shape).encode())
        found.update(array.tobytes())
    return found.hexdigest()[:20]


def record_one(data, X, seed, options):
    """Digests of one model's predictions, or the exit status of a training that failed."""
    folder = tempfile.mkdtemp()
    try:
        model = f"{folder}/m"
        train = [str(data / "train.txt.gz"), "--model", model, "--seed", str(seed)]
        status = main(["train", *train, "--jobs", "2", "--quiet", *options])
        if status:
            return f"exit {status}"
        ranked = Predictor(model, n_jobs=2).predict_topk(X, 5)
        sets = load(model).predict(X[:SET_ROWS])
        return [digest(*ranked), digest(sets.indices, sets.indptr)]
    finally:
        shutil.rmtree(folder)


def record(out, names):
    """Add what OUT does not have yet, a run at a time."""
    found = json.loads(out.read_text("utf-8")) if out.exists() else {}
    for name in names:
        data = Path(os.environ["MLGT_DATA"]) / name
        X = read_xmc(data / "test.txt.gz").X
        for method, options in RUNS.items():
            for seed in SEEDS:
                key = f"{name}/{method}/{seed}"
                if key not in found:
                    found[key] = record_one(data, X, seed, options)
                    print(key, found[key], flush=True)
                    out.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


def compare(old, new):
    """Print which runs differ; returns the exit status."""
    both = old.keys() & new.keys()
    different = [key for key in old if key in both and old[key] != new[key]]
    print(f"{len(old)} and {len(new)} recorded, {len(both)} compared, {len(different)} differ", *different)
    return int(bool(different))


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "--compare":
        sys.exit(compare(*(json.loads(Path(path).read_text("utf-8")) for path in sys.argv[2:])))
    if len(sys.argv) < 3 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    record(Path(sys.argv[1]), sys.argv[2:])

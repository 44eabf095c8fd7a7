"""Model folders under attack: flipped bits of headers, replacements while others read, killed writers."""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

import mlgt
from mlgt import MLGTClassifier, TextTagger
from mlgt.errors import ModelFileError

READ = """
import json, sys, time
import numpy as np, mlgt
folder, rows, until = sys.argv[1], np.load(sys.argv[2]), sys.argv[3]
from pathlib import Path
mlgt.load(folder).predict_topk(rows, 3)
print("ready", flush=True)
seen = []
while not Path(until).exists():
    try:
        labels, scores = mlgt.load(folder).predict_topk(rows, 3)
        seen.append([labels.tolist(), scores.tolist()])
    except Exception as error:
        seen.append(f"{type(error).__name__}: {error}")
kinds = [json.dumps(one) for one in seen]
print(json.dumps({kind: kinds.count(kind) for kind in set(kinds)}))
"""


def main_flips(n: int, seed: int) -> int:
    """Flip one bit of the header n times; returns how many of these headers were accepted."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "m")
        texts = [f"{word} and more words of {word}" for word in ("sea", "law", "tax", "art")] * 20
        TextTagger(min_df=1).fit(texts, [[text.split()[0], "all"] for text in texts]).save(folder)
        file, content = folder / "model.json", (folder / "model.json").read_bytes()
        said: Counter = Counter()
        for at in (rng.randrange(len(content) * 8) for _ in range(n)):
            changed = bytearray(content)
            changed[at // 8] ^= 1 << at % 8
            file.write_bytes(changed)
            try:
                mlgt.load(folder)
                said["accepted"] += 1
            except ModelFileError:
                said["refused"] += 1
    print(f"{n} flipped bits of a header of {len(content)} bytes: {dict(said)}")
    return said["accepted"]


def main_replacements(n: int, seed: int) -> int:
    """Replace a model n times while two processes load it; returns how many loads were wrong."""
    with tempfile.TemporaryDirectory() as place:
        models, rows = _two_models(Path(place))
        answers = {_answer(model, rows): i for i, model in enumerate(models)}
        target, until = Path(place, "m"), Path(place, "end")
        models[0].save(target)
        command = [sys.executable, "-c", READ, target, Path(place, "rows.npy"), until]
        readers = [_started(command) for _ in range(2)]
        for i in range(n):
            models[(i + seed + 1) % 2].save(target, overwrite=True)
        until.touch()
        counts: Counter = Counter()
        for reader in readers:
            for answer, count in json.loads(reader.communicate()[0]).items():
                kind = f"model {answers[answer]}" if answer in answers else answer[:200]
                counts[kind] += count
        left = sorted(file.name for file in Path(place).iterdir())
    wrong = sum(count for kind, count in counts.items() if not kind.startswith("model "))
    print(f"{n} replacements, {sum(counts.values())} loads: {dict(counts)}; files: {left}")
    return wrong


def main_kills(n: int, seed: int) -> int:
    """Kill a writer n times; returns how often a model was broken or something stayed."""
    rng, counts = random.Random(seed), Counter()
    with tempfile.TemporaryDirectory() as place:
        models, rows = _two_models(Path(place))
        answers = {_answer(model, rows) for model in models}
        target = Path(place, "m")
        before = {file.name for file in Path(place).iterdir()} | {"m"}
        for _ in range(n):
            writer = os.fork()
            while not writer:  # the child saves until it is killed
                for model in models:
                    model.save(target, overwrite=True)
            time.sleep(rng.uniform(0.01, 0.2))
            os.kill(writer, signal.SIGKILL)
            os.waitpid(writer, 0)
            left = {file.name for file in Path(place).iterdir()} - before
            counts["kills that left something"] += bool(left)
            counts["kills that left an unfinished model"] += any("lock" not in name for name in left)
            counts["broken"] += target.exists() and _answer(mlgt.load(target), rows) not in answers
            models[0].save(target, overwrite=True)
            counts["left after the next save"] += {file.name for file in Path(place).iterdir()} != before
    print(f"{n} kills: {dict(counts)}")
    return counts["broken"] + counts["left after the next save"]


def _two_models(place):
    """Two models whose arrays have the same sizes, saved as `0` and `1`, and rows saved as rows.npy."""
    rng = np.random.default_rng(0)
    X, Y = rng.random((300, 400), np.float32), (rng.random((300, 60)) < 0.1).astype(np.float32)
    made = [
        MLGTClassifier(n_groups=50, column_weight=4, ranker=None, random_state=seed).fit(X, Y)
        for seed in (0, 1)
    ]
    for i, model in enumerate(made):
        model.save(place / str(i))
    np.save(place / "rows.npy", X[:5])
    return made, X[:5]


def _answer(model, rows):
    labels, scores = model.predict_topk(rows, 3)
    return json.dumps([labels.tolist(), scores.tolist()])


def _started(command):
    """The process, once it has said that it is ready."""
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    return process

"""N forged models: each is refused in one line, or answers with finite scores."""

import contextlib
import io
import json
import os
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

import mlgt
from mlgt.cli import main

from .child import Outcome, run
from .forge import forge

GOLDEN = Path(__file__).parents[1] / "model" / "golden"
GOOD = ("refused", "answered")


def saved_models(folder: Path) -> list[Path]:
    """Models of every kind in their old versions, and in the current one: written again, or new."""
    found = named_models(folder)
    for source in sorted(path for path in GOLDEN.iterdir() if path.is_dir()):
        mlgt.load(source).save(folder / source.name)
        found += [source, folder / source.name]
    return found


def named_models(folder: Path) -> list[Path]:
    """Models with names, vocabularies, kept and taught rows; each thrice, to be forged often."""
    rng = np.random.default_rng(0)
    words = [a + b for a in "bdfgklmn" for b in ("al", "em", "or", "ul", "is")]
    own = [rng.choice(40, 3, replace=False) for _ in range(1200)]
    texts = [" ".join([*(words[j] for j in row), "and", "all"]) for row in own]
    labels = [[f"id:{j}" for j in row[:2]] for row in own]
    vocabulary = {f"id:{j}": [f"{word}s", f"all of {word}"] for j, word in enumerate([*words, "unseen"])}
    ranked = {"ranker": "linear", "n_groups": 20, "random_state": 0}
    tagger = mlgt.TextTagger(mlgt.MLGTClassifier(**ranked), vocabulary=vocabulary).fit(texts, labels)
    tagger.save(folder / "vocabulary")
    tagger.extend([f"{words[0]} zzz"], [[f"{words[0]}s"]]).save(folder / "taught")
    X, Y = np.zeros((1200, 40)), np.zeros((1200, 40))
    for i, row in enumerate(own):
        X[i, row] = Y[i, row[:2]] = 1
    X, Y = pd.DataFrame(X, columns=words), pd.DataFrame(Y, columns=[f"{word}s" for word in words])
    mlgt.MLGTClassifier(**ranked).fit(X, Y).save(folder / "rows")
    return 3 * [folder / "vocabulary", folder / "taught", folder / "rows"]


def use(folder: Path) -> None:
    """Everything that can be done with a model; raises what goes wrong."""
    model = mlgt.load(folder)
    texts = isinstance(model, mlgt.TextTagger)
    classifier = model.classifier_ if texts else model
    rng, p, d = np.random.default_rng(0), classifier.n_features_in_, classifier.n_labels_
    rows = rng.random((3, p)).astype(np.float32) * (rng.random((3, p)) < 0.3) if p < 10**6 else None
    given = ["a cat and dogs on mats", "Füße"] if texts else rows
    for k in (1, min(d, 4)):
        labels, scores = model.predict_topk(given, k)
        assert labels.shape == scores.shape, "shapes differ"
        assert ((labels >= -1) & (labels < d)).all(), f"labels outside 0 .. {d - 1}"
        assert np.isfinite(scores[labels >= 0]).all(), "scores are not finite"
    predictor = mlgt.Predictor(folder)
    if not texts:
        predictor(np.array([0]), np.array([1.0], np.float32))
    said = predictor.explain(given[0] if texts else rows[:1])
    assert all(np.isfinite(label.score) for label in said.labels), "an explanation is not finite"
    assert main(["inspect", str(folder), "--verify"]) in (0, 2), "inspect failed"
    model.save(folder.parent / "again")
    mlgt.load(folder.parent / "again")
    with contextlib.suppress(ValueError):  # blocks and designs cannot be extended
        if texts:
            model.extend(["a new text of cats"], [[str(classifier.classes_[0])]])
        else:
            Y = np.zeros((3, d), np.float32)
            Y[:, 0] = 1
            model.extend(rows, Y)
            model.predict_topk(rows, 1)


def try_model(folder: Path) -> Outcome:
    """The outcome of `use`, run in the child."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            use(folder)
    except ValueError as error:
        kind = "refused" if "\n" not in str(error).strip() else "many lines"
        return Outcome(kind, f"{type(error).__name__}: {error}")
    except AssertionError as error:
        return Outcome("wrong", f"{error} {said.getvalue()[-300:]}")
    except BaseException as error:
        import traceback

        where = traceback.extract_tb(error.__traceback__)
        own = next((f for f in reversed(where) if "mlgt" in f.filename), where[-1])
        return Outcome("exception", f"{type(error).__name__} in {own.name}: {str(error)[:300]}")
    return Outcome("answered")


def main_forged(n: int, seed: int) -> int:
    """Forge n models and print a table of the outcomes; returns the number of bad ones."""
    counts: Counter = Counter()
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        models = saved_models(work / "models")
        for model in models:  # compiles the kernels, and shows that the originals pass
            outcome = try_model(_copy(model, work / "warm"))
            assert outcome.kind == "answered", f"{model}: {outcome}"
        for i in range(n):
            rng = np.random.default_rng([seed, i])
            source, place = models[rng.integers(len(models))], work / f"forged-{i}"
            what = forge(source, place / "m", rng)
            outcome = run(lambda place=place: try_model(place / "m"))
            counts[outcome.kind] += 1
            if outcome.kind not in GOOD or os.environ.get("FUZZ_SHOW"):
                print(f"{i}: {source.name}: {what}: {outcome.kind}: {outcome.text}", flush=True)
            _remove(place)
    print(json.dumps({"forged": n, "seed": seed, **dict(counts.most_common())}))
    return sum(count for kind, count in counts.items() if kind not in GOOD)


def _copy(source, place):
    import shutil

    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(source, place / "m")
    return place / "m"


def _remove(place):
    import shutil

    shutil.rmtree(place, ignore_errors=True)

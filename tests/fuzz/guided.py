"""Coverage-guided fuzzing of the readers and of the model loader, by atheris.

A target takes bytes. Anything but a result or a ValueError is a finding: it is written to the log once
per place, with its input beside it, and fuzzing goes on. A crash of the process ends a run; the rest of
the time starts another one.
"""

import copy
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
SOURCE = Path(importlib.util.find_spec("mlgt").submodule_search_locations[0])  # type: ignore
GOLDEN = Path(__file__).parents[1] / "model" / "golden"
LOADED = ("model-v2", "v2-text-blocks", "v2-saffron", "v2-routed", "v2-blocks-calibrated", "v2-text-hashed")
"""Golden models whose headers and arrays are fuzzed, in their current version."""
TARGETS = (
    "rows",
    "jsonl",
    "csv",
    "lines",
    "parquet",
    "groups",
    "places",
    "reordering",
    "header",
    "entries",
    "array",
    "request",
    "vocabulary",
)
VOCABULARIES = ("names.txt", "terms.tsv", "terms.csv", "skos.ttl", "skos.rdf")
"""Names of files whose endings say how they are read."""
MAX_BYTES = 4096


class Scratch:
    """A folder with one input file and the models to forge."""

    def __init__(self, folder):
        import mlgt

        from .forged import named_models

        self.folder = Path(folder)
        shutil.rmtree(folder, ignore_errors=True)
        self.folder.mkdir()
        self.file = self.folder / "input"
        self.models = []
        for name in LOADED:
            mlgt.load(GOLDEN / name).save(self.folder / name)
        for folder in [*(self.folder / name for name in LOADED), *sorted(set(named_models(self.folder)))]:
            header = json.loads((folder / "model.json").read_text("utf-8"))
            header.pop("digest")
            self.models.append((folder, header))


def target_of(name: str, scratch: Scratch):
    """The function from bytes that raises ValueError or returns."""
    from mlgt.data import RecordFile, read_xmc
    from mlgt.groups.files import read_groups
    from mlgt.labels.partition import read_places, read_reordering
    from mlgt.vocabulary import read_vocabulary

    def vocabulary(data):
        file = scratch.folder / VOCABULARIES[data[0] % len(VOCABULARIES) if data else 0]
        file.write_bytes(data[1:])
        for language in (None, "fi,en"):
            read_vocabulary(file, language)

    def records(data, form):
        scratch.file.write_bytes(data)
        for labelled in (True, False):
            for _ in RecordFile(scratch.file, form, labelled=labelled and form != "lines"):
                pass

    def reordering(data):
        one, _, two = data.partition(b"\0")
        scratch.file.write_bytes(one)
        (scratch.folder / "blocks").write_bytes(two)
        read_reordering(scratch.file, scratch.folder / "blocks")

    def plain(read, *more):
        def target(data):
            scratch.file.write_bytes(data)
            read(scratch.file, *more)

        return target

    return {
        "rows": plain(read_xmc),
        "jsonl": lambda data: records(data, "jsonl"),
        "csv": lambda data: records(data, "tsv" if data[:1] == b"\t" else "csv"),
        "lines": lambda data: records(data, "lines"),
        "parquet": lambda data: records(data, "parquet"),
        "groups": plain(read_groups, 20),
        "places": plain(read_places),
        "reordering": reordering,
        "header": lambda data: _header(data, scratch),
        "entries": lambda data: _entries(data, scratch),
        "array": lambda data: _array(data, scratch),
        "request": _request,
        "vocabulary": vocabulary,
    }[name]


def _request(data):
    """The first byte chooses the shape; the others are the body of a request."""
    from mlgt.serve.errors import RequestError
    from mlgt.serve.limits import RequestLimits
    from mlgt.serve.parsing import parse_classification, parse_suggestion, parse_suggestions, parse_tagging

    limits, kinds = RequestLimits(characters=1000, texts=20), ("", "application/json")
    parsers = (
        parse_tagging,
        parse_classification,
        lambda body, limits: parse_suggestion(body, kinds[len(body) % 2], limits),
        lambda body, limits: parse_suggestions(body, {"limit": body[:4].decode("latin-1")}, limits),
    )
    try:
        parsers[data[0] % 4 if data else 0](data[1:], limits)
    except RequestError as error:
        if error.status not in (400, 413, 415, 422):
            raise


def _header(data, scratch):
    """The first byte chooses a model; the others are the JSON of its header without `arrays`."""
    if not data:
        return
    folder, header = scratch.models[data[0] % len(scratch.models)]
    text = data[1:].decode("utf-8", "replace")
    try:
        entries = json.loads(text)
        text = _dump({**entries, "arrays": header["arrays"]}) if isinstance(entries, dict) else text
    except (ValueError, RecursionError):
        pass
    _load(folder, header, text)


def _entries(data, scratch):
    """The first byte chooses a model; three bytes each an entry of its header and an odd value for it."""
    from .forge import ODD, _at, _places

    if not data:
        return
    folder, header = scratch.models[data[0] % len(scratch.models)]
    changed = copy.deepcopy({key: value for key, value in header.items() if key != "arrays"})
    places = list(_places(changed))
    for first in range(1, min(len(data) - 2, 16), 3):
        place = places[int.from_bytes(data[first : first + 2], "little") % len(places)]
        try:
            owner, key, _ = _at(changed, place)
            owner[key] = ODD[data[first + 2] % len(ODD)]
        except (KeyError, TypeError, IndexError):  # was replaced itself
            continue
    _load(folder, header, _dump({**changed, "arrays": header["arrays"]}))


def _array(data, scratch):
    """The first two bytes choose a model and an array; the others replace its values, or the whole file."""
    import hashlib

    import numpy as np

    if len(data) < 3:
        return
    folder, header = scratch.models[data[0] % len(scratch.models)]
    name = list(header["arrays"])[data[1] // 2 % len(header["arrays"])]
    file = folder / f"{name}.npy"
    before, entry = file.read_bytes(), dict(header["arrays"][name])
    if data[1] % 2:
        file.write_bytes(data[2:])
    else:
        dtype = np.dtype(entry["dtype"])
        values = np.frombuffer(data[2 : 2 + (len(data) - 2) // dtype.itemsize * dtype.itemsize], dtype)
        old = np.load(file)
        new = old.reshape(-1).copy()
        new[: len(values)] = values[: len(new)]
        np.save(file, new.reshape(old.shape))
    content = file.read_bytes()
    entry |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    try:
        _load(folder, header, _dump({**header, "arrays": {**header["arrays"], name: entry}}))
    finally:
        file.write_bytes(before)


def _dump(header):
    return json.dumps(header, indent=1)


def _load(folder, header, text):
    """Load the model with this header and predict a row."""
    import numpy as np

    import mlgt
    from mlgt.model.header import signed

    text = text.rstrip().removesuffix("}").rstrip() + "\n}"  # as `ModelWriter` ends it
    (folder / "model.json").write_text(signed(text), "utf-8", errors="surrogatepass")
    mlgt.load(folder)
    predictor = mlgt.Predictor(folder)
    labels, scores = predictor(np.array([0, 1]), np.array([1.0, 0.5], np.float32))
    assert np.isfinite(scores[labels >= 0]).all(), "scores are not finite"


def modules_with_kernels() -> list[str]:
    """Modules that are not instrumented: numba could not compile their kernels."""
    found = [file for file in SOURCE.rglob("*.py") if re.search(r"^@kernel", file.read_text("utf-8"), re.M)]
    return [".".join(("mlgt", *file.relative_to(SOURCE).with_suffix("").parts)) for file in found]


class Findings:
    """Each place where something else than a ValueError came from, once."""

    def __init__(self, name, folder):
        self.name, self.folder, self.seen = name, folder, set()

    def watch(self, target):
        def watched(data):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    target(data)
            except ValueError as error:
                if "\n" in str(error).strip():
                    self.report(error, data)
            except Exception as error:
                self.report(error, data)

        return watched

    def report(self, error, data):
        frames = traceback.extract_tb(error.__traceback__)
        own = next((f for f in reversed(frames) if "/mlgt/" in f.filename), frames[-1])
        place = type(error).__name__, own.filename, own.lineno
        if place in self.seen:
            return
        self.seen.add(place)
        file = self.folder / f"finding-{self.name}-{len(self.seen)}"
        file.write_bytes(data)
        text = str(error).replace("\n", " | ")[:300]
        print(
            f"FINDING {self.name}: {place[0]} at {Path(own.filename).name}:{own.lineno}: {text} ({file})",
            flush=True,
        )


def run_target(name: str, seconds: int, out: Path) -> None:
    """Fuzz one target in this process, which libFuzzer ends."""
    import atheris

    with atheris.instrument_imports(include=["mlgt"], exclude=modules_with_kernels()):
        import mlgt.cli.train
        import mlgt.data
        import mlgt.estimators
        import mlgt.model.predictor
        import mlgt.serve.parsing
        import mlgt.vocabulary  # noqa: F401

    new = out / f"corpus-{name}"
    new.mkdir(parents=True, exist_ok=True)
    scratch = Scratch(out / f"scratch-{name}")
    watched = Findings(name, out).watch(target_of(name, scratch))
    for seed in sorted((CORPUS / name).iterdir()):  # compiles kernels before the clock starts
        watched(seed.read_bytes())
    options = [f"-max_total_time={seconds}", "-timeout=20", "-rss_limit_mb=1500", f"-max_len={MAX_BYTES}",
               "-len_control=0", "-print_final_stats=1", f"-artifact_prefix={out}/{name}-"]  # fmt: skip
    atheris.Setup([sys.argv[0], *options, str(new), str(CORPUS / name)], watched)
    atheris.Fuzz()


def main_guided(target: str, seconds: int) -> int:
    """Run one target or all of them, each in processes of its own; returns the exit status."""
    if importlib.util.find_spec("atheris") is None:
        print("atheris is not installed; `pip install atheris` with a Python it has a wheel for (3.12).")
        return 2
    names = TARGETS if target == "all" else (target,)
    if not set(names) <= set(TARGETS):
        print(f"{target!r} is no target; choose one of {', '.join(TARGETS)}, or all.")
        return 2
    out = Path(os.environ.get("FUZZ_OUT") or tempfile.mkdtemp(prefix="mlgt-fuzz-"))
    out.mkdir(parents=True, exist_ok=True)
    print(f"findings and new inputs: {out}", flush=True)
    for name in names:
        end = time.monotonic() + seconds
        while (left := int(end - time.monotonic())) > 5:
            print(f"TARGET {name}, {left} s", flush=True)
            code = f"from tests.fuzz.guided import *; run_target({name!r}, {left}, Path({str(out)!r}))"
            subprocess.run([sys.executable, "-c", code], stderr=subprocess.STDOUT)
        shutil.rmtree(out / f"scratch-{name}", ignore_errors=True)
    return 0

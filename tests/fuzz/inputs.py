"""N mutated input files through the real command: each ends with status 0, or with 2 and one line."""

import contextlib
import gzip
import io
import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mlgt.cli import main

from .child import Outcome, run

GOOD = ("done", "refused")
BOMB_BYTES = 300 << 20
BOMBS = (b"\0", b" ", b"a", b"\n", b"0:1 ", b"x,", b'{"text": "')
HUGE = (
    b"99999999999999999999",
    b"2147483647",
    b"4294967296",
    b"1e309",
    b"-1",
    b"100000000",
    b"9" * 5000,
    b"nan",
)
ODD_TEXT = [
    t.encode("utf-8", "surrogatepass")
    for t in (
        "\0",
        "\ufeff",
        "\u2028",
        "\u202e",
        "\ud800",
        "é",
        "\U0010ffff",
        "\x1b[31m",
        "\r",
        '"',
        "\\u0000",
    )
] + [b"\xff\xfe", b"\xc3", b"\x80"]


SKOS_TTL = "@prefix s: <http://www.w3.org/2004/02/skos/core#> .\n@prefix e: <http://example.org/> .\n{}"
TTL_CONCEPT = 'e:{} s:prefLabel "{}"@en .\n'
SKOS_XML = (
    '<?xml version="1.0"?>\n<!DOCTYPE r [<!ENTITY e "http://example.org/">]>\n'
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
    'xmlns:s="http://www.w3.org/2004/02/skos/core#">\n{}</rdf:RDF>\n'
)
XML_CONCEPT = '<s:Concept rdf:about="&e;{}"><s:prefLabel xml:lang="en">{}</s:prefLabel></s:Concept>\n'


class Scenario(NamedTuple):
    """A command and the file of it that is mutated."""

    name: str
    arguments: list[str]
    file: Path


# Small valid files, and the commands that read them.


def write_files(folder: Path) -> None:
    """Write every kind of file that the command reads."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng, words = np.random.default_rng(0), "cat dog law tax sea sun red blue iron corn".split()
    tags = "animals law colours nature food goods".split()
    rows, records = ["60 10 6"], []
    for _ in range(60):
        own = sorted(rng.choice(10, 4, replace=False).tolist())
        labels = sorted({j % 6 for j in own[:2]})
        values = " ".join(f"{j}:{rng.random():.3f}" for j in own)
        rows.append(f"{','.join(map(str, labels))} {values}")
        records.append((" ".join(words[j] for j in own), [tags[l] for l in labels]))
    texts, lists = [text for text, _ in records], [labels for _, labels in records]
    files = {
        "rows.txt": "\n".join(rows) + "\n",
        "svm.txt": "\n".join(rows[1:]) + "\n",
        "texts.jsonl": "".join(json.dumps({"text": t, "labels": l}) + "\n" for t, l in records),
        "texts.csv": "text,labels\n" + "".join(f'"{t}",{";".join(l)}\n' for t, l in records),
        "texts.tsv": "text\tlabels\n" + "".join(f"{t}\t{';'.join(l)}\n" for t, l in records),
        "texts.lines": "\n".join(texts) + "\n",
        "names.txt": "\n".join(tags) + "\n",
        "groups.txt": "0 1\n2 3\n4 5\n0 2 4\n1 3 5\n",
        "places.txt": "a/x\na/x\na/y\na/y\na\n.\n",
        "permutation.txt": "3\n1\n2\n4\n6\n5\n",
        "sets.txt": "set1 = [1:2, 5:6]\nset2 = [3:4, 5:6]\n",
        "among.txt": "0\n3\n5\n",
        "words.txt": "\n".join(words) + "\n",
        "terms.tsv": "".join(f"id:{i}\t{tag}\tmany {tag}\n" for i, tag in enumerate([*tags, "sea food"])),
        "terms.csv": "id,name,altLabel\n" + "".join(f"id:{i},{tag},a|b\n" for i, tag in enumerate(tags)),
        "terms.lines": "\n".join([*tags, "sea food"]) + "\n",
        "terms.ttl": SKOS_TTL.format("".join(TTL_CONCEPT.format(i, t) for i, t in enumerate(tags))),
        "terms.rdf": SKOS_XML.format("".join(XML_CONCEPT.format(i, t) for i, t in enumerate(tags))),
    }
    for name, content in files.items():
        (folder / name).write_text(content, "utf-8")
    pq.write_table(pa.table({"text": texts, "labels": lists}), folder / "texts.parquet")


def scenarios(folder: Path) -> list[Scenario]:
    """Commands over the files of `folder`, whose models are in `folder/rows` and `folder/texts`."""
    found = []

    def add(name, verb, mutated, *arguments):
        found.append(Scenario(name, [verb, *(str(a) for a in arguments), "--quiet"], folder / mutated))

    out = folder / "out"
    for file in ("rows.txt", "svm.txt", "texts.jsonl", "texts.csv", "texts.tsv", "texts.parquet"):
        add(f"train {file}", "train", file, folder / file, "--model", out)
    for option, *files in (
        ("--label-names", "names.txt"), ("--groups", "groups.txt"), ("--partition", "places.txt"),
        ("--reordering", "permutation.txt", "sets.txt"),
    ):  # fmt: skip
        paths = [folder / file for file in files]
        for file in files:
            add(f"train {option}", "train", file, folder / "rows.txt", "--model", out, option, *paths)
    add(
        "predict --among",
        "predict",
        "among.txt",
        folder / "rows",
        folder / "rows.txt",
        "--among",
        folder / "among.txt",
    )
    for file in ("terms.tsv", "terms.csv", "terms.lines", "terms.ttl", "terms.rdf"):
        path, texts = folder / file, folder / "texts.csv"
        add(f"train --vocabulary {file}", "train", file, texts, "--model", out, "--vocabulary", path)
        known = folder / "named", "--vocabulary", path, "--out", out
        add(f"update --vocabulary {file}", "update", file, *known)
    names = "--label-names", folder / "names.txt", "--feature-names", folder / "words.txt"
    add("train --feature-names", "train", "words.txt", folder / "rows.txt", "--model", out, *names)
    models = folder / "texts", folder / "named"
    add("compare", "compare", "texts.csv", *models, folder / "texts.csv")
    for verb, more in (("predict", ()), ("evaluate", ()), ("update", ("--out", out))):
        for file in ("rows.txt", "svm.txt"):
            add(f"{verb} {file}", verb, file, folder / "rows", folder / file, *more)
        lines = ("texts.lines",) if verb == "predict" else ()
        for file in ("texts.jsonl", "texts.csv", "texts.tsv", "texts.parquet", *lines):
            add(f"{verb} {file}", verb, file, folder / "texts", folder / file, *more)
    return found


# Mutations of bytes.


def _span(data, rng):
    first = int(rng.integers(len(data) + 1))
    return first, min(len(data), first + int(rng.integers(1, 20)))


def _flip(data, rng):
    data = bytearray(data)
    for _ in range(rng.integers(1, 6)):
        data[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
    return bytes(data)


def _delete(data, rng):
    first, last = _span(data, rng)
    return data[:first] + data[last:]


def _insert(data, rng, pieces=None):
    first, _ = _span(data, rng)
    piece = rng.bytes(int(rng.integers(1, 9))) if pieces is None else pieces[rng.integers(len(pieces))]
    return data[:first] + piece * int(rng.choice([1, 1, 1, 50])) + data[first:]


def _repeat(data, rng):
    first, last = _span(data, rng)
    return data[:last] + data[first:last] * int(rng.integers(1, 200)) + data[last:]


def _truncate(data, rng):
    return data[: int(rng.integers(len(data)))]


def _digits(data, rng):
    """A number replaced by a huge or wrong one."""
    places = [i for i in range(len(data)) if data[i : i + 1].isdigit()]
    if not places:
        return _flip(data, rng)
    first = last = places[rng.integers(len(places))]
    while data[last : last + 1].isdigit():
        last += 1
    return data[:first] + HUGE[rng.integers(len(HUGE))] + data[last:]


def _lines(data, rng):
    lines = data.split(b"\n")
    one, two = rng.integers(len(lines), size=2)
    lines[one], lines[two] = lines[two], b"" if rng.random() < 0.3 else lines[one]
    return b"\n".join(lines)


MUTATIONS: list[Callable] = [
    _flip, _delete, _insert, _repeat, _truncate, _digits, _digits, _lines,
    lambda data, rng: _insert(data, rng, ODD_TEXT),
    lambda data, rng: data.replace(b"\n", (b"\r\n", b"\r", b"")[rng.integers(3)]),
]  # fmt: skip


def mutate(data: bytes, rng: np.random.Generator, bombs: list[bytes]) -> bytes:
    """One to three mutations, before or after packing, or a small file of very many bytes."""
    if rng.random() < 0.005:
        return bombs[rng.integers(len(bombs))]
    packed = rng.random() < 0.15
    if packed and rng.random() < 0.5:
        data, packed = gzip.compress(data, 1), False
    for _ in range(rng.choice([1, 1, 2, 3])):
        data = MUTATIONS[rng.integers(len(MUTATIONS))](data or b"\n", rng)
    return gzip.compress(data, 1) if packed else data


# Running.


def try_command(arguments: list[str]) -> Outcome:
    """The outcome of a command, run in the child."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(arguments)
    said = err.getvalue().strip()
    if "Traceback" in said:
        return Outcome("traceback", said[-500:])
    if status == 0:
        return Outcome("done")
    if status != 2:
        return Outcome(f"status {status}", said[-500:])
    last = said.splitlines()[-1] if said else ""
    return Outcome("refused" if last.startswith("mlgt: ") else "many lines", said[-500:])


def main_inputs(n: int, seed: int) -> int:
    """Mutate n files and print a table of the outcomes; returns the number of bad ones."""
    counts: Counter = Counter()
    kept = Path(os.environ.get("FUZZ_OUT") or tempfile.mkdtemp(prefix="mlgt-inputs-"))
    kept.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder)
        for model, file in (("rows", "rows.txt"), ("texts", "texts.csv")):
            assert try_command(["train", str(folder / file), "--model", str(folder / model)]).kind == "done"
        named = ["train", str(folder / "texts.csv"), "--model", str(folder / "named"), "--vocabulary"]
        assert try_command([*named, str(folder / "terms.tsv")]).kind == "done"
        commands = scenarios(folder)
        for scenario in commands:  # compiles the kernels, and shows that the originals pass
            outcome = try_command(scenario.arguments)
            assert outcome.kind == "done", f"{scenario.name}: {outcome}"
            shutil.rmtree(folder / "out", ignore_errors=True)
        bombs = [gzip.compress(piece * (BOMB_BYTES // len(piece)), 1) for piece in BOMBS]
        for i in range(n):
            rng = np.random.default_rng([seed, i])
            scenario = commands[rng.integers(len(commands))]
            before = scenario.file.read_bytes()
            content = mutate(before, rng, bombs)
            scenario.file.write_bytes(content)
            outcome = run(lambda scenario=scenario: try_command(scenario.arguments))
            scenario.file.write_bytes(before)
            shutil.rmtree(folder / "out", ignore_errors=True)
            counts[outcome.kind] += 1
            if outcome.kind not in GOOD:
                (kept / f"{i}-{scenario.file.name}").write_bytes(content)
                text = outcome.text.replace("\n", " | ")
                print(f"{i}: {scenario.name}: {outcome.kind}: {text}", flush=True)
    print(json.dumps({"inputs": n, "seed": seed, "kept in": str(kept), **dict(counts.most_common())}))
    return sum(count for kind, count in counts.items() if kind not in GOOD)

"""Forged model folders: mutations of headers and arrays, with right checksums and a right digest."""

import hashlib
import json
import shutil
from pathlib import Path

import numpy as np

from mlgt.model.header import signed

ODD = [
    None, True, False, 0, 1, -1, 2, 3, -5, 7, 255, 2**31 - 1, 2**31, 2**32, 2**63, -(2**63), 10**13, 10**30,
    0.0, -0.0, 0.5, 1.5, -1e-9, 1e-300, 1e30, 1e308, float("nan"), float("inf"), -float("inf"),
    "", "x", "auto", "soft", "\0", "\ud800", "\x1b[31m", "é" * 50, "nan", "1", "../x", "9" * 400,
    [], {}, [[]], [None], [1], ["a", "a"], [float("nan")], {"a": 1}, {"": None}, [[[[[[]]]]]],
]  # fmt: skip
"""Values that a header should not have, or not there."""
DUPLICATES = {
    "params": {"tol": 0.1, "loss": "hinge", "n_candidates": 3, "weight_bits": 8, "companions": True},
    "blend": {"company": 1.0, "cooccurrence": 2.0},
    "": {"candidate_prior": 1.0, "power": 2.0, "text": {}, "blocks": {}, "companions": []},
}
"""Entries of the same meaning, or of another version, by the place they are added to."""
DTYPES = "<f4 <f8 <f2 <i4 <i8 |i1 |u1 <u2 <u4 <u8 ?b <c8 >f4 >i4 >i8 |S3 <U2 <M8[s] |V4 |V0".replace(
    "?b", "|b1"
).split()


def forge(source: Path, target: Path, rng: np.random.Generator) -> str:
    """Write a mutated copy of the model `source` to `target`; returns what was changed."""
    shutil.copytree(source, target)
    header = json.loads((target / "model.json").read_text("utf-8"))
    header.pop("digest", None)
    changes = []
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        mutate = rng.choice([change_header, change_header, change_array, change_array, change_listing])
        changes.append(mutate(header, target, rng))
    write_header(target, header)
    return "; ".join(changes)


def write_header(folder: Path, header: dict) -> None:
    """Write a header with its digest; one that has no JSON form keeps the old one."""
    text = signed(json.dumps(header, indent=1))
    (folder / "model.json").write_text(text, "utf-8", errors="surrogatepass")


def write_array(folder: Path, header: dict, name: str, array: np.ndarray) -> None:
    """Write an array and its entry of the header."""
    file = folder / f"{name}.npy"
    np.save(file, array, allow_pickle=False)
    content = file.read_bytes()
    header["arrays"][name] = {
        "dtype": array.dtype.str, "shape": list(array.shape), "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }  # fmt: skip


# The header.


def change_header(header, folder, rng):
    """Delete, replace, swap or add an entry."""
    places = [place for place in _places(header) if place[0] != "arrays"]
    owner, key, path = _at(header, places[rng.integers(len(places))])
    kind = rng.choice(["delete", "odd", "odd", "odd", "negate", "huge", "swap", "add", "list"])
    value = owner[key]
    if kind == "delete":
        del owner[key]
    elif kind == "negate" and isinstance(value, int | float):
        owner[key] = -value - int(rng.integers(2))
    elif kind == "huge" and isinstance(value, int | float):
        owner[key] = value * 10 ** int(rng.integers(1, 20)) + int(rng.integers(3))
    elif kind == "swap":
        other, other_key, other_path = _at(header, places[rng.integers(len(places))])
        if other_path[: len(path)] != path and path[: len(other_path)] != other_path:
            owner[key], other[other_key] = other[other_key], owner[key]
        path = f"{path} with {other_path}"
    elif kind == "add":
        place = str(rng.choice(list(DUPLICATES)))
        into = header.get(place) if place else header
        if isinstance(into, dict):
            name = str(rng.choice(list(DUPLICATES[place])))
            into[name] = DUPLICATES[place][name]
            path = f"{place}/{name}"
    elif kind == "list" and isinstance(value, list) and value:
        at = int(rng.integers(len(value)))
        value.insert(at, value[at]) if rng.random() < 0.5 else value.pop(at)
    else:
        owner[key] = ODD[rng.integers(len(ODD))]
        kind = f"= {str(owner[key])[:20]!r}"
    return f"{kind} {path}"


def change_listing(header, folder, rng):
    """Change what the header says about an array, or which arrays there are."""
    names = list(header["arrays"])
    name = names[rng.integers(len(names))]
    kind = rng.choice(["drop", "rename", "entry", "swap", "copy"])
    other = names[rng.integers(len(names))]
    if kind == "drop":
        del header["arrays"][name]
    elif kind == "rename":
        header["arrays"][f"{name}_x"] = header["arrays"].pop(name)
        (folder / f"{name}.npy").rename(folder / f"{name}_x.npy")
    elif kind == "entry":
        key = str(rng.choice(["dtype", "shape", "bytes", "sha256"]))
        header["arrays"][name][key] = ODD[rng.integers(len(ODD))]
    else:
        one, two = (np.load(folder / f"{n}.npy") for n in (name, other))
        write_array(folder, header, name, two)
        if kind == "swap":
            write_array(folder, header, other, one)
    return f"{kind} {name}, {other}"


def _places(node, path=()):
    """Paths of all entries, those of lists up to the third element."""
    items = node.items() if isinstance(node, dict) else enumerate(node[:3])
    for key, value in items:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from _places(value, (*path, key))


def _at(header, path):
    owner = header
    for key in path[:-1]:
        owner = owner[key]
    return owner, path[-1], path


# Arrays.


def change_array(header, folder, rng):
    """Change type, shape or values of an array and all that the header says about it."""
    names = [name for name in header["arrays"] if (folder / f"{name}.npy").exists()]
    if not names:
        return "no arrays"
    name = names[rng.integers(len(names))]
    array = np.load(folder / f"{name}.npy")
    kind = str(rng.choice([*ARRAY_CHANGES]))
    with np.errstate(all="ignore"):
        try:
            array = ARRAY_CHANGES[kind](array, rng)
        except (ValueError, TypeError, IndexError, OverflowError):  # does not apply to this array
            kind = "none"
    write_array(folder, header, name, np.asarray(array))
    return f"{kind} {name}"


def _value(array, rng):
    """One to three entries replaced by a value that is extreme for the type."""
    array = array.copy()
    flat = array.reshape(-1)
    for _ in range(rng.integers(1, 4)):
        if array.dtype.kind == "f":
            value = rng.choice([np.nan, np.inf, -np.inf, 3e38, -3e38, 0, -1, 1e-40])
        else:
            edge = np.iinfo(array.dtype)
            near = int(flat[rng.integers(len(flat))]) + int(rng.integers(-2, 3))
            value = [edge.min, edge.max, -1, 0, 1, len(flat), len(flat) + 1, near, 10**6][rng.integers(9)]
            value = min(max(value, edge.min), edge.max)
        flat[rng.integers(len(flat))] = value
    return array


def _bytes(array, rng):
    """Some bytes of the content replaced: for lists of terms, JSON that is broken or odd."""
    content = bytearray(array.tobytes())
    for _ in range(rng.integers(1, 4)):
        content[rng.integers(len(content))] = rng.choice([*b'[]{}",\\0-9\xff\x00', rng.integers(256)])
    return np.frombuffer(bytes(content), array.dtype).reshape(array.shape)


def _json(array, rng):
    """Another JSON text in place of a list of terms."""
    texts = [
        "[]",
        "{}",
        "null",
        "[1, 2]",
        '["a"]',
        "[" * 5000,
        '["\\ud800"]',
        "[NaN]",
        '[["a"]]',
        "1" * 6000,
    ]
    if array.dtype != np.uint8:
        return _value(array, rng)
    return np.frombuffer(texts[rng.integers(len(texts))].encode(), np.uint8)


ARRAY_CHANGES = {
    "type": lambda a, rng: a.astype(DTYPES[rng.integers(len(DTYPES))]),
    "read as": lambda a, rng: a.view(DTYPES[rng.integers(len(DTYPES))]),
    "byte order": lambda a, rng: a.astype(a.dtype.newbyteorder(">")),
    "column": lambda a, rng: a[..., None],
    "flat": lambda a, rng: a.reshape(-1),
    "scalar": lambda a, rng: a.reshape(-1)[0],
    "transposed": lambda a, rng: np.asfortranarray(a.T if rng.random() < 0.5 else a),
    "shorter": lambda a, rng: a[: -int(rng.integers(1, 4))],
    "longer": lambda a, rng: np.concatenate([a, a[: int(rng.integers(1, 4))]]),
    "empty": lambda a, rng: a[:0],
    "huge and empty": lambda a, rng: np.zeros((10**13, 0), a.dtype),
    "no columns": lambda a, rng: a[..., :0],
    "value": _value,
    "values": _value,
    "constant": lambda a, rng: np.full_like(a, rng.choice([0, 1, -1, 100])),
    "shuffled": lambda a, rng: rng.permutation(a),
    "reversed": lambda a, rng: a[::-1],
    "bytes": _bytes,
    "json": _json,
}

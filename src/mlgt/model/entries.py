"""Entries of a model header: types and ranges, checked before anything is made of them.

A table has one line per entry, and a table within a table is an object. Entries that no table names are
ignored, since nothing is made of them; estimators refuse parameters that they do not know. `format`
compares sizes with the arrays, so that no number here can ask for more memory than the files have.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .._core.arrays import MAX_NUMBER
from ..blocks import COMBINATIONS
from ..decoding import DECODERS, DESIGN_DECODERS
from ..text import LANGUAGES

MAX_COUNT = (1 << 31) - 1
MAX_ROWS = 1 << 53
MAX_POWER = 1000.0
SHOWN = 40
"""Characters of a wrong value in a message."""


class Entry(NamedTuple):
    """What an entry must be, in words and as a test."""

    expected: str
    fits: Callable[[Any], bool]


def whole(least: int, most: int = MAX_COUNT) -> Entry:
    return Entry(f"a whole number from {least} to {most}", lambda v: type(v) is int and least <= v <= most)


def number(least: float = -MAX_NUMBER, most: float = MAX_NUMBER) -> Entry:
    """A finite number; NaN fits no range."""
    return Entry(
        f"a number from {least:g} to {most:g}", lambda v: type(v) in (int, float) and least <= v <= most
    )


def above(least: float, most: float = MAX_NUMBER) -> Entry:
    return Entry(
        f"a number above {least:g}, at most {most:g}",
        lambda v: type(v) in (int, float) and least < v <= most,
    )


def one_of(*values: Any) -> Entry:
    return Entry(
        f"one of {', '.join(map(repr, values))}", lambda v: type(v) in map(type, values) and v in values
    )


def either(*entries: Entry) -> Entry:
    expected = " or ".join(entry.expected for entry in entries)
    return Entry(expected, lambda v: any(entry.fits(v) for entry in entries))


def list_of(entry: Entry, least: int = 0, most: float = float("inf")) -> Entry:
    return Entry(
        f"a list, each {entry.expected}",
        lambda v: type(v) is list and least <= len(v) <= most and all(map(entry.fits, v)),
    )


def dict_of(entry: Entry) -> Entry:
    return Entry(
        f"an object, each value {entry.expected}",
        lambda v: type(v) is dict and all(map(entry.fits, v.values())),
    )


def tuple_of(*entries: Entry) -> Entry:
    return Entry(
        f"a list of {len(entries)} numbers",
        lambda v: type(v) is list and len(v) == len(entries) and all(e.fits(x) for e, x in zip(entries, v)),
    )


NONE = one_of(None)
TEXT = Entry("a text", lambda v: type(v) is str)
FLAG = one_of(True, False)
OBJECT = Entry("an object", lambda v: type(v) is dict)
MEASURED = either(number(), Entry("NaN or infinite", lambda v: type(v) is float))
"""A figure that is only shown; it may be a share of nothing."""
SETTING = either(NONE, FLAG, TEXT, number())
"""A parameter as it was given to the estimator; `fit` checks it."""
SETTINGS = either(NONE, dict_of(either(SETTING, list_of(number()), dict_of(number()))))

HEADER: dict[str, Any] = {
    "class": TEXT,
    "mlgt_version": TEXT,
    "params": {
        "construction": either(NONE, TEXT),
        "classifier": NONE,
        "decoder": one_of(*DECODERS, *DESIGN_DECODERS),
        "decoder_params": either(NONE, dict_of(number())),
        "construction_params": SETTINGS,
        "solver_params": SETTINGS,
        "ranker_params": SETTINGS,
        "normalize": FLAG,
        "ranker": one_of(None, "auto", "linear"),
        "tail": number(0),
        "quality": one_of("normal", "high"),
        "n_jobs": either(NONE, whole(-MAX_COUNT)),
        "verbose": either(FLAG, whole(0)),
        "random_state": either(NONE, whole(0, MAX_ROWS)),
    },
    "n_features": whole(1),
    "feature_names": either(NONE, list_of(TEXT)),
    "n_labels": whole(1),
    "label_names": either(NONE, list_of(TEXT)),
    "n_groups": whole(1),
    "column_weight": either(NONE, whole(1), list_of(either(NONE, whole(1)))),
    "column_weight_losses": either(NONE, list_of(tuple_of(whole(1), MEASURED))),
    "reproducible": FLAG,
    "n_iter": whole(0),
    "n_rows": whole(1, MAX_ROWS),
    "n_candidates": whole(1),
    "power": above(0, MAX_POWER),
    "C": above(0),
    "candidate_prior": number(),
    "blend": either(NONE, OBJECT),
    "final_blend": either(NONE, OBJECT),
    "rest": either(NONE, OBJECT),
    "tried": list_of(tuple_of(number(), number(), MEASURED)),
    "held_out": dict_of(either(MEASURED, TEXT)),
    "reasons": dict_of(TEXT),
}
BLEND = {
    name: number()
    for name in ("ranker matcher similarity name phrase unseen cooccurrence margin intercept".split())
}
BLEND |= {"calibrated": FLAG}
REST = {"slope": above(0), "intercept": number()}
BLOCKS = {
    "lost": either(NONE, MEASURED),
    "partitioner": either(NONE, TEXT),
    "budget": either(NONE, number()),
    "combination": one_of(*COMBINATIONS),
    "bonus": either(NONE, number()),
    "width": either(NONE, whole(1)),
    "routes": either(NONE, whole(1)),
    "lost_routes": either(NONE, MEASURED),
    "rows": list_of(whole(0, MAX_ROWS)),
}
TEXTS: dict[str, Any] = {
    "params": {
        "words": whole(0),
        "characters": either(NONE, tuple_of(whole(1), whole(1))),
        "min_df": either(TEXT, whole(1)),
        "max_features": either(NONE, whole(1)),
        "hashing": either(FLAG, whole(1)),
    },
    "default_classifier": FLAG,
    "languages": list_of(one_of(*LANGUAGES), 0, len(LANGUAGES)),
    "language_shares": dict_of(number(0, 1)),
    "max_characters": either(NONE, whole(1)),
    "columns": either(NONE, OBJECT),
    "parts": list_of(OBJECT, 1, 2),
}
TEXT_SETTINGS = {
    "language": either(NONE, TEXT, list_of(TEXT)),
    "max_characters": either(NONE, whole(1)),
}
"""Parameters that older models of texts lack."""
COLUMNS = {"text": list_of(TEXT, 1), "labels": TEXT, "separator": either(NONE, TEXT)}
PART = {"of": one_of("words", "characters"), "shortest": whole(1), "longest": whole(1), "hashed": FLAG}


def check_entries(table: Mapping[str, Any], facts: Any, where: str = "") -> None:
    """Raise unless the object `facts` has every entry of the table, each as the table says."""
    if not isinstance(facts, dict):
        raise ValueError(f"{where.rstrip('.')} is {_shown(facts)}; expected an object")
    for name, entry in table.items():
        if isinstance(entry, dict):
            check_entries(entry, facts.get(name), f"{where}{name}.")
        elif name not in facts:
            raise ValueError(f"{where}{name} is missing; expected {entry.expected}")
        elif not entry.fits(facts[name]):
            raise ValueError(f"{where}{name} is {_shown(facts[name])}; expected {entry.expected}")


def check_header(header: Mapping[str, Any]) -> None:
    """Raise unless all entries of a header of the current version are right and fit together."""
    check_entries(HEADER, header)
    other = {name: value for name, value in header["params"].items() if name not in HEADER["params"]}
    check_entries(dict.fromkeys(other, SETTING), other, "params.")
    for name in ("blend", "final_blend"):
        if header[name] is not None:
            check_entries(BLEND, header[name], f"{name}.")
    if header["rest"] is not None:
        check_entries(REST, header["rest"], "rest.")
    if "blocks" in header:
        check_entries(BLOCKS, header["blocks"], "blocks.")
    if "text" in header:
        _check_text(header["text"])
    for name, count in (("label_names", header["n_labels"]), ("feature_names", header["n_features"])):
        if header[name] is not None and len(header[name]) != count:
            raise ValueError(f"{name} has {len(header[name])} names for {count}")
    if "text" in header and len({*(header["label_names"] or ())}) != header["n_labels"]:
        raise ValueError("label_names are not the distinct names of all labels, which texts need")
    weights = header["column_weight"] if "blocks" in header else [header["column_weight"]]
    if not isinstance(weights, list) or any(
        type(w) is list or (w or 1) > header["n_groups"] for w in weights
    ):
        raise ValueError(f"column_weight does not go with {header['n_groups']} groups")


def _check_text(text):
    check_entries(TEXTS, text, "text.")
    given = {name: entry for name, entry in TEXT_SETTINGS.items() if name in text["params"]}
    check_entries(given, text["params"], "text.params.")
    if text["columns"] is not None:
        check_entries(COLUMNS, text["columns"], "text.columns.")
        if text["columns"].keys() != COLUMNS.keys():
            raise ValueError(f"text.columns has other entries than {', '.join(COLUMNS)}")
    for part in text["parts"]:
        check_entries(PART, part, "text.parts.")
        if part["shortest"] > part["longest"]:
            raise ValueError(f"text.parts has runs from {part['shortest']} to {part['longest']}")
    if len({part["of"] for part in text["parts"]}) != len(text["parts"]):
        raise ValueError("text.parts has a kind of term twice")


def _shown(value):
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."

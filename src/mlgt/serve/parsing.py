"""Bytes of a request -> a `Tagging`, from any of the three shapes that are understood.

    mlgt           {"text": "..."} or {"texts": [...]} or {"rows": [{"indices": [...], "values": [...]}]},
                   with "k", "threshold", "among", "explain", "stream"
    Hugging Face   {"inputs": "..." or [...], "parameters": {"top_k": 5}}
    Annif          form fields text, limit, threshold; or {"documents": [{"text": "..."}]}

Nothing here knows a model. Any bytes give a `Tagging` or a `RequestError`.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

import numpy as np

from .errors import RequestError, bad, too_large, unfit
from .limits import RequestLimits

DEFAULT_K = 5
DEFAULT_SUGGESTIONS = 10
"""Annif's default of `limit`."""
SHOWN = 60
"""Characters of a wrong value in a message."""
MAX_FORM_FIELDS = 100
_CHARSET = re.compile(r'charset\s*=\s*"?([^\s";]+)', re.I)


@dataclass(frozen=True)
class Tagging:
    """Texts or rows to tag, and how."""

    items: Sequence[Any]
    """Texts, or rows as (indices, values)."""
    of_texts: bool = True
    k: int | str | None = None
    """None is the default, or with a threshold all candidates."""
    threshold: float | None = None
    among: tuple[str | int, ...] | None = None
    explain: bool = False
    stream: bool = False


def parse_tagging(body: bytes, limits: RequestLimits) -> Tagging:
    """Read a request in the shape of mlgt."""
    found = _object(body, "text, texts, rows, k, threshold, among, explain, stream".split(", "))
    given = [key for key in ("text", "texts", "rows") if key in found]
    if len(given) != 1:
        raise bad(
            f"The request has {' and '.join(given) or 'no text'}; expected exactly one of "
            '"text": "...", "texts": ["...", ...] and "rows": [{"indices": [...], "values": [...]}, ...].'
        )
    key = given[0]
    items = [found[key]] if key == "text" else _list(key, found[key])
    of_texts = key != "rows"
    explain = _flag("explain", found.get("explain", False))
    return Tagging(
        items=_texts(key, items, limits, explain) if of_texts else _rows(items, limits),
        of_texts=of_texts,
        k=_k("k", found.get("k"), limits),
        threshold=_threshold(found.get("threshold")),
        among=_among(found.get("among"), limits),
        explain=explain,
        stream=_flag("stream", found.get("stream", False)),
    )


def parse_classification(body: bytes, limits: RequestLimits) -> Tagging:
    """Read a request in the shape of Hugging Face's text classification."""
    found = _object(body, ["inputs", "parameters", "options"])
    if "inputs" not in found:
        raise bad('The request has no "inputs"; expected {"inputs": "..."} or {"inputs": ["...", ...]}.')
    parameters = found.get("parameters")
    if parameters is not None and not isinstance(parameters, dict):
        raise bad(f'"parameters" is {_shown(parameters)}; expected an object such as {{"top_k": 5}}.')
    inputs = found["inputs"]
    items = [inputs] if isinstance(inputs, str) else _list("inputs", inputs)
    k = _k("top_k", (parameters or {}).get("top_k"), limits, auto=False)
    return Tagging(_texts("inputs", items, limits), k=DEFAULT_K if k is None else k)


def parse_suggestion(body: bytes, content_type: str, limits: RequestLimits) -> Tagging:
    """Read a request of Annif's `suggest`: a form, or the same fields as JSON."""
    if "json" in content_type.lower():
        found = _object(body)
    elif "multipart" in content_type.lower():
        raise RequestError(
            415, "The request is multipart; expected a form as application/x-www-form-urlencoded, or JSON."
        )
    else:
        found = dict(_form(body, content_type))
    if "text" not in found:
        raise bad('The request has no field "text"; expected text=..., and perhaps limit and threshold.')
    items = _texts("text", [found["text"]], limits)
    return Tagging(items, **suggestion_options(found, limits))


def parse_suggestions(
    body: bytes, options: Mapping[str, str], limits: RequestLimits
) -> tuple[Tagging, list]:
    """Read a request of Annif's `suggest-batch`; return it with the ids of its documents, or None each."""
    documents = _list("documents", _object(body).get("documents"))
    _check_count(documents, limits)
    for i, document in enumerate(documents):
        if not isinstance(document, dict) or "text" not in document:
            raise bad(f'documents[{i}] is {_shown(document)}; expected {{"text": "..."}}.')
    ids = [document.get("document_id") for document in documents]
    texts = _texts("documents", [document["text"] for document in documents], limits)
    return Tagging(texts, **suggestion_options(options, limits)), ids


def suggestion_options(found: Mapping[str, Any], limits: RequestLimits) -> dict[str, Any]:
    """Return k and threshold of Annif's fields `limit` and `threshold`, numbers or texts of them."""
    k = _k("limit", _number(found.get("limit")), limits, auto=False)
    threshold = _threshold(_number(found.get("threshold")))
    return {"k": DEFAULT_SUGGESTIONS if k is None else k, "threshold": threshold or None}


def check_media(content_type: str, encoding: str) -> None:
    """Raise unless a body of this Content-Type and Content-Encoding can be read."""
    if encoding.lower() not in ("", "identity"):
        raise RequestError(415, f"The body has the encoding {_shown(encoding)}; expected it unpacked.")
    charset = _CHARSET.search(content_type)
    if charset and charset[1].lower() not in ("utf-8", "utf8", "us-ascii", "ascii"):
        raise RequestError(415, f"The body has the character set {_shown(charset[1])}; expected UTF-8.")


def _object(body, known=None):
    """The JSON object of a body; with `known`, its keys are among these."""
    try:
        found = _DECODER.decode(_decoded(body))
    except RecursionError:
        raise bad("The JSON has too many brackets in each other; expected one flat object.") from None
    except ValueError as error:
        raise bad(f"The body is not JSON ({_shortened(str(error))}); expected one object.") from None
    if not isinstance(found, dict):
        raise bad(f"The body is {_shown(found)}; expected one JSON object.")
    for key in found if known else ():
        if key not in known:
            raise bad(f"The request has {_shown(key)}, which is unknown; expected {', '.join(known)}.")
    return found


def _form(body, content_type):
    try:
        return parse_qsl(
            _decoded(body), keep_blank_values=True, errors="strict", max_num_fields=MAX_FORM_FIELDS
        )
    except ValueError:
        raise bad(
            f"The body is no form in UTF-8 with at most {MAX_FORM_FIELDS} fields; expected "
            f"text=...&limit=10, or JSON with its Content-Type (it is {_shown(content_type)})."
        ) from None


def _decoded(body):
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise bad(f"The body is not UTF-8 (byte {error.start}); expected UTF-8.") from None


def _refuse_constant(name):
    raise ValueError(f"{name} is no JSON number")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def _list(key, value):
    if not isinstance(value, list):
        raise bad(f'"{key}" is {_shown(value)}; expected a list.')
    return value


def _flag(key, value):
    if not isinstance(value, bool):
        raise bad(f'"{key}" is {_shown(value)}; expected true or false.')
    return value


def _texts(key, items, limits, explain=False):
    _check_count(items, limits)
    for i, text in enumerate(items):
        if not isinstance(text, str):
            raise bad(f'"{key}", text {i + 1}, is {_shown(text)}; expected a string.')
        if len(text) > limits.characters:
            raise too_large(
                f'"{key}", text {i + 1}, has {len(text)} characters; expected at most {limits.characters}.'
            )
    if explain and sum(map(len, items)) > limits.explained:
        raise too_large(
            f"The texts have {sum(map(len, items))} characters; expected at most {limits.explained} with "
            '"explain". Send fewer texts at once.'
        )
    return items


def _rows(items, limits):
    _check_count(items, limits)
    return [_row(i, item) for i, item in enumerate(items)]


def _row(i, item):
    if not isinstance(item, dict) or set(item) != {"indices", "values"}:
        raise bad(f'rows[{i}] is {_shown(item)}; expected {{"indices": [...], "values": [...]}}.')
    indices, values = (_list(f"rows[{i}].{key}", item[key]) for key in ("indices", "values"))
    if len(indices) != len(values):
        raise bad(
            f"rows[{i}] has {len(indices)} indices and {len(values)} values; expected as many of each."
        )
    for index in indices:
        if type(index) is not int or not 0 <= index < 2**31:
            raise bad(f"rows[{i}].indices has {_shown(index)}; expected whole numbers from 0.")
    for value in values:
        if type(value) not in (int, float) or not abs(value) < 1e30:  # as float32, also when squared
            raise bad(f"rows[{i}].values has {_shown(value)}; expected numbers below 1e30.")
    return np.array(indices, np.int64), np.array(values, np.float32)


def _check_count(items, limits):
    if not items:
        raise bad("The request has no text and no row; expected at least one.")
    if len(items) > limits.texts:
        raise too_large(f"The request has {len(items)} texts or rows; expected at most {limits.texts}.")


def _k(key, value, limits, auto=True):
    if value is None or (auto and value == "auto"):
        return value
    if type(value) is not int or value < 1:
        expected = 'a whole number of at least 1, or "auto"' if auto else "a whole number of at least 1"
        raise bad(f'"{key}" is {_shown(value)}; expected {expected}.')
    if value > limits.labels:
        raise unfit(f'"{key}" is {_shown(value)}; expected at most {limits.labels}.')
    return value


def _threshold(value):
    if value is None:
        return None
    if type(value) not in (int, float) or not 0 <= value <= 1:
        raise bad(f'"threshold" is {_shown(value)}; expected a probability from 0 to 1.')
    return float(value)


def _among(value, limits):
    if value is None:
        return None
    labels = _list("among", value)
    if not 0 < len(labels) <= limits.labels:
        raise unfit(f'"among" has {len(labels)} labels; expected 1 to {limits.labels}.')
    for label in labels:
        if not isinstance(label, str) and type(label) is not int:
            raise bad(f'"among" has {_shown(label)}; expected names or ids of labels.')
    return tuple(labels)


def _number(value):
    """The number that a form field spells, or the value as it is."""
    if isinstance(value, str):
        try:
            return int(value) if re.fullmatch(r"[0-9]{1,18}", value) else _finite(float(value))
        except ValueError:
            return value
    return value


def _finite(value):
    if not math.isfinite(value):
        raise ValueError
    return value


def _shown(value):
    """A value for a message: JSON, cut."""
    if isinstance(value, (list, dict)):
        return f"a list of {len(value)}" if isinstance(value, list) else f"an object of {len(value)} keys"
    try:
        return _shortened(json.dumps(value))
    except ValueError:  # a number of thousands of digits
        return "a number too long to print"


def _shortened(text):
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."

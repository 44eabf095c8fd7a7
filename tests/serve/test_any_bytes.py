"""Any bytes are a request or a refusal."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlgt.serve.errors import RequestError
from mlgt.serve.limits import RequestLimits
from mlgt.serve.parsing import (
    Tagging,
    check_media,
    parse_classification,
    parse_suggestion,
    parse_suggestions,
    parse_tagging,
)

LIMITS = RequestLimits(texts=5, characters=50, labels=20, explained=60)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=60) | st.just("auto"),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
KEYS = st.sampled_from(
    "text texts rows k threshold among explain stream inputs parameters documents limit indices".split()
)
BODIES = (
    st.binary(max_size=80)
    | JSON.map(lambda value: json.dumps(value).encode())
    | st.dictionaries(KEYS, JSON, max_size=4).map(lambda value: json.dumps(value).encode())
)


def parse_all(body, content_type):
    """The outcomes of all parsers."""
    for parse in (
        parse_tagging,
        parse_classification,
        lambda body, limits: parse_suggestion(body, content_type, limits),
        lambda body, limits: parse_suggestions(body, {"limit": content_type, "threshold": "0.5"}, limits)[
            0
        ],
    ):
        try:
            check_media(content_type, "")
            yield parse(body, LIMITS)
        except RequestError as error:
            yield error


@settings(max_examples=150, deadline=None)
@given(BODIES, st.sampled_from(["", "application/json", "multipart/form-data", "x; charset=utf-16"]))
def test_any_bytes_give_a_request_or_a_refusal(body, content_type):
    for asked in parse_all(body, content_type):
        if isinstance(asked, RequestError):
            assert asked.status in (400, 413, 415, 422)
            assert 10 < len(asked.message) < 600
            continue
        assert isinstance(asked, Tagging)
        assert 1 <= len(asked.items) <= LIMITS.texts
        assert asked.k in (None, "auto") or 1 <= asked.k <= LIMITS.labels
        assert asked.threshold is None or 0 <= asked.threshold <= 1
        if asked.of_texts:
            assert all(isinstance(text, str) and len(text) <= LIMITS.characters for text in asked.items)
        else:
            assert all(len(indices) == len(values) for indices, values in asked.items)
        hash(asked.among)


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=200), st.sampled_from([1, 3, "auto"]))
def test_any_text_is_answered(server, text, k):
    """Also control characters, lone surrogates, scripts that are written from right to left."""
    body = json.dumps({"text": text, "k": k, "explain": True})
    status, answer = server.ask("/v1/models/animals/tag", body)
    assert status == 200
    for found in answer["results"][0]:
        assert all(0 <= start < end <= len(text) for start, end, _ in found["marks"])


@pytest.mark.parametrize("query", ["", "(", "[a-", "\\", "\x00", "ß" * 300, "\ud800"])
def test_any_query_is_searched(server, query):
    from urllib.parse import quote

    assert server.ask(f"/v1/models/animals/labels?q={quote(query, errors='replace')}")[0] == 200

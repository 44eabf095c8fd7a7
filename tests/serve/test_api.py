"""The API over a real socket."""

import json
import re
from urllib.parse import quote, urlencode

import numpy as np
import pytest

from mlgt import Predictor

TEXT = "the cat and the judge"
HOSTILE = "<img src=x onerror=alert(1)>"


def tag(server, model="animals", **request):
    status, answer = server.ask(f"/v1/models/{model}/tag", request)
    assert status == 200, answer
    return answer["results"]


def test_a_text_gets_the_labels_of_the_predictor(server, predictor):
    (found,) = tag(server, text=TEXT, k=3)
    expected = predictor.tag(TEXT, 3, ids=True)
    assert [(one["label"], one["id"]) for one in found] == [(name, id) for name, _, id in expected]
    np.testing.assert_allclose(
        [one["probability"] for one in found], [p for _, p, _ in expected], rtol=1e-5
    )


def test_k_auto_threshold_and_among(server, predictor):
    assert [one["label"] for one in tag(server, text=TEXT, k="auto")[0]] == [
        name for name, _ in predictor.tag(TEXT, "auto")
    ]
    assert all(one["probability"] >= 0.3 for one in tag(server, text=TEXT, threshold=0.3)[0])
    assert len(tag(server, text=TEXT, threshold=0)[0]) == 4
    assert {one["label"] for one in tag(server, text=TEXT, among=["p4", "cats"])[0]} == {"Füße", "cats"}
    assert tag(server, texts=["xyzzy", ""]) == [[], []]


def test_many_texts_keep_their_order_in_pieces(server, predictor):
    texts = ["cat purr", "dog bark", "judge law", "füße schuh", "unknown"] * 50
    results = tag(server, texts=texts, k=1)
    expected = [[name for name, _ in found] for found in predictor.tag(texts, 1)]
    assert [[one["label"] for one in found] for found in results] == expected


def test_json_lines_are_the_same_answers(server):
    texts = ["cat purr", "dog bark", "xyzzy"] * 40
    request = {"texts": texts, "k": 2}
    results = tag(server, **request)
    for body, headers in (
        ({**request, "stream": True}, {}),
        (request, {"Accept": "application/x-ndjson"}),
    ):
        status, text = server.ask("/v1/models/animals/tag", body, headers=headers)
        assert status == 200
        assert server.headers["content-type"] == "application/x-ndjson"
        assert [json.loads(line)["result"] for line in text.splitlines()] == results


def test_explanations_have_words_and_their_places(server):
    text = "\U0001f431 the cat purrs, the judge"
    best = tag(server, text=text, k=1, explain=True)[0][0]
    assert best["words"][0][0] in ("cat", "judge")
    marked = {text[start:end] for start, end, share in best["marks"] if share > 0}
    assert marked & {"cat", "judge"}
    assert tag(server, text="xyzzy", explain=True) == [[]]


def test_rows(server, model_folders):
    own = Predictor(model_folders["rows"])
    rows = [{"indices": [5, 1, 7], "values": [1.0, 0.5, 2]}, {"indices": [], "values": []}]
    found = tag(server, "rows", rows=rows, k=4)
    labels, _ = own(np.array([5, 1, 7]), np.array([1.0, 0.5, 2]), 4)
    assert [one["label"] for one in found[0]] == labels.tolist()
    assert len(found) == 2
    explained = tag(server, "rows", rows=rows[:1], k=2, explain=True)
    assert explained[0][0]["words"][0][0].startswith("feature ")


def test_the_shape_of_annif(server, predictor):
    status, found = server.ask("/v1/projects")
    assert (status, [project["project_id"] for project in found["projects"]]) == (200, ["animals", "rows"])
    status, project = server.ask("/v1/projects/animals")
    assert project["is_trained"] is True
    form = urlencode({"text": TEXT, "limit": "2", "threshold": "0.0", "language": "en"})
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    status, found = server.ask("/v1/projects/animals/suggest", form, headers=headers)
    expected = predictor.tag(TEXT, 2, ids=True)
    assert [(one["uri"], one["label"]) for one in found["results"]] == [(i, n) for n, _, i in expected]
    assert all(0 <= one["score"] <= 1 and one["notation"] is None for one in found["results"])
    documents = [{"text": "cat purr", "document_id": "a"}, {"text": "dog bark"}]
    status, found = server.ask("/v1/projects/animals/suggest-batch?limit=1", {"documents": documents})
    assert [(one["document_id"], len(one["results"])) for one in found] == [("a", 1), (None, 1)]


def test_the_shape_of_hugging_face(server):
    request = {"inputs": "cat purr", "parameters": {"top_k": 2}}
    status, found = server.ask("/v1/models/animals/classify", request)
    assert status == 200
    assert [len(one) for one in found] == [2]
    assert found[0][0]["label"] == "cats"
    assert set(found[0][0]) == {"label", "score"}
    assert len(server.ask("/v1/models/animals/classify", {"inputs": ["cat", "dog"]})[1]) == 2


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("CANINES", "dogs & hounds"),
        ("hound", "dogs & hounds"),
        ("fusse", "Füße"),
        ("p3", HOSTILE),
        ("at", "cats"),
    ],
)
def test_labels_are_found_by_parts_of_names_and_ids(server, query, first):
    status, found = server.ask(f"/v1/models/animals/labels?q={quote(query)}")
    assert status == 200
    assert found["labels"][0]["label"] == first


def test_label_search_without_a_query_or_a_match(server):
    assert len(server.ask("/v1/models/animals/labels")[1]["labels"]) == 4
    assert server.ask("/v1/models/animals/labels?q=zebra")[1]["labels"] == []
    assert server.ask("/v1/models/rows/labels?q=17")[1]["labels"][0]["label"] == 17


WRONG = [
    (b"", 400, "not JSON"),
    (b"{", 400, "not JSON"),
    (b"[]", 400, "one JSON object"),
    (b"\xff\xfe{\0}\0", 400, "UTF-8"),
    (b"[" * 100_000, 400, "brackets"),
    (b'{"text": NaN}', 400, "NaN"),
    (b'{"text": "a", "k": ' + b"9" * 5000 + b"}", 400, "not JSON"),
    ({}, 400, "exactly one of"),
    ({"text": "a", "texts": ["b"]}, 400, "exactly one of"),
    ({"text": None}, 400, "expected a string"),
    ({"texts": "a"}, 400, "expected a list"),
    ({"texts": []}, 400, "at least one"),
    ({"texts": ["a", 1]}, 400, "text 2, is 1"),
    ({"text": "a", "k": 0}, 400, "whole number"),
    ({"text": "a", "k": True}, 400, "whole number"),
    ({"text": "a", "k": 10**9}, 422, "at most 1000"),
    ({"text": "a", "threshold": 2}, 400, "from 0 to 1"),
    ({"text": "a", "among": []}, 422, "1 to 1000"),
    ({"text": "a", "among": ["zebra"]}, 422, "no label of this model"),
    ({"text": "a", "among": [{}]}, 400, "names or ids"),
    ({"text": "a", "explain": "yes"}, 400, "true or false"),
    ({"text": "a", "colour": "red"}, 400, "unknown"),
    ({"texts": ["a"] * 10_001}, 413, "at most 10000"),
    ({"text": "a" * 1_000_001}, 413, "at most 1000000"),
    ({"text": "a" * 100_001, "explain": True}, 413, "at most 100000"),
    ({"rows": [{"indices": [0], "values": [1]}]}, 422, "takes texts"),
]


@pytest.mark.parametrize(("body", "status", "words"), WRONG)
def test_wrong_requests_are_told_what_is_expected(server, body, status, words):
    found, answer = server.ask("/v1/models/animals/tag", body)
    assert (found, answer["status"]) == (status, status)
    assert words in answer["error"]


@pytest.mark.parametrize(
    "row",
    [
        {"indices": [500], "values": [1]},
        {"indices": [-1], "values": [1]},
        {"indices": [0.5], "values": [1]},
        {"indices": [0], "values": ["x"]},
        {"indices": [0], "values": []},
        {"indices": [0], "values": [1e300]},
        [1, 2],
    ],
)
def test_wrong_rows(server, row):
    status, answer = server.ask("/v1/models/rows/tag", {"rows": [row]})
    assert status in (400, 422)
    assert "rows[0]" in answer["error"]


def test_wrong_paths_methods_and_encodings(server):
    assert server.ask("/v1/models/zebra/tag", {"text": "a"})[0] == 404
    assert server.ask("/nothing")[0] == 404
    assert server.ask("/v1/models/animals/tag")[0] == 405
    assert server.headers["allow"] == "POST"
    headers = {"Content-Type": "application/json; charset=utf-16"}
    assert server.ask("/v1/models/animals/tag", "{}", headers=headers)[0] == 415
    headers = {"Content-Encoding": "gzip"}
    assert server.ask("/v1/models/animals/tag", "{}", headers=headers)[0] == 415
    assert server.ask("/v1/models/animals/labels?limit=-1")[0] == 400
    assert server.ask("/v1/projects/animals/suggest", "text=%ff")[0] == 400
    assert server.ask("/health", headers={"Host": "evil.example:80"})[0] == 421
    for path in ("/static/../app.py", "/static/..%2fapp.py", "/static/%2e%2e/app.py"):
        assert server.ask(path)[0] == 404


def test_health_metrics_and_description(server):
    assert server.ask("/health") == (200, {"status": "ok"})
    assert server.ask("/ready")[1]["status"] == "ready"
    before = float(re.search(r"^mlgt_texts_total (\d+)", server.ask("/metrics")[1], re.M)[1])
    tag(server, texts=["cat"] * 7)
    _, text = server.ask("/metrics")
    assert float(re.search(r"^mlgt_texts_total (\d+)", text, re.M)[1]) == before + 7
    assert all(re.fullmatch(r'#.*|\w+(\{(\w+="[^"]*",?)+\})? [\d.e+]+', line) for line in text.splitlines())
    _, described = server.ask("/openapi.json")
    for path in ("/v1/models", "/health", "/v1/models/{name}/labels", "/v1/projects/{name}"):
        assert server.ask(path.format(name="animals"))[0] == 200
        assert path in described["paths"]
    for path in ("/docs", "/"):
        status, page = server.ask(path)
        assert status == 200
        assert [url for url in re.findall(r"(?:src|href)=\"?([^\"> ]+)", page) if url[0] not in "/#"] == []
        assert "//" not in page
        policy = server.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy


def test_every_example_of_the_description_is_answered(server):
    """The requests that /docs shows, sent as they are."""
    _, described = server.ask("/openapi.json")
    sent = 0
    for path, methods in described["paths"].items():
        for media, content in methods.get("post", {}).get("requestBody", {}).get("content", {}).items():
            status, _ = server.ask(
                path.format(name="animals"), content["example"], headers={"Content-Type": media}
            )
            assert status == 200
            sent += 1
    assert sent == 4


def test_files_of_the_page_are_kept_by_browsers(server):
    server.ask("/static/page.css")
    tag_of_content = server.headers["etag"]
    assert server.ask("/static/page.css", headers={"If-None-Match": tag_of_content})[0] == 304

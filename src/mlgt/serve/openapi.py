"""The description of the API for programs (OpenAPI 3.1) and, as `/docs`, for people."""

from functools import cache
from typing import Any

from .._version import __version__

_LABEL = {"label": "games::puzzle", "id": None, "probability": 0.93}
_WORDS = {"words": [["chess", 2.1]], "marks": [[2, 7, 2.1]]}
_MODEL = {
    "name": "tags",
    "takes": "texts",
    "value": "probability",
    "labels": 552,
    "features": 12000,
    "training_rows": 23714,
    "text_columns": ["words"],
    "label_column": "tags",
    "label_separator": ";",
    "language": None,
    "read_at": "2026-01-01T00:00:00Z",
}
_PROJECT = {
    "project_id": "tags",
    "name": "tags",
    "language": "und",
    "backend": {"backend_id": "mlgt"},
    "is_trained": True,
    "modification_time": "2026-01-01T00:00:00Z",
}
_SUGGESTION = {"uri": "games::puzzle", "label": "games::puzzle", "notation": None, "score": 0.93}
_SUGGESTIONS = {"results": [_SUGGESTION]}
_NAME = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}
_TEXTS = {"type": "array", "items": {"type": "string"}, "minItems": 1}
_ROW = {
    "type": "object",
    "required": ["indices", "values"],
    "properties": {
        "indices": {"type": "array", "items": {"type": "integer", "minimum": 0}},
        "values": {"type": "array", "items": {"type": "number"}},
    },
}
_TAG = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "text": {"type": "string", "description": "One text; or texts, or rows."},
        "texts": _TEXTS,
        "rows": {"type": "array", "items": _ROW, "minItems": 1},
        "k": {
            "description": 'Labels per text; "auto" keeps the set with the largest expected F1.',
            "oneOf": [{"type": "integer", "minimum": 1}, {"const": "auto"}],
            "default": 5,
        },
        "threshold": {"type": "number", "minimum": 0, "maximum": 1},
        "among": {
            "description": "Names or ids of the labels to score; no others are returned.",
            "type": "array",
            "items": {"type": ["string", "integer"]},
            "minItems": 1,
        },
        "explain": {"type": "boolean", "description": "Add the words for and against each label."},
        "stream": {"type": "boolean", "description": "Answer in JSON lines, one per text."},
    },
}


@cache
def description() -> dict[str, Any]:
    """Return the description."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "API of mlgt serve",
            "version": __version__,
            "description": "Labels for texts or rows, from models of mlgt. Errors are JSON, "
            '{"error": what was wrong and what is expected, "status": number}. Positions in "marks" count '
            "characters (Unicode code points) of the text.",
        },
        "paths": _paths(),
    }


def _paths():
    return _model_paths() | _annif_paths() | _server_paths()


def _annif_paths():
    form = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}
    limits = [_query("limit", "Most suggestions (default: 10)."), _query("threshold", "Lowest score.")]
    return {
        "/v1/projects": {"get": _about("Annif: list the models as projects.", {"projects": [_PROJECT]})},
        "/v1/projects/{name}": {"get": _about("Annif: describe a project.", _PROJECT, [_NAME])},
        "/v1/projects/{name}/suggest": {
            "post": _about(
                "Annif: suggest subjects for a text; the endpoint of Annif's http backend.",
                _SUGGESTIONS,
                [_NAME],
                _body(form, "text=a+chess+program&limit=10", "application/x-www-form-urlencoded"),
            )
        },
        "/v1/projects/{name}/suggest-batch": {
            "post": _about(
                "Annif: suggest subjects for several texts.",
                [{"document_id": "1"} | _SUGGESTIONS],
                [_NAME, *limits],
                _body(
                    {"type": "object", "required": ["documents"]},
                    {"documents": [{"text": "a chess program", "document_id": "1"}]},
                ),
            )
        },
    }


def _server_paths():
    return {
        "/health": {"get": _about("Answer as long as the process works.", {"status": "ok"})},
        "/ready": {
            "get": _about(
                "Answer 200 when requests are taken, 503 when the server stops.", {"status": "ready"}
            )
        },
        "/metrics": {"get": _about("Counts for Prometheus.", "mlgt_texts_total 1", media="text/plain")},
    }


def _model_paths():
    return {
        "/v1/models": {"get": _about("List the models.", {"models": [_MODEL]})},
        "/v1/models/{name}": {"get": _about("Describe a model.", _MODEL, [_NAME])},
        "/v1/models/{name}/tag": {
            "post": _about(
                "Find the best labels of texts or rows. With explain, each label has the words behind it; "
                "with stream, or Accept: application/x-ndjson, the answer is a line per text.",
                {"results": [[_LABEL | _WORDS]]},
                [_NAME],
                _body(_TAG, {"texts": ["a chess program"], "k": 1, "explain": True}),
            )
        },
        "/v1/models/{name}/classify": {
            "post": _about(
                "The same in the shape of Hugging Face's text classification.",
                [[{"label": "games::puzzle", "score": 0.93}]],
                [_NAME],
                _body(
                    {
                        "type": "object",
                        "required": ["inputs"],
                        "properties": {
                            "inputs": {"oneOf": [{"type": "string"}, _TEXTS]},
                            "parameters": {"type": "object", "properties": {"top_k": {"type": "integer"}}},
                        },
                    },
                    {"inputs": "a chess program", "parameters": {"top_k": 1}},
                ),
            )
        },
        "/v1/models/{name}/labels": {
            "get": _about(
                "Search among the names and ids of all labels; without q, the most frequent ones.",
                {"labels": [{"label": "games::puzzle", "id": None, "rows": 120}], "of": 552},
                [
                    _NAME,
                    _query("q", "Part of a name or an id."),
                    _query("limit", "1 to 200 (default: 20)."),
                ],
            )
        },
    }


def _about(summary, example, parameters=(), body=None, media="application/json"):
    """An operation: what it does, takes and answers."""
    found = {
        "summary": summary,
        "parameters": list(parameters),
        "responses": {
            "200": {"description": "The answer.", "content": {media: {"example": example}}},
            "4XX": {"description": "What was wrong with the request, and what is expected."},
        },
    }
    return found if body is None else found | {"requestBody": body}


def _body(schema, example, media="application/json"):
    return {"required": True, "content": {media: {"schema": schema, "example": example}}}


def _query(name, description):
    return {"name": name, "in": "query", "description": description, "schema": {"type": "string"}}

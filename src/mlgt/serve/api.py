"""Requests about models: mlgt's own shape, Hugging Face's and Annif's."""

from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from .answers import as_classification, as_result, as_suggestions
from .errors import RequestError, bad
from .guard import json_response, to_json
from .models import ServedModel
from .parsing import (
    Tagging,
    parse_classification,
    parse_suggestion,
    parse_suggestions,
    parse_tagging,
)
from .service import Service

JSON_LINES = "application/x-ndjson"
MAX_SEARCHED = 200


async def list_models(service: Service, request: Request) -> Response:
    """GET /v1/models."""
    return json_response({"models": [model.facts() for model in service.models]})


async def show_model(service: Service, request: Request) -> Response:
    """GET /v1/models/NAME."""
    return json_response(service.model(request).facts())


async def tag(service: Service, request: Request) -> Response:
    """POST /v1/models/NAME/tag."""
    model = service.model(request)
    tagging = parse_tagging(await service.body(request), service.limits)
    if tagging.stream or JSON_LINES in request.headers.get("accept", ""):
        lines = _lines(service, model, tagging)
        first = await anext(lines)  # what fails at once gets a status
        return StreamingResponse(_chained(first, lines), media_type=JSON_LINES)
    answers = await service.answer(model, tagging)
    return json_response({"results": [as_result(answer, model.value) for answer in answers]})


async def _lines(service: Service, model: ServedModel, tagging: Tagging) -> AsyncIterator[str]:
    """One line per text, piece by piece; an error, if any, is the last line."""
    pieces = service.pieces(model, tagging)
    started = False
    try:
        while True:
            piece = await anext(pieces)
            started = True
            yield "".join(to_json({"result": as_result(answer, model.value)}) + "\n" for answer in piece)
    except StopAsyncIteration:
        return
    except RequestError as error:
        if not started:
            raise
        yield to_json({"error": error.message, "status": error.status}) + "\n"


async def _chained(first, rest):
    yield first.encode("utf-8", "replace")
    async for text in rest:
        yield text.encode("utf-8", "replace")


async def classify(service: Service, request: Request) -> Response:
    """POST /v1/models/NAME/classify: a list of labels per input, also for one input."""
    model = service.model(request)
    tagging = parse_classification(await service.body(request), service.limits)
    return json_response([as_classification(answer) for answer in await service.answer(model, tagging)])


async def search_labels(service: Service, request: Request) -> Response:
    """GET /v1/models/NAME/labels?q=...&limit=20."""
    model, options = service.model(request), request.query_params
    limit = options.get("limit", "20")
    if not (limit.isascii() and limit.isdigit() and len(limit) < 9 and 0 < int(limit) <= MAX_SEARCHED):
        raise bad(f"limit is {limit[:20]!r}; expected a whole number from 1 to {MAX_SEARCHED}.")
    found = await service.batcher.run(lambda: model.search(options.get("q", ""), int(limit)))
    return json_response({"labels": found, "of": model.facts()["labels"]})


# Annif's REST API, as its `http` backend and its own page use it.


def _project(model):
    return {
        "project_id": model.name,
        "name": model.name,
        "language": model.facts()["language"] or "und",
        "backend": {"backend_id": "mlgt"},
        "is_trained": True,
        "modification_time": model.facts()["read_at"],
    }


async def list_projects(service: Service, request: Request) -> Response:
    """GET /v1/projects."""
    return json_response({"projects": [_project(model) for model in service.models]})


async def show_project(service: Service, request: Request) -> Response:
    """GET /v1/projects/NAME."""
    return json_response(_project(service.model(request)))


async def suggest(service: Service, request: Request) -> Response:
    """POST /v1/projects/NAME/suggest."""
    model = service.model(request)
    body = await service.body(request)
    tagging = parse_suggestion(body, request.headers.get("content-type", ""), service.limits)
    (answer,) = await service.answer(model, tagging)
    return json_response({"results": as_suggestions(answer, model.value)})


async def suggest_batch(service: Service, request: Request) -> Response:
    """POST /v1/projects/NAME/suggest-batch."""
    model = service.model(request)
    tagging, ids = parse_suggestions(await service.body(request), request.query_params, service.limits)
    answers = await service.answer(model, tagging)
    return json_response(
        [
            {"document_id": id, "results": as_suggestions(answer, model.value)}
            for id, answer in zip(ids, answers)
        ]
    )

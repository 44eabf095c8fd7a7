"""The routes: a path and a method -> a function of the service and the request."""

from collections.abc import Awaitable, Callable

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from . import api
from .errors import RequestError
from .guard import Guard, json_response, refuse, refuse_http
from .openapi import description
from .pages import docs_page, static_file
from .service import Service

Handler = Callable[[Service, Request], Awaitable[Response]]


def make_app(
    service: Service,
    *,
    token: str | None = None,
    local_only: bool = False,
    log: Callable[[str], None] = lambda line: None,
) -> ASGIApp:
    """Return the ASGI application of a service.

    Parameters
    ----------
    service : Service
        The models and what they need to answer.
    token : str, default=None
        The token that requests must bear; None asks for none.
    local_only : bool, default=False
        Answer only requests that name this machine as their host.
    log : callable, default=None
        Called with a line per request; None keeps no log.

    Returns
    -------
    ASGI application
        What uvicorn, or another server, runs.
    """
    app = Starlette(
        routes=[_route(service, *entry) for entry in ROUTES],
        exception_handlers={HTTPException: refuse_http},
    )
    return Guard(app, service.counters, token=token, local_only=local_only, log=log)


def _route(service, path, method, kind, handler):
    async def endpoint(request):
        request.scope["mlgt.route"] = kind
        try:
            return await handler(service, request)
        except RequestError as error:
            return refuse(error)

    return Route(path, endpoint, methods=[method])


async def _page(service: Service, request: Request) -> Response:
    return static_file("index.html", request.headers)


async def _static(service: Service, request: Request) -> Response:
    return static_file(request.path_params["file"], request.headers)


async def _docs(service: Service, request: Request) -> Response:
    return docs_page(description())


async def _openapi(service: Service, request: Request) -> Response:
    return json_response(description())


async def _health(service: Service, request: Request) -> Response:
    return json_response({"status": "ok"})


async def _ready(service: Service, request: Request) -> Response:
    if service.draining:
        return json_response({"status": "stopping"}, 503)
    return json_response({"status": "ready", "models": len(service.models)})


async def _metrics(service: Service, request: Request) -> Response:
    lines = service.counters.lines(len(service.models))
    return PlainTextResponse("\n".join(lines) + "\n", media_type="text/plain; version=0.0.4")


ROUTES: tuple[tuple[str, str, str, Handler], ...] = (
    ("/v1/models", "GET", "models", api.list_models),
    ("/v1/models/{name}", "GET", "models", api.show_model),
    ("/v1/models/{name}/tag", "POST", "tag", api.tag),
    ("/v1/models/{name}/classify", "POST", "classify", api.classify),
    ("/v1/models/{name}/labels", "GET", "labels", api.search_labels),
    ("/v1/projects", "GET", "projects", api.list_projects),
    ("/v1/projects/{name}", "GET", "projects", api.show_project),
    ("/v1/projects/{name}/suggest", "POST", "suggest", api.suggest),
    ("/v1/projects/{name}/suggest-batch", "POST", "suggest-batch", api.suggest_batch),
    ("/", "GET", "page", _page),
    ("/static/{file}", "GET", "page", _static),
    ("/docs", "GET", "docs", _docs),
    ("/openapi.json", "GET", "openapi", _openapi),
    ("/health", "GET", "health", _health),
    ("/ready", "GET", "ready", _ready),
    ("/metrics", "GET", "metrics", _metrics),
)
"""Path, method, the name under which requests are counted, and what answers."""

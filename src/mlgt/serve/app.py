"""The routes: a path and a method -> a function of the service and the request."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from . import api
from .errors import RequestError
from .guard import Guard, error_response, json_response, refuse
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
        The token that requests must bear; none is needed if None.
    local_only : bool, default=False
        Answer only requests that name this machine as their host.
    log : callable, default=None
        Called with a line per request; None keeps no log.

    Returns
    -------
    ASGI application
        What uvicorn, or another server, runs.
    """
    endpoints = {path: (method, _Endpoint(service, *rest)) for path, method, *rest in ROUTES}

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        path, scope["path_params"] = _route(scope["path"])
        allowed, endpoint = endpoints.get(path, ("", _NOTHING))
        method = scope["method"]
        if allowed and method != allowed and (method, allowed) != ("HEAD", "GET"):
            endpoint = error_response(
                405, f"The method is {method[:20]}; expected {allowed}.", {"Allow": allowed}
            )
        await endpoint(scope, receive, send)

    return Guard(app, service.counters, token=token, local_only=local_only, log=log)


_NOTHING = error_response(404, "There is nothing at this path; /docs lists what there is.")


def _route(path):
    """The path of a route, and the values of its names: /v1/models/a/tag -> /v1/models/{name}/tag, a."""
    parts = path.split("/")
    at, key = (3, "name") if parts[1:2] == ["v1"] else (2, "file")
    if len(parts) <= at:
        return path, {}
    value, parts[at] = parts[at], f"{{{key}}}"
    return "/".join(parts), {key: value}


class _Endpoint:
    """An ASGI application from a function of the service and a request."""

    def __init__(self, service, kind, handler):
        self._service, self._kind, self._handler = service, kind, handler

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["mlgt.route"] = self._kind
        try:
            response = await self._handler(self._service, Request(scope, receive))
        except RequestError as error:
            response = refuse(error)
        await response(scope, receive, send)


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

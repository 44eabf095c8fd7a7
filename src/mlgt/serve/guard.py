"""What surrounds every request: permission, headers of every answer, one line in the log, counts.

Nothing that goes wrong inside leaves here as a traceback: a client gets a JSON body, the log one line.
"""

import hmac
import json
import os
import time
from collections.abc import Callable
from functools import lru_cache
from ipaddress import ip_address
from typing import Any

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .._core.terminal import tell
from .counters import Counters
from .errors import RequestError

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
HEADERS = [
    (b"content-security-policy", CONTENT_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
OPEN_PATHS = ("/", "/health", "/ready", "/docs", "/openapi.json")
"""Paths that need no token: they say nothing of the models. Files of the page need none either."""
SHOWN_PATH = 200
CLIENT_GONE = 499


class ClientGone(Exception):
    """The client closed the connection before its request was complete."""


def json_response(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return an answer in JSON; a lone surrogate, which UTF-8 cannot hold, becomes a question mark."""
    body = to_json(content).encode("utf-8", "replace")
    return Response(body, status, {"Cache-Control": "no-store", **(headers or {})}, "application/json")


def to_json(content: Any) -> str:
    """Return JSON on one line."""
    return _ENCODER.encode(content)


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def error_response(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    """Return an error in JSON."""
    return json_response({"error": message, "status": status}, status, headers)


@lru_cache(64)
def is_loopback(host: str) -> bool:
    """Return whether an address to listen at is this machine alone."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


class Guard:
    """An ASGI application around another one.

    Parameters
    ----------
    app : ASGI application
        What answers.
    counters : Counters
        Where requests are counted.
    token : str or None
        The token that requests must bear.
    local_only : bool
        Answer only requests that name this machine as their host, so that no page of the web can
        send one by a name of its own that points here.
    log : callable
        Called with a line per request.
    """

    def __init__(
        self,
        app: ASGIApp,
        counters: Counters,
        *,
        token: str | None,
        local_only: bool,
        log: Callable[[str], None],
    ) -> None:
        self._app, self._counters, self._local_only, self._log = app, counters, local_only, log
        self._token = None if token is None else token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        began, status = time.perf_counter(), 0

        async def send_on(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message["headers"], *HEADERS]}
            try:
                await send(message)
            except OSError:
                raise ClientGone from None

        note = ""
        try:
            refusal = self._refusal(scope)
            await (self._app if refusal is None else refusal)(scope, receive, send_on)
        except ClientGone:
            status = CLIENT_GONE
        except Exception as error:
            note = f" internal error: {type(error).__name__}: {error}"
            if os.environ.get("MLGT_DEBUG"):
                raise
            if not status:
                await error_response(500, "The server failed; its log says why.")(scope, receive, send_on)
        seconds = time.perf_counter() - began
        self._counters.count_request(scope.get("mlgt.route", "other"), status, seconds)
        self._log(f"{_request_line(scope)} {status} {seconds * 1000:.1f} ms{note}")

    def _refusal(self, scope):
        """Return the error for a request without permission, or None."""
        headers = dict(scope["headers"])
        if self._local_only:
            host = headers.get(b"host", b"").decode("latin-1")
            name = host.rpartition(":")[0] if not host.endswith("]") and ":" in host else host
            if name and not is_loopback(name):
                return error_response(
                    421,
                    "This server answers on its own machine alone; expected http://127.0.0.1 or localhost.",
                )
        path = scope["path"]
        if self._token is None or path in OPEN_PATHS or path.startswith("/static/"):
            return None
        kind, _, given = headers.get(b"authorization", b"").partition(b" ")
        if kind.lower() == b"bearer" and hmac.compare_digest(given.strip(), self._token):
            return None
        return error_response(
            401,
            "The request has no valid token; expected the header Authorization: Bearer TOKEN.",
            {"WWW-Authenticate": "Bearer"},
        )


def _request_line(scope):
    client = (scope.get("client") or ["-"])[0]
    path = scope["path"]
    return f"{client} {scope['method'][:20]} {path[:SHOWN_PATH]}{'...' * (len(path) > SHOWN_PATH)}"


def log_request(line: str) -> None:
    """Write a line to standard error; control characters become escapes."""
    tell(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {line}")


def refuse(error: RequestError) -> Response:
    """Return the answer for a request that was refused."""
    return error_response(error.status, error.message, error.headers)

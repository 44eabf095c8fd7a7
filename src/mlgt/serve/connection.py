"""Connections that do not wait for slow clients for ever, and refuse bytes that are no HTTP in JSON."""

import asyncio
from collections.abc import Callable

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .guard import HEADERS, to_json

HEAD_SECONDS = 20.0
"""Seconds in which the head of a request has to arrive, counted from its first byte or the connection."""
WRITE_SECONDS = 30.0
"""Seconds in which a client has to take what was sent."""
WRITE_BYTES = 1 << 12
"""Bytes beyond which what a client has not taken yet is timed. Short answers leave in one piece."""
MAX_HEAD_BYTES = 1 << 16
"""Bytes that may arrive before the head of a request is complete."""


class Connection(HttpToolsProtocol):
    """uvicorn's connection with limits of time and of the size of a head."""

    log: Callable[[str], None] = staticmethod(lambda line: None)
    """Called with a line per refusal."""
    _head_timer: asyncio.TimerHandle | None = None
    _write_timer: asyncio.TimerHandle | None = None
    _head_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        transport.set_write_buffer_limits(WRITE_BYTES, 0)
        self._head_timer = self.loop.call_later(HEAD_SECONDS, transport.abort)

    def data_received(self, data: bytes) -> None:
        before = self.cycle
        super().data_received(data)
        if not self._in_head():
            self._head_timer, self._head_bytes = _cancelled(self._head_timer), 0
            return
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_SECONDS, self.transport.abort)
        self._head_bytes += len(data) if self.cycle is before else 0
        if self._head_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("")

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self.scope["mlgt.arrived"] = True  # type: ignore[typeddict-unknown-key]

    def _in_head(self):
        return self.cycle is None or self.cycle.response_complete

    def pause_writing(self) -> None:
        super().pause_writing()
        self._write_timer = self.loop.call_later(WRITE_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._write_timer = _cancelled(self._write_timer)

    def timeout_keep_alive_handler(self) -> None:
        self.transport.abort()  # closing would wait for a client that takes nothing

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_timer, self._write_timer = _cancelled(self._head_timer), _cancelled(self._write_timer)
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        in_head = self._in_head()
        if in_head or not self.cycle.response_started:
            self.transport.write(BAD_REQUEST)
        if in_head:  # else the request has its line
            self.log(f"{(self.client or ['-'])[0]} bytes that are no HTTP request 400")
        self.transport.close()

    def _unsupported_upgrade_warning(self) -> None:
        """Say nothing: a request for another protocol is answered as HTTP/1.1."""


def _bad_request():
    body = to_json({"error": "The bytes are no HTTP/1.1 request; expected one.", "status": 400}).encode()
    headers = [(b"content-type", b"application/json"), (b"connection", b"close"), *HEADERS]
    headers.append((b"content-length", str(len(body)).encode()))
    lines = [b"HTTP/1.1 400 Bad Request", *(name + b": " + value for name, value in headers), b"", body]
    return b"\r\n".join(lines)


BAD_REQUEST = _bad_request()


def _cancelled(timer):
    if timer is not None:
        timer.cancel()

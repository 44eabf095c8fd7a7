"""Connections that do not wait for slow clients for ever, and refuse bytes that are no HTTP in JSON."""

import asyncio
from collections.abc import Callable

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from .guard import HEADERS, to_json

HEAD_SECONDS = 20.0
"""Seconds in which the head of a request has to arrive, counted from its first byte or the connection."""
WRITE_SECONDS = 30.0
"""Seconds in which a client has to take what was sent."""


class Connection(H11Protocol):
    """uvicorn's connection with limits of time."""

    log: Callable[[str], None] = staticmethod(lambda line: None)
    """Called with a line per refusal."""
    _head_timer: asyncio.TimerHandle | None = None
    _write_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        transport.set_write_buffer_limits(0)  # so that all that a client leaves is seen as such
        self._head_timer = self.loop.call_later(HEAD_SECONDS, transport.abort)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        in_head = self.cycle is None or self.cycle.response_complete
        if not in_head:
            self._head_timer = _cancelled(self._head_timer)
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._write_timer = self.loop.call_later(WRITE_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._write_timer = _cancelled(self._write_timer)

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_timer, self._write_timer = _cancelled(self._head_timer), _cancelled(self._write_timer)
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        body = to_json(
            {"error": "The bytes are no HTTP/1.1 request; expected one.", "status": 400}
        ).encode()
        headers = [(b"content-type", b"application/json"), (b"connection", b"close"), *HEADERS]
        headers.append((b"content-length", str(len(body)).encode()))
        try:
            for event in (
                h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
                h11.Data(data=body),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        except h11.LocalProtocolError:  # an answer is under way
            pass
        if self.cycle is None or self.cycle.response_complete:  # else the request has its line
            self.log(f"{(self.client or ['-'])[0]} bytes that are no HTTP request 400")
        self.transport.close()

    def _unsupported_upgrade_warning(self) -> None:
        """Say nothing: a request for another protocol is answered as HTTP/1.1."""


def _cancelled(timer):
    if timer is not None:
        timer.cancel()

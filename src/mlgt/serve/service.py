"""What the handlers of requests share: models, limits, the batcher, bodies, answers in time."""

from collections.abc import AsyncIterator, Awaitable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import anyio
from starlette.requests import Request

from .answers import Answer
from .batching import PIECE, Batcher
from .counters import Counters
from .errors import RequestError, too_large
from .guard import ClientGone
from .limits import RequestLimits
from .models import Models, ServedModel
from .parsing import Tagging, check_media

T = TypeVar("T")


@dataclass
class Service:
    """Models at work for requests."""

    models: Models
    limits: RequestLimits = field(default_factory=RequestLimits)
    counters: Counters = field(default_factory=Counters)
    draining: bool = False
    """True when the server is to stop."""

    def __post_init__(self) -> None:
        self.batcher = Batcher(self.limits.waiting, self.counters.count_batch)

    def model(self, request: Request) -> ServedModel:
        """Return the model that a path names."""
        name = request.path_params["name"]
        model = self.models.get(name)
        if model is None:
            known = ", ".join(model.name for model in self.models)
            raise RequestError(404, f"There is no model {name[:60]!r}; expected one of: {known}.")
        return model

    async def body(self, request: Request) -> bytes:
        """Return the whole body; raise if it is too large, too slow or encoded otherwise than UTF-8."""
        headers, largest = request.headers, self.limits.body_bytes
        check_media(headers.get("content-type", ""), headers.get("content-encoding", ""))
        declared = headers.get("content-length", "")
        message = (
            f"The body has more than {self.limits.body:g} MB; expected less. Send fewer texts at once."
        )
        if declared.isdigit() and int(declared[:18]) > largest:
            raise too_large(message)
        try:
            with anyio.fail_after(self.limits.seconds):
                return await _read(request, largest, message)
        except TimeoutError:
            raise RequestError(
                408,
                f"The body did not arrive within {self.limits.seconds:g} s; expected it at once.",
                {"Connection": "close"},
            ) from None

    async def answer(self, model: ServedModel, asked: Tagging) -> Sequence[Answer]:
        """Return the labels of all texts of a request."""

        if len(asked.items) <= PIECE:
            return await self.in_time(self.batcher.answer(model.call(asked), asked.items))

        async def all_pieces() -> list[Answer]:
            return [answer async for piece in self.pieces(model, asked) for answer in piece]

        return await self.in_time(all_pieces())

    def pieces(self, model: ServedModel, asked: Tagging) -> AsyncIterator[Any]:
        """Yield lists of answers as they are computed."""
        return self.batcher.answers(model.call(asked), asked.items)

    async def in_time(self, work: Awaitable[T]) -> T:
        """Return what is awaited, or raise if it takes too long."""
        try:
            with anyio.fail_after(self.limits.seconds):
                return await work
        except TimeoutError:
            raise RequestError(
                503,
                f"The answer took longer than {self.limits.seconds:g} s. Send fewer texts at once, or take "
                'them as they come with "stream": true.',
                {"Retry-After": "1"},
            ) from None


async def _read(request, largest, message):
    parts, size = [], 0
    while True:
        event = await request.receive()
        if event["type"] == "http.disconnect":
            raise ClientGone
        parts.append(event.get("body", b""))
        size += len(parts[-1])
        if size > largest:
            raise too_large(message)
        if not event.get("more_body"):
            return b"".join(parts)

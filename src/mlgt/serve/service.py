"""What the handlers of requests share: models, limits, the batcher, bodies, answers in time."""

from collections.abc import AsyncIterator, Sequence, Sized
from dataclasses import dataclass, field
from typing import Any

import anyio
from starlette.requests import Request

from .answers import Answer
from .batching import PIECE, Batcher, too_late
from .counters import Counters
from .errors import RequestError, too_large
from .guard import ClientGone
from .limits import RequestLimits
from .models import Models, ServedModel
from .parsing import Tagging, check_media


@dataclass
class Service:
    """Models at work for requests."""

    models: Models
    limits: RequestLimits = field(default_factory=RequestLimits)
    counters: Counters = field(default_factory=Counters)
    draining: bool = False
    """True when the server is to stop."""
    under_way: Sized = ()
    """The requests that are not answered yet, as the server knows them; without, each waits for others."""

    def __post_init__(self) -> None:
        self.batcher = Batcher(
            self.limits.waiting,
            self.limits.seconds,
            self.counters.count_batch,
            lambda: len(self.under_way) == 1,
        )

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
        if request.scope.get("mlgt.arrived"):
            return await _read(request, largest, message)
        try:
            with anyio.fail_after(self.limits.seconds):
                return await _read(request, largest, message)
        except TimeoutError:
            raise RequestError(
                408,
                f"The body did not arrive within {self.limits.seconds:g} s; expected it at once.",
                {"Connection": "close"},
            ) from None

    async def answer(self, model: ServedModel, tagging: Tagging) -> Sequence[Answer]:
        """Return the labels of all texts of a request."""
        if len(tagging.items) <= PIECE:
            return await self.batcher.answer(model.call(tagging), tagging.items)
        try:
            with anyio.fail_after(self.limits.seconds):
                return [answer async for piece in self.pieces(model, tagging) for answer in piece]
        except TimeoutError:
            raise too_late(self.limits.seconds) from None

    def pieces(self, model: ServedModel, tagging: Tagging) -> AsyncIterator[Any]:
        """Yield lists of answers as they are computed."""
        return self.batcher.answers(model.call(tagging), tagging.items)


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

"""Limits of one request, so that memory and time per request are bounded."""

from dataclasses import dataclass

MB = 1 << 20


@dataclass(frozen=True)
class RequestLimits:
    """Limits of a request; beyond, it is refused with 413 or 422 and the limit in the message.

    Parameters
    ----------
    body : float, default=32
        Megabytes of the body.
    texts : int, default=10_000
        Texts or rows per request.
    characters : int, default=1_000_000
        Characters per text.
    explained : int, default=100_000
        Characters of all texts of a request with `explain`.
    labels : int, default=1_000
        Labels per text.
    seconds : float, default=30
        Seconds in which a request has to arrive, and each part of an answer has to be ready.
    waiting : int, default=50_000
        Texts that wait for their answers, all requests together; further ones get 503.
    """

    body: float = 32.0
    texts: int = 10_000
    characters: int = 1_000_000
    explained: int = 100_000
    labels: int = 1_000
    seconds: float = 30.0
    waiting: int = 50_000

    @property
    def body_bytes(self) -> int:
        """Bytes of the largest body."""
        return int(self.body * MB)

"""Refusals of a request: a status, and a message with what was wrong and what is expected."""

from collections.abc import Mapping


class RequestError(Exception):
    """A request that is answered with an error; the message goes to the client as it is."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.headers = status, message, dict(headers or {})


def bad(message: str) -> RequestError:
    """Return the error for a request that cannot be read."""
    return RequestError(400, message)


def unfit(message: str) -> RequestError:
    """Return the error for a request that can be read but not answered."""
    return RequestError(422, message)


def too_large(message: str) -> RequestError:
    """Return the error for a request beyond a limit."""
    return RequestError(413, message)

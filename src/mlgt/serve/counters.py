"""Counts for Prometheus, in memory that all workers share: each adds to its own row, readers sum them."""

import mmap
import os
from bisect import bisect_left
from collections.abc import Iterator

import numpy as np

ROUTES = (
    "tag", "classify", "suggest", "suggest-batch", "labels", "models", "projects",
    "page", "docs", "openapi", "health", "ready", "metrics", "other",
)  # fmt: skip
STATUSES = (200, 304, 400, 401, 404, 405, 408, 413, 415, 421, 422, 431, 499, 500, 503)
"""Statuses that are counted apart; 499 is a client that went away."""
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the histogram of seconds per request."""
SINGLE = ("texts", "batches", "reloads", "reload_failures", "seconds", "requests")

_N_STATUS = len(ROUTES) * len(STATUSES)
_WIDTH = _N_STATUS + len(BOUNDS) + 1 + len(SINGLE)


class Counters:
    """Counts of all workers.

    Parameters
    ----------
    n_workers : int, default=1
        Processes that count.
    """

    def __init__(self, n_workers: int = 1) -> None:
        shared = mmap.mmap(-1, 8 * n_workers * _WIDTH)
        self._all = np.frombuffer(shared, np.float64).reshape(n_workers, _WIDTH)
        self._own = self._all[0]

    def use_row(self, worker: int) -> None:
        """Count in the row of this worker from now on."""
        self._own = self._all[worker]

    def count_request(self, route: str, status: int, seconds: float) -> None:
        """Count an answer."""
        place = ROUTES.index(route) * len(STATUSES)
        self._own[place + STATUSES.index(status if status in STATUSES else 500)] += 1
        self._own[_N_STATUS + bisect_left(BOUNDS, seconds)] += 1
        self.add("seconds", seconds)
        self.add("requests")

    def count_batch(self, size: int) -> None:
        """Count a batch of texts."""
        self.add("batches")
        self.add("texts", size)

    def add(self, name: str, amount: float = 1) -> None:
        """Add to a single count."""
        self._own[_N_STATUS + len(BOUNDS) + 1 + SINGLE.index(name)] += amount

    def lines(self, n_models: int) -> Iterator[str]:
        """Yield the lines of Prometheus' text format."""
        sums = self._all.sum(axis=0)
        statuses = sums[:_N_STATUS].reshape(len(ROUTES), len(STATUSES))
        histogram = sums[_N_STATUS : _N_STATUS + len(BOUNDS) + 1].cumsum()
        single = dict(zip(SINGLE, sums[_N_STATUS + len(BOUNDS) + 1 :]))
        yield from _head("mlgt_requests_total", "counter", "Requests by route and status.")
        for i, j in np.argwhere(statuses):
            place = f'route="{ROUTES[i]}",status="{STATUSES[j]}"'
            yield f"mlgt_requests_total{{{place}}} {statuses[i, j]:.0f}"
        yield from _head(
            "mlgt_request_seconds", "histogram", "Seconds from a request's head to its answer."
        )
        for bound, count in zip((*BOUNDS, "+Inf"), histogram):
            yield f'mlgt_request_seconds_bucket{{le="{bound}"}} {count:.0f}'
        yield f"mlgt_request_seconds_sum {single['seconds']:.6f}"
        yield f"mlgt_request_seconds_count {single['requests']:.0f}"
        for name, text in (
            ("texts", "Texts and rows that were tagged."),
            ("batches", "Batches in which they were computed."),
            ("reloads", "Models that were read again."),
            ("reload_failures", "Models that could not be read again."),
        ):
            yield from _head(f"mlgt_{name}_total", "counter", text)
            yield f"mlgt_{name}_total {single[name]:.0f}"
        yield from _head("mlgt_models", "gauge", "Models that are served.")
        yield f"mlgt_models {n_models}"
        yield from _head("mlgt_workers", "gauge", "Processes that serve them.")
        yield f"mlgt_workers {len(self._all)}"
        if (resident := _resident_bytes()) is not None:
            yield from _head(
                "process_resident_memory_bytes", "gauge", "Memory of the process that answers."
            )
            yield f"process_resident_memory_bytes {resident}"


def _head(name, kind, text):
    yield f"# HELP {name} {text}"
    yield f"# TYPE {name} {kind}"


def _resident_bytes():
    """Resident memory of this process on Linux, or None."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None

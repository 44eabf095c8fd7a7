"""Processes, sockets and signals of `mlgt serve`.

    SIGTERM, SIGINT   accept no further connection, answer what is under way, end with status 0;
                      a second one ends at once
    SIGHUP            read all models again

With several workers, the models are read once; then the process forks, so that workers share memory and
the socket. mlgt's kernels start no threads of their own, so nothing of numba's has to survive the fork.
"""

import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import uvicorn

from .._core.terminal import tell
from .app import make_app
from .connection import Connection
from .counters import Counters
from .guard import is_loopback, log_request
from .limits import RequestLimits
from .models import Models
from .service import Service
from .supervisor import Supervisor

KEEP_ALIVE_SECONDS = 30
RELOAD_SECONDS = 1.0
"""How often folders are looked at with `reload`."""


def serve(
    models: Models,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    workers: int = 1,
    token: str | None = None,
    limits: RequestLimits | None = None,
    reload: bool = False,
    quiet: bool = False,
) -> int:
    """Serve models until a signal comes; return the exit status.

    Parameters
    ----------
    models : Models
        The models, read.
    host, port : str, int
        Where to listen; port 0 takes a free one.
    workers : int, default=1
        Number of processes; one where the system cannot fork.
    token : str, default=None
        The token that requests must bear.
    limits : RequestLimits, default=None
        Limits of a request.
    reload : bool, default=False
        Read a model again when its folder is replaced.
    quiet : bool, default=False
        Write no line per request.

    Returns
    -------
    int
        0 after a signal, when all requests under way have been answered.
    """
    if workers > 1 and not hasattr(os, "fork"):  # Windows
        tell(f"this system cannot fork: one process answers instead of {workers}")
        workers = 1
    for model in models:
        model.warm_up()
    listening = _listen(host, port)
    _raise_file_limit()
    _announce(models, listening, host, token)
    counters = Counters(workers)

    def work(worker: int) -> int:
        counters.use_row(worker)
        service = Service(models, limits or RequestLimits(), counters)
        log: Callable[[str], None] = (lambda line: None) if quiet else log_request
        app = make_app(service, token=token, local_only=is_loopback(host) and token is None, log=log)
        return _run(_Worker(app, service, reload, log).run(listening, workers > 1))

    return work(0) if workers == 1 else Supervisor(workers, work).run()


def _run(work):
    """Run a coroutine on the event loop of uvloop, which takes less CPU time, or on that of Python."""
    try:
        import uvloop
    except ImportError:  # Windows
        return asyncio.run(work)
    return uvloop.run(work)


def _listen(host, port):
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # asyncio: no delay
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(2048)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ValueError(f"{host}:{port}: {reason}; pass another --host or --port.") from None
    listening.setblocking(False)
    return listening


def _raise_file_limit():
    """Allow as many connections as the system does."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _announce(models, listening, host, token):
    address = f"[{host}]" if ":" in host else host
    names = ", ".join(model.name for model in models)
    tell(f"serving {names} at http://{address}:{listening.getsockname()[1]}/ (Ctrl-C stops)")
    if token is None and not is_loopback(host):
        tell(
            f"anyone who reaches {host} can use the models: there is no token. Pass --token-file FILE, or "
            "leave out --host to serve this machine alone."
        )


class _Server(uvicorn.Server):
    """uvicorn's server without its signals."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _Worker:
    """One process that answers requests."""

    def __init__(self, app, service, reload, log):
        self.service, self._watch = service, reload
        self._tasks: set[asyncio.Future] = set()
        self._server = _Server(
            uvicorn.Config(
                app,
                http=type("LoggedConnection", (Connection,), {"log": staticmethod(log)}),
                loop="asyncio",
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_keep_alive=KEEP_ALIVE_SECONDS,
                timeout_graceful_shutdown=int(service.limits.seconds) + 5,
            )
        )

        service.under_way = self._server.server_state.tasks

    async def run(self, listening, supervised):
        """Answer until a signal comes."""
        _log_in_lines()
        sys.setswitchinterval(0.001)  # the thread that computes lets the one that answers in sooner
        loop = asyncio.get_running_loop()
        handlers = {"SIGTERM": self._stop, "SIGINT": (lambda: None) if supervised else self._stop}
        handlers["SIGHUP"] = lambda: self._begin(self._reload(force=True))
        for name, handler in handlers.items():
            with suppress(NotImplementedError, AttributeError):  # Windows
                loop.add_signal_handler(getattr(signal, name), handler)
        if self._watch:
            self._begin(self._reload_often())
        if supervised:
            self._begin(self._end_with(os.getppid()))
            self._begin(self._reload())
        try:
            await self._server.serve([listening])
        finally:
            for task in self._tasks:
                task.cancel()
            self.service.batcher.close()
        return 0

    def _begin(self, work):
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _stop(self):
        self._server.force_exit = self._server.should_exit
        self._server.should_exit = self.service.draining = True

    async def _reload_often(self):
        while True:
            await asyncio.sleep(RELOAD_SECONDS)
            await self._reload()

    async def _reload(self, force=False):
        for line in await asyncio.to_thread(lambda: list(self.service.models.reload(force))):
            self.service.counters.add("reload_failures" if "could not" in line else "reloads")
            tell(line)

    async def _end_with(self, parent):
        """End when the process that started this one has ended."""
        while os.getppid() == parent:
            await asyncio.sleep(1)
        self._stop()


def _log_in_lines():
    """Write warnings of uvicorn and asyncio as single lines, without tracebacks."""

    class Lines(logging.Handler):
        def emit(self, record):
            if not record.getMessage().startswith("Invalid HTTP"):  # `Connection` has a line for it
                tell(record.getMessage().splitlines()[0])

    for name in ("uvicorn.error", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [Lines(logging.WARNING)], False
        logger.setLevel(logging.WARNING)

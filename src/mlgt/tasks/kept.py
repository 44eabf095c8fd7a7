"""Training that goes on after it was killed: finished tasks are files, and are not computed again.

    PATH/FINGERPRINT/work.json              what this is, for people and for `mlgt doctor`
    PATH/FINGERPRINT/STAGE-1-0007.arrays    the result of task 7 of the first stage of this name

The fingerprint is that of data, parameters, versions and processor: results of another training are never
used. Stages run in the same order every time, so that a name and numbers identify a task.
"""

import errno
import hashlib
import json
import os
import platform
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from .._core.aside import locked
from .._version import __version__
from .files import read_arrays, write_arrays
from .stage import Result, current_cluster, current_run

MARK = "work.json"
SUFFIX = ".arrays"
SENT_MARK = "mlgt-mark"
"""A file in a folder that is shared with the workers of a cluster."""
PACKAGES = ("numpy", "scipy", "numba", "scikit-learn")
Report = Callable[[str], object]
_current: ContextVar["Work | None"] = ContextVar("work", default=None)


@contextmanager
def keep_work(
    path: str | os.PathLike[str],
    *,
    longer_than: float = 0.0,
    exclusive: bool = False,
    report: Report | None = None,
) -> Iterator[None]:
    """Keep the finished tasks of each `fit` in this context in files, so that a killed one can go on.

    Call `fit` again in the same context, with the same data, parameters and an int as `random_state`: it
    reads what is finished and gives the same model as an uninterrupted one. The files are removed when the
    context ends without an exception.

    Parameters
    ----------
    path : str or path
        The folder for the files; it is made. Trainings of other data or parameters may share it.
    longer_than : float, default=0.0
        Keep the tasks of trainings that are estimated to take more seconds than this.
    exclusive : bool, default=False
        Remove what is kept in `path` of other trainings.
    report : callable, default=None
        Called with a sentence about what was found; None prints it if the estimator is verbose.

    Yields
    ------
    None
        Nothing.
    """
    work = Work(Path(path).absolute(), longer_than, exclusive, report)
    token = _current.set(work)
    try:
        yield
    except BaseException:
        work.report_kept()
        raise
    else:
        work.remove()
    finally:
        _current.reset(token)


@contextmanager
def keep_training(params: dict[str, Any], data: Any, report: Report) -> Iterator[None]:
    """Keep the tasks of one training, inside `keep_work`. `data` is all that training depends on beside the
    parameters; `report` is called if `keep_work` has no other."""
    work = _current.get()
    if work is None:
        yield
        return
    given = {name: value for name, value in params.items() if name not in ("n_jobs", "verbose")}
    if not isinstance(given.get("random_state"), int):
        raise ValueError(
            f"random_state={given.get('random_state')!r} makes another model each time, so that kept work "
            "could not be used. Pass an int, as random_state=0, inside keep_work."
        )
    work.report = work.report or report
    with Run(work, lambda: fingerprint(given, data)) as run:
        token = current_run.set(run)
        try:
            expect(0.0)
            yield
        finally:
            current_run.reset(token)


def expect(seconds: float, task_bytes: float = 0.0) -> None:
    """Keep the tasks that follow, if a training that takes this long is to be kept. Raise if a cluster has
    too little memory for one of them."""
    run, cluster = current_run.get(), current_cluster.get()
    if cluster is not None:
        cluster.check_memory(task_bytes)
    if run is not None:
        run.expect(seconds)


def fingerprint(*parts: Any) -> str:
    """A hash of objects, and of all that the bits of a result depend on beside them."""
    from joblib import hash

    return hash((parts, versions(), processor()), "sha1", coerce_mmap=True)


@cache
def versions() -> dict[str, str]:
    """Versions of mlgt, with a digest of its source files, Python, and the packages that compute."""
    from importlib.metadata import version

    package, source = Path(__file__).parents[1], hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        source.update(file.relative_to(package).as_posix().encode())
        source.update(file.read_bytes())
    own = f"{__version__} ({source.hexdigest()[:8]})"
    return {"mlgt": own, "Python": platform.python_version()} | {name: version(name) for name in PACKAGES}


@cache
def processor() -> str:
    """The processor that compiled code is made for: on another one, last bits differ."""
    from llvmlite import binding  # numba depends on it

    return f"{platform.machine()} {binding.get_host_cpu_name()}"


class Work:
    """A folder of kept work, and the trainings in it that this process began."""

    def __init__(self, path: Path, longer_than: float, exclusive: bool, report: Report | None) -> None:
        self.path, self.longer_than, self.exclusive, self.report = path, longer_than, exclusive, report
        self.begun: list[Path] = []

    def say(self, text: str) -> None:
        """Report a sentence."""
        if self.report is not None:
            self.report(text)

    def report_kept(self) -> None:
        """Say what is kept after a failure."""
        count = sum(len(finished(folder)) for folder in self.begun)
        if count:
            self.say(f"{count} finished tasks are kept in {self.path}; train again to go on from them.")

    def remove(self) -> None:
        """Remove the trainings that this process began, which are complete."""
        for folder in [self.path] if self.exclusive else self.begun:
            shutil.rmtree(folder, ignore_errors=True)
        if self.begun:
            with suppress(OSError):  # others are in it
                self.path.rmdir()


class Run:
    """One training: its folder, as soon as it is worth keeping."""

    def __init__(self, work: Work, key: Callable[[], str]) -> None:
        self.work, self._key = work, key
        self.active, self.full = False, False
        self._counts: Counter[str] = Counter()
        self._open = ExitStack()

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *error: Any) -> None:
        self._open.close()

    def expect(self, seconds: float) -> None:
        """Begin to keep tasks, unless the training is short and nothing is kept."""
        long = seconds > self.work.longer_than or self.work.longer_than == 0
        if self.active or not (long or self.work.path.is_dir()):
            return
        if not (long or self.folder.is_dir()):
            return
        if self.work.exclusive:
            for other in set(find_work(self.work.path, 1)) - {self.folder}:
                shutil.rmtree(other, ignore_errors=True)
                self.work.say(f"removed kept work of other data or settings: {other}")
        self._open.enter_context(locked(self.folder))  # makes the folder above it, too
        self.folder.mkdir(exist_ok=True)
        self.active = True
        if self.folder not in self.work.begun:
            self.work.begun.append(self.folder)
        for file in set(self.folder.iterdir()) - set(finished(self.folder)):
            file.unlink()  # a killed process was writing it
        mark = {"mlgt": __version__, "begun": time.strftime("%Y-%m-%d %H:%M:%S"), "process": os.getpid()}
        (self.folder / MARK).write_text(json.dumps(mark) + "\n", "ascii")
        count = len(finished(self.folder))
        if count:
            self.work.say(f"{count} tasks were finished by an earlier run; going on from them.")

    @cached_property
    def folder(self) -> Path:
        """The folder of this training; the fingerprint takes a while on large data."""
        return self.work.path / self._key()

    def begin_stage(self, name: str, n_tasks: int) -> "KeptStage | None":
        """The kept results of the next stage of this name; None if nothing is to be kept."""
        self._counts[name] += 1
        return KeptStage(self, f"{name}-{self._counts[name]}-of-{n_tasks}") if self.active else None


class KeptStage:
    """The results of a stage as files."""

    def __init__(self, run: Run, name: str) -> None:
        self.run, self.name = run, name

    def _place(self, i):
        return self.run.folder / f"{self.name}-{i:04d}{SUFFIX}"

    def read(self, i: int) -> Result | None:
        """The result of task i, or None."""
        return read_arrays(self._place(i))

    def write(self, i: int, result: Result, file: Path | None = None) -> None:
        """Keep the result of task i, which is in `file` already if that is given.

        If there is no room, training goes on without keeping the rest.
        """
        if self.run.full:
            return
        try:
            if file is None or not _renamed(file, self._place(i)):
                write_arrays(self._place(i), result)
        except OSError as error:
            self.run.full = True
            self.run.work.say(f"further tasks are not kept: {self.run.folder}: {error.strerror}.")


def _renamed(file, place):
    """Rename a file; False if it is on another disk."""
    try:
        file.replace(place)
        return True
    except OSError as error:
        if error.errno == errno.EXDEV:
            return False
        raise


def finished(folder: Path) -> list[Path]:
    """Files of finished tasks in the folder of a training."""
    return sorted(folder.glob(f"*{SUFFIX}"))


def abandoned_work(top: str | os.PathLike[str], remove: bool = False) -> dict[Path, str]:
    """What is kept of trainings in a folder and below that no process works on, and what was written for
    the workers of a cluster; can remove it."""
    found = {}
    for folder in list(find_work(Path(top).absolute())):
        with suppress(FileExistsError), locked(folder):  # someone trains
            sent = (folder / SENT_MARK).is_file()
            files = list(folder.iterdir()) if sent else finished(folder)
            size = f"{sum(file.stat().st_size for file in files) / 1e6:.1f} MB"
            begun = f"{len(files)} tasks, {size}, of a training begun at {_begun(folder)}"
            found[folder] = f"{size} for the workers of a cluster" if sent else begun
            if remove:
                shutil.rmtree(folder)
        if remove and folder.parent.name.endswith(".mlgt-work"):
            with suppress(OSError):  # others are in it
                folder.parent.rmdir()
    return found


def _begun(folder):
    try:
        return str(json.loads((folder / MARK).read_text("ascii"))["begun"])
    except (OSError, ValueError, KeyError, TypeError):
        return "an unknown time"


def find_work(top: Path, depth: int = 3) -> Iterator[Path]:
    """Yield the folders of kept trainings, and for workers, in `top` and in folders below it."""
    with suppress(OSError):
        if any((top / mark).is_file() for mark in (MARK, SENT_MARK)):
            yield top
        elif depth:
            for folder in sorted(top.iterdir()):
                if folder.is_dir() and not folder.is_symlink():
                    yield from find_work(folder, depth - 1)

"""Run the command without what only some systems have: fork, renameat2, locks, /proc, /dev/shm, SIGHUP ...

    python tests/references/lacking.py VERB ... [+ VERB ...]

Libraries that mlgt uses are imported first: what they do on other systems is theirs. Then the functions are
taken away, and mlgt is imported. A `+` separates commands that run in one process.
"""

import _signal
import ctypes
import os
import shutil
import signal
import sys

import joblib  # noqa: F401
import matplotlib.figure  # noqa: F401
import numba  # noqa: F401
import scipy.sparse.csgraph  # noqa: F401
import sklearn.base  # noqa: F401
from joblib.externals.loky import get_reusable_executor  # noqa: F401

OS = (
    "fork forkpty fchmod posix_fallocate sysconf statvfs wait getppid sched_getaffinity "
    "O_NOFOLLOW O_CLOEXEC O_DIRECTORY O_NONBLOCK"
).split()
SIGNALS = "SIGHUP SIGALRM setitimer getitimer pthread_sigmask".split()
FOLDERS = ("/proc/", "/sys/", "/dev/shm")


def take_away():
    """Remove functions, modules and folders."""
    for name in OS:
        if hasattr(os, name):
            delattr(os, name)
    for module in (signal, _signal):
        for name in SIGNALS:
            if hasattr(module, name):
                delattr(module, name)
    os.supports_dir_fd.clear()
    shutil._use_fd_functions = False
    for name in ("fcntl", "resource", "termios", "pwd", "pymetis"):
        sys.modules[name] = None
    ctypes.CDLL = lambda *_, **__: object()  # a C library without renameat2
    sys.addaudithook(refuse)


def refuse(event, arguments):
    """Raise for files of a system that has no such folders."""
    if event == "open" and isinstance(arguments[0], str) and arguments[0].startswith(FOLDERS):
        raise FileNotFoundError(arguments[0])


def main(arguments):
    """Run commands, separated by +, until one fails."""
    take_away()
    from mlgt.__main__ import main as run

    while arguments:
        end = arguments.index("+") if "+" in arguments else len(arguments)
        sys.argv = ["mlgt", *arguments[:end]]
        if status := run():
            return status
        arguments = arguments[end + 1 :]
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

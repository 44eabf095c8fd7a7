"""Will it fit? The memory this process may still use, and a refusal in words before it is too late."""

import os
from pathlib import Path

from .errors import MLGTError


def available_memory():
    """Bytes that can still be had, or None where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
        free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError, IndexError):
        try:
            free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        except (AttributeError, OSError, ValueError):
            return None
    try:  # a container may allow less than the machine has
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text("ascii"))
        used = int(Path("/sys/fs/cgroup/memory.current").read_text("ascii"))
        free = min(free, max(0, limit - used))
    except (OSError, ValueError):
        pass
    return free


def check_memory(needed, what, advice):
    """Refuse work that needs more bytes than there are, saying what to do instead."""
    available = available_memory()
    if available is not None and needed > available:
        raise MLGTError(
            f"{what} would need about {needed / 1e9:.1f} GB, but only {available / 1e9:.1f} GB of memory "
            f"are free. {advice}"
        )

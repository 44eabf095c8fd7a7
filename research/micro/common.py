"""What the benchmarks share: ratios, the machine in a line, Markdown tables."""

import os
import platform
import statistics
from importlib.metadata import version
from pathlib import Path
from timeit import timeit


def ratio(baseline, candidate, repeats=9):
    """Median, min and max of baseline time / candidate time, over pairs run back to back."""
    baseline(), candidate()  # warm the caches, compile the kernels
    pairs = sorted(timeit(baseline, number=1) / timeit(candidate, number=1) for _ in range(repeats))
    return statistics.median(pairs), pairs[0], pairs[-1]


def machine():
    """Processor, cores and the versions that matter."""
    names = ("numpy", "scipy", "scikit-learn", "numba")
    packages = ", ".join(f"{name} {version(name)}" for name in names)
    return f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, {packages}"


def spread(values, digits=4):
    """Mean and standard deviation: .7417 ±.0057."""
    figures = [statistics.fmean(values), statistics.stdev(values)] if len(values) > 1 else list(values)
    return " ±".join(f"{figure:.{digits}f}".removeprefix("0") for figure in figures)


def span(values, digits, middle=statistics.median):
    """Median, or another middle (lowest to highest): .74 (.70 to .87)."""
    at, least, most = (
        f"{value:.{digits}f}".removeprefix("0") or "0"
        for value in (middle(values), min(values), max(values))
    )
    return at if least == most else f"{at} ({least} to {most})"


def table(header, rows):
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def folder_size(path):
    """Bytes of all files of a folder."""
    return sum(file.stat().st_size for file in Path(path).rglob("*") if file.is_file())


def memory(pid):
    """{RssAnon, RssFile, VmHWM} of a process in MB; empty if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return {}
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    wanted = ("RssAnon", "RssFile", "VmHWM")
    return {name: int(fields[name].split()[0]) / 1e3 for name in wanted if name in fields}

"""What numba takes to compile each construct that kernels are made of: milliseconds of CPU.

    python research/micro/compile_cost.py [--repeats 5] [--out FILE]

A function with one use of the construct and one with 13 are compiled in turns; the figure is a twelfth of
the difference, the least of the repeats. All in one process, after numba has loaded its tables, with the
passes of `mlgt.compile.lean`.
"""

import argparse
import gc
import time
from pathlib import Path

import numpy as np
from numba import types

from common import machine, table
from mlgt.compile.kernels import _njit, helper

USES = 12
FLOATS, INTS = types.Array(types.float32, 1, "C"), types.Array(types.int32, 1, "C")
HELPER = '@helper(error_model="numpy")\ndef g{}(a, n):\n    a[n] = 1\n'
CONSTRUCTS = {
    "two operations on integers": ("    n = n * 3 + n\n", FLOATS, ""),
    "an access to an array": ("    a[n + {}] = 1\n", FLOATS, ""),
    "a slice, and an access": ("    b{0} = a[n : n + 5]\n    b{0}[n] = 1\n", FLOATS, ""),
    "an allocation, and an access": ("    b{0} = np.empty(n, np.float32)\n    b{0}[n] = 1\n", FLOATS, ""),
    "a loop with an access": ("    for i{0} in range(n):\n        a[i{0}] = {0}\n", FLOATS, ""),
    "a loop over an array": ("    for x{0} in a:\n        n += x{0}\n", INTS, ""),
    "a condition": ("    if n > {}:\n        n += 1\n", FLOATS, ""),
    "a call of a known helper": ("    g(a, n)\n", FLOATS, HELPER.format("")),
    "a helper with an access": (
        "    g{}(a, n)\n",
        FLOATS,
        "".join(HELPER.format(i) for i in range(USES + 1)),
    ),
}


def compiled(source, arguments, **options):
    """CPU seconds to compile the function f of the source."""
    names = {"np": np, "helper": helper}
    exec(source, names)
    options |= {"nogil": True, "no_cfunc_wrapper": True, "error_model": "numpy"}
    function = _njit(names["f"], **options)
    began = time.thread_time()
    function.compile(arguments)
    return time.thread_time() - began


def cost(line, array, before, repeats):
    """Milliseconds of one use of the construct."""

    def least(uses):
        body = "".join(line.format(i) for i in range(uses))
        source = f"{before}def f(a, n):\n{body}    return n\n"
        return min(compiled(source, (array, types.int64), no_cpython_wrapper=True) for _ in range(repeats))

    return (least(USES + 1) - least(1)) / USES * 1e3


def cost_of_argument(repeats):
    """Milliseconds of one array among the arguments of a kernel."""

    def least(count):
        names = ", ".join(f"a{i}" for i in range(count))
        source = f"def f({names}):\n    a0[0] = 1\n"
        return min(compiled(source, (FLOATS,) * count) for _ in range(repeats))

    return (least(USES + 1) - least(1)) / USES * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    gc.disable()
    _njit(lambda a, n: a[n:].sum())(np.zeros(3, np.float32), 1)
    lines = [["an array among the arguments", f"{cost_of_argument(options.repeats):.1f}"]]
    lines += [[name, f"{cost(*own, options.repeats):.1f}"] for name, own in CONSTRUCTS.items()]
    text = f"{machine()}.\n\n{table(['construct', 'ms'], lines)}\n"
    print(text)
    if options.out:
        options.out.write_text(text, "utf-8")


if __name__ == "__main__":
    main()

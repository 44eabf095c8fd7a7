"""`prefetch`: ask for memory ahead of its use.

A model is larger than the caches, and every row reads other parts of it. A kernel that knows where it will
read asks for that first: the answers come together, instead of one after the other.
"""

from typing import Any

import numpy as np

from ..compile.kernels import helper

STEP = 32
"""Every how many entries `prefetch_runs` asks for: as many ids of two bytes as fill a cache line."""


def _teach(numba, function):
    """Translate `prefetch` to LLVM's instruction of that name."""
    from llvmlite import ir

    types, number = numba.core.types, ir.IntType(32)

    def lower(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = context.cast(builder, arguments[1], signature.args[1], types.intp)
        pointer = builder.bitcast(builder.gep(array.data, [place]), ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, number, number, number])
        instruction = builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], kind)
        builder.call(instruction, [pointer, number(0), number(3), number(1)])  # to be read, and kept
        return context.get_dummy_value()

    numba.extending.type_callable(function)(lambda _: lambda array, place: types.void)
    numba.extending.lower_builtin(function, types.Array, types.Integer)(lower)


@helper(_teach)
def prefetch(array: np.ndarray, place: Any) -> None:
    """Ask for the entry at `place` of array.ravel(), which may lie outside. In Python, nothing happens."""


@helper(error_model="numpy")
def prefetch_runs(ids: np.ndarray, values: np.ndarray, begin: Any, end: Any) -> None:
    """Ask for ids[begin:end] and values[begin:end]."""
    for e in range(begin, end, STEP):
        prefetch(ids, e)
        prefetch(values, e)
    prefetch(ids, end - 1)

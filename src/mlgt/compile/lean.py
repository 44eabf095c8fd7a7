"""How numba compiles mlgt's kernels: with the passes that they need, and with helpers that are only linked.

numba optimises every function on its own, generates its machine code, and optimises it again inside each
function that calls it. A helper is only called by kernels, and LLVM optimises it there together with the
rest: its own code is never run. Passes for closures, contexts, literals and expressions of whole arrays
find nothing in kernels, which are loops over entries. Without all this, compiling takes three quarters of
the time, and kernels return the same bits (`research/micro/compile_time.py`).

numba documents how to choose passes (`pipeline_class`). Linking is not documented, though numba uses it for
functions of its own. If a later numba refuses it, helpers are compiled like any other function.
"""

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

PASSES = (
    "TranslateByteCode", "FixupArgs", "IRProcessing", "GenericRewrites", "ReconstructSSA",
    "NopythonTypeInference", "PreLowerStripPhis", "NoPythonSupportedFeatureValidation", "IRLegalization",
    "AnnotateTypes", "NativeLowering", "NoPythonBackend",
)  # fmt: skip
"""The passes of numba that kernels need, by its names."""


@cache
def pipeline() -> Any:
    """numba's compiler with PASSES alone; None if it does not have all of them."""
    from numba.core import typed_passes, untyped_passes
    from numba.core.compiler import CompilerBase
    from numba.core.compiler_machinery import PassManager

    known = {**vars(typed_passes), **vars(untyped_passes)}
    if not known.keys() >= set(PASSES):
        return None

    class Pipeline(CompilerBase):
        def define_pipelines(self):
            passes = PassManager("mlgt")
            for name in PASSES:
                passes.add_pass(known[name], name)
            passes.finalize()
            return [passes]

    return Pipeline


def teach(numba: Any, function: Callable, **options: Any) -> None:
    """Make a helper known to numba: it is compiled once for each combination of types, and linked to the
    kernels and helpers that call it."""
    options = {"fastmath": False, "forceinline": False, **options}  # not those of the first caller
    compiled = cache(lambda *types: _compile(numba, function, types, options))

    def find_type(*types):
        return compiled(*types).signature.return_type

    def lower(context, builder, signature, arguments):
        found = compiled(*signature.args)
        context.active_code_library.add_linking_library(found.library)
        return context.call_internal(builder, found.fndesc, found.signature, arguments)

    find_type.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    numba.extending.type_callable(function)(lambda _: find_type)
    numba.extending.lower_builtin(function, numba.types.VarArg(numba.types.Any))(lower)


def _compile(numba, function, types, options):
    """numba's result for a helper with arguments of these types, without machine code."""
    try:
        return _link_only(function, types, options)
    except (AttributeError, ImportError, TypeError):  # another numba than those that were tried
        whole = numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)(function)
        whole.compile(types)
        return whole.overloads[types]


def _link_only(function, types, options):
    from numba.core import compiler
    from numba.core.registry import cpu_target

    flags, target = compiler.Flags(), cpu_target.target_context
    cpu_target.options.parse_as_flags(flags, {"nopython": True, **options})
    flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    library = _linked_library()(target.codegen(), function.__name__)
    passes, context = pipeline() or compiler.Compiler, cpu_target.typing_context
    return compiler.compile_extra(context, target, function, types, None, flags, {}, library, passes)


@cache
def _linked_library():
    from numba.core.codegen import JITCodeLibrary

    class LinkedLibrary(JITCodeLibrary):
        """Code for LLVM that is not optimised and not made executable, until it is part of a kernel."""

        def _optimize_functions(self, ll_module):
            ll_module.data_layout = self._codegen._data_layout

        def _optimize_final_module(self):
            pass

        def _finalize_final_module(self):
            self._finalize_dynamic_globals()
            self._finalized = True

    return LinkedLibrary

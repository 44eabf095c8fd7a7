"""How helpers are compiled: into code that is linked into kernels, and never run by itself.

numba makes machine code of every function that a kernel calls, and optimises it, though the kernel has
all of that done again with the function inside. Without it, compiling takes a tenth less time.
"""

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class Linked(Compiler):
    """numba's compiler without machine code."""

    def compile_extra(self, func: Any) -> Any:
        self.state.library = _Library(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)


class _Library(JITCodeLibrary):
    """Code for linking alone. If a release of numba renames what is replaced here, it makes more code."""

    def _optimize_final_module(self):
        pass

    def _finalize_final_module(self):
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name):
        self._ensure_finalized()
        return 0

    @property
    def codegen(self):
        return _NoEnvironment(self._codegen)


class _NoEnvironment:
    """The code generator, without a place for what a function needs to run by itself."""

    def __init__(self, codegen):
        self._own = codegen

    def __getattr__(self, name):
        return getattr(self._own, name)

    def set_env(self, env_name, env):
        pass

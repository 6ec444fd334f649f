"""Compiles a function that only compiled functions call into a part of them, without machine code of its own.

Numba compiles each of the dozens of functions of a kernel as if Python called it, which takes a third of the compile
time of the kernel. The generated code of the kernel is the same.
"""

from typing import Any, cast

from numba.core import codegen, compiler
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.typed_passes import NativeLowering


class _NoEnvironment:
    """Replaces the code generator of a library that is never run by itself."""

    def set_env(self, name: str, environment: Any) -> None:
        """Does nothing: the kernel that the function becomes a part of holds the Python objects."""


class _PartLibrary(codegen.JITCodeLibrary):  # type: ignore[misc]  # Numba has no types
    """Code of a function that only compiled functions call.

    The function is simplified and linked, but neither optimized as a whole nor turned into machine code: both happen
    in the kernel that it becomes a part of.
    """

    def finalize(self) -> None:
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._final_module.verify()
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """0: there is no machine code."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> _NoEnvironment:
        return _NoEnvironment()


@register_pass(mutates_CFG=False, analysis_only=False)
class _IntoPart(LoweringPass):  # type: ignore[misc]
    """Lowers the function into a `_PartLibrary`."""

    _name = "into_part"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        state.library = _PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return False


class PartCompiler(compiler.Compiler):  # type: ignore[misc]
    """Compiles functions that become parts of kernels, for `numba.njit(pipeline_class=...)`."""

    def define_pipelines(self) -> list[Any]:
        """Numba's own passes, with `_IntoPart` before the lowering."""
        managers = super().define_pipelines()
        for manager in managers:
            at = [chosen for chosen, _ in manager.passes].index(NativeLowering)
            manager.passes.insert(at, (_IntoPart, "a library of its own kind"))
            manager._finalized = False
            manager.finalize()
        return cast(list[Any], managers)


OPTIONS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": PartCompiler}
"""Options of `numba.njit` for such a function."""

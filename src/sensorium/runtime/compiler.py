"""Patches that make Numba compile faster, without a change to the generated code.

A kernel consists of dozens of small functions, each compiled once for every combination of argument types. Numba
compiles each as if Python called it, resolves `+` a thousand times and rebuilds LLVM's pass list for each function.
This repeated work doubles the time to the first scan in a new installation.

The patches replace private parts of Numba. A version of Numba that lacks such a part is left unpatched there.
"""

import contextlib
import gc
import threading
from collections.abc import Callable, Iterator
from typing import Any, cast

from numba.core import codegen, compiler, ir, targetconfig
from numba.core import config as numba_config
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.typed_passes import NativeLowering
from numba.core.types.functions import BaseFunction

# Garbage collection threshold [new objects] while a kernel is compiled
_OBJECTS_BETWEEN = 200_000

_compiling = [0]  # number of compiling threads, and the threshold before the first
_before = [gc.get_threshold()]
_changing = threading.Lock()


@contextlib.contextmanager
def reduced_gc() -> Iterator[None]:
    """Context manager that makes garbage collection rare.

    The compiler creates millions of objects that live until it ends. Collection passes over them take an eighth of its
    time, and more in a process with many objects of its own.
    """
    with _changing:
        if _compiling[0] == 0:
            _before[0] = gc.get_threshold()
            if 0 < _before[0][0] < _OBJECTS_BETWEEN:  # 0 turns collection off
                gc.set_threshold(_OBJECTS_BETWEEN, *_before[0][1:])
        _compiling[0] += 1
    try:
        yield
    finally:
        with _changing:
            _compiling[0] -= 1
            if _compiling[0] == 0:
                gc.set_threshold(*_before[0])


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


def _remember_settings() -> None:
    """Cache the values of a set of flags.

    For every call in every function, Numba compares flags of some forty options, each looked up by name: an eighth of
    the compile time. The key of the cache is the options that were set.
    """
    worked_out = targetconfig.TargetConfig.values
    known: dict[Any, tuple[dict[str, Any], tuple[Any, ...]]] = {}

    def values(self: Any) -> dict[str, Any]:
        given = self._values
        key = (type(self), *given, *map(id, given.values()))
        found = known.get(key)
        if found is None:
            found = known[key] = worked_out(self), tuple(given.values())  # kept, so that no other object gets their ids
        return found[0]

    targetconfig.TargetConfig.values = values


def _remember_calls() -> None:
    """Cache the signature of a built-in function for given argument types.

    For each `a * b` and each `a[i]` Numba tries a dozen templates and formats an error message for each mismatch.
    """
    base: Any = BaseFunction
    find = base.get_call_type
    known: dict[Any, tuple[Any, Any]] = {}

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        key = (self, context, tuple(args), tuple(kws.items()), targetconfig.ConfigStack.top_or_none())
        found = known.get(key)
        if found is None:
            signature = find(self, context, args, kws)
            found = known[key] = signature, self._impl_keys[signature.args]
        signature, self._impl_keys[signature.args] = found
        return signature

    base.get_call_type = get_call_type


def _remember_passes() -> None:
    """Cache LLVM's function pass manager, which Numba builds for each function."""
    build = codegen.CPUCodegen._function_pass_manager

    def function_pass_manager(self: Any, **options: Any) -> Any:
        settings = (numba_config.OPT, numba_config.LOOP_VECTORIZE, numba_config.SLP_VECTORIZE, *options.items())
        kept = self.__dict__.setdefault("_kept_function_passes", {})
        if settings not in kept:
            kept[settings] = build(self, **options)
        return kept[settings]

    codegen.CPUCodegen._function_pass_manager = function_pass_manager


def _list_variables_by_type() -> None:
    """Cache the kind of a statement's parts by exact type, which Numba looks up a million times."""
    variable, instruction, several, named, other = range(5)
    known: dict[type, int] = {}

    def sort_of(kind: type) -> int:
        sorts = ((ir.Var, variable), (ir.Inst, instruction), ((list, tuple), several), (dict, named))
        known[kind] = next((sort for base, sort in sorts if issubclass(kind, base)), other)
        return known[kind]

    def list_variables(self: Any, part: Any) -> list[Any]:
        sort = known.get(type(part))
        if sort is None:
            sort = sort_of(type(part))
        if sort == other:
            return []
        if sort == variable:
            return [part]
        if sort == instruction:
            return cast(list[Any], part.list_vars())
        found: list[Any] = []
        for each in part if sort == several else part.values():
            if known.get(type(each)) != other:
                found.extend(list_variables(self, each))
        return found

    ir.Inst._rec_list_vars = list_variables


def apply_numba_patches(changes: tuple[Callable[[], None], ...] = ()) -> None:
    """Apply these patches to Numba; all of the above if none are given."""
    every = (_remember_settings, _remember_calls, _remember_passes, _list_variables_by_type)
    for change in changes or every:
        with contextlib.suppress(AttributeError):  # a version of Numba without that part
            change()

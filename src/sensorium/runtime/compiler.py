"""Numba's compiler without the work that it does again and again.

A kernel here is made of dozens of small functions, and each is compiled once for every kind of argument. Numba treats
each as if Python were to call it, looks up what `+` means a thousand times, and builds LLVM's list of passes anew for
each function. None of this changes the code that comes out; it doubles the time until the first scan of a new user.

What is changed in Numba are private parts of it. Where a later version has them no more, that version stays as it is.
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

# New objects between two collections of garbage while a kernel is compiled
_OBJECTS_BETWEEN = 200_000

_compiling = [0]  # how many threads are at it, and what held before the first
_before = [gc.get_threshold()]
_changing = threading.Lock()


@contextlib.contextmanager
def collecting_rarely() -> Iterator[None]:
    """Let Python collect garbage rarely inside.

    The compiler makes millions of objects that live as long as it works: looking through them again and again takes an
    eighth of its time, and more in a process that has many objects of its own.
    """
    with _changing:
        if _compiling[0] == 0:
            _before[0] = gc.get_threshold()
            if 0 < _before[0][0] < _OBJECTS_BETWEEN:  # 0 is never
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
    """Stands for the code generator of a library that is never run by itself."""

    def set_env(self, name: str, environment: Any) -> None:
        """Nothing: Python objects that a function might need are those of the kernel that it becomes a part of."""


class _PartLibrary(codegen.JITCodeLibrary):  # type: ignore[misc]  # Numba has no types
    """Code of a function that only other compiled functions call.

    It is simplified by itself and linked, but neither optimized as a whole nor turned into machine code, since both
    happen to the kernel that it becomes a part of.
    """

    def finalize(self) -> None:
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._final_module.verify()
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """None: there is no machine code."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> _NoEnvironment:
        return _NoEnvironment()


@register_pass(mutates_CFG=False, analysis_only=False)
class _IntoPart(LoweringPass):  # type: ignore[misc]
    """Has the function lowered into a library of the kind above."""

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
        """Numba's own passes, with the code lowered into a library of its own kind."""
        managers = super().define_pipelines()
        for manager in managers:
            at = [chosen for chosen, _ in manager.passes].index(NativeLowering)
            manager.passes.insert(at, (_IntoPart, "a library of its own kind"))
            manager._finalized = False
            manager.finalize()
        return cast(list[Any], managers)


def _remember_settings() -> None:
    """Let Numba work out the values of a set of flags once, and not at each of a hundred thousand comparisons.

    It compares flags, some forty options each looked up by name, for every call in every function that it compiles: an
    eighth of the time. What a set of flags is follows from the options that were set, so that is what is looked up.
    """
    worked_out = targetconfig.TargetConfig.values
    known: dict[Any, tuple[dict[str, Any], tuple[Any, ...]]] = {}

    def values(self: Any) -> dict[str, Any]:
        given = self._values
        key = (type(self), *given, *map(id, given.values()))
        found = known.get(key)
        if found is None:
            found = known[key] = worked_out(self), tuple(given.values())  # kept, so that no other object has their ids
        return found[0]

    targetconfig.TargetConfig.values = values


def _remember_calls() -> None:
    """Let Numba find once what a built-in function gives for arguments of some types.

    For each `a * b` and each `a[i]` it tries a dozen templates in turn and writes an error message for each that does
    not fit.
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
    """Let Numba build LLVM's passes over a function once, and not for each function."""
    build = codegen.CPUCodegen._function_pass_manager

    def function_pass_manager(self: Any, **options: Any) -> Any:
        settings = (numba_config.OPT, numba_config.LOOP_VECTORIZE, numba_config.SLP_VECTORIZE, *options.items())
        kept = self.__dict__.setdefault("_kept_function_passes", {})
        if settings not in kept:
            kept[settings] = build(self, **options)
        return kept[settings]

    codegen.CPUCodegen._function_pass_manager = function_pass_manager


def _list_variables_by_type() -> None:
    """Let Numba tell what a part of a statement is from its exact type, which it asks for a million times."""
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


def quicken(changes: tuple[Callable[[], None], ...] = ()) -> None:
    """Make these changes to Numba, all of the above unless some are given."""
    every = (_remember_settings, _remember_calls, _remember_passes, _list_variables_by_type)
    for change in changes or every:
        with contextlib.suppress(AttributeError):  # a version of Numba without that part
            change()

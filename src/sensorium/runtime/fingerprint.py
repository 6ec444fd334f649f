"""The fingerprint of a kernel: a hash of all code that is compiled into it, and of nothing else.

It covers the bytecode of the kernel and of every function that it calls, and the values of the constants that these
read. Comments, docstrings and the place of installation do not matter.
"""

import ast
import functools
import hashlib
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core.dispatcher import Dispatcher

_PACKAGE = __name__.split(".", maxsplit=1)[0]


def fingerprint(function: Callable[..., Any], options: dict[str, Any]) -> str:
    """Hash of all that is compiled into a kernel, 16 hex digits.

    Args:
        function: The Python function of the kernel.
        options: Options of the compiler.
    """
    own, pending = _describe_function(function)
    found: dict[int, str] = {}
    while pending:
        item = pending.pop()
        if id(item) not in found:
            found[id(item)], uses = _described(item)
            pending.extend(uses)
    digest = hashlib.sha256("\n".join([_settings(), _value(options), own]).encode())
    for each in sorted(set(found.values())):
        digest.update(each.encode())
    return digest.hexdigest()[:16]


@functools.cache
def _settings() -> str:
    """Dependencies of every kernel: versions, and the code by which `jit` compiles."""
    return "\n".join([numba.__version__, llvmlite.__version__, _source(f"{__package__}.jit")])


_known: dict[int, tuple[str, list[Any], Any]] = {}


def _described(item: Any) -> tuple[str, list[Any]]:
    """One function or value in a few characters that say all of it, and the functions that it uses."""
    if id(item) not in _known:
        code = item if isinstance(item, types.FunctionType) else _plain(item)
        if isinstance(code, types.FunctionType):
            own, uses = _describe_function(code)
        else:
            own, uses = _value(item), []
        if _is_compiled(item):
            own += _value(getattr(item, "targetoptions", None) or getattr(item, "options", None))
        elif _is_ours(item):  # Numba may compile something else for it: see the whole file
            module = sys.modules[item.__module__]
            own += _source(item.__module__)
            uses = [*uses, *(each for each in vars(module).values() if _is_compiled(each))]
        _known[id(item)] = own, uses, item  # kept, so that no other object has its id
    return _known[id(item)][:2]


def _plain(item: Any) -> Any:
    """The Python function behind a compiled function or an intrinsic; None for any other object."""
    return getattr(item, "py_func", None) or getattr(item, "_defn", None)


def _is_compiled(item: Any) -> bool:
    """Whether it is a compiled function, made by `jit` or by Numba itself."""
    return isinstance(item, Dispatcher) or hasattr(item, "_numba_type_")


def _is_ours(item: Any) -> bool:
    module = getattr(item, "__module__", None)
    return isinstance(module, str) and module.split(".")[0] == _PACKAGE and module in sys.modules


def _describe_function(function: Any) -> tuple[str, list[Any]]:
    """Bytecode and constants of a function with its global values, and the functions among these."""
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    captured = zip(function.__code__.co_freevars, cells, strict=True)
    used = [*_globals_of(function.__code__, function.__globals__), *captured]
    parts = [f"{function.__module__}.{function.__qualname__}", *_code(function.__code__, function.__doc__)]
    parts.append(_value((function.__defaults__, function.__kwdefaults__)))
    uses = []
    for name, value in used:
        if _is_compiled(value) or hasattr(value, "_defn") or _is_ours(value):
            parts.append(f"{name}: function")
            uses.append(value)
        else:
            parts.append(f"{name}: {_value(value)}")
    return "\n".join(parts), uses


def _code(code: types.CodeType, documentation: str | None) -> Iterator[str]:
    """The content of a code object without line numbers and docstring."""
    yield code.co_code.hex()
    yield repr((code.co_names, code.co_varnames, code.co_freevars, code.co_flags))
    for number, constant in enumerate(code.co_consts):
        if isinstance(constant, types.CodeType):
            yield from _code(constant, None)
        elif number > 0 or constant is not documentation:  # the docstring comes first, None if there is none
            yield _value(constant)


def _globals_of(code: types.CodeType, scope: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Names that code reads from its module, and from modules of ours or its package, with their values."""
    packages = _PACKAGE, str(scope.get("__name__")).split(".")[0]
    for name in code.co_names:
        if name not in scope:
            continue
        value = scope[name]
        if isinstance(value, types.ModuleType) and value.__name__.split(".")[0] in packages:
            for attribute in code.co_names:
                if attribute in vars(value):
                    yield f"{name}.{attribute}", vars(value)[attribute]
        else:
            yield name, value
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _globals_of(constant, scope)


def _value(value: Any) -> str:
    """A constant as text that differs where the constant does, in any process."""
    if isinstance(value, np.ndarray):
        return f"array {value.dtype} {value.shape} {hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()}"
    if isinstance(value, tuple | list):
        return f"{type(value).__name__}({', '.join(_value(each) for each in value)})"
    if isinstance(value, set | frozenset):
        return f"set({', '.join(sorted(_value(each) for each in value))})"
    if isinstance(value, dict):
        return f"dict({', '.join(f'{_value(key)}: {_value(each)}' for key, each in value.items())})"
    if isinstance(value, float | np.floating):
        return f"{type(value).__name__} {float(value).hex()}"
    if value is None or isinstance(value, int | str | bytes | complex | np.generic | np.dtype | numba.types.Type):
        return f"{type(value).__name__} {value!r}"
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None) or type(value).__qualname__
    return f"{getattr(value, '__module__', None) or type(value).__module__}.{name}"


@functools.cache
def _source(module: str) -> str:
    """Hash of a module's code, without comments and docstrings."""
    path = getattr(sys.modules.get(module), "__file__", None)
    if not path or not Path(path).exists():
        return module
    tree = ast.parse(Path(path).read_bytes())
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [each for each in body if not _is_text(each)]  # type: ignore[attr-defined]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)

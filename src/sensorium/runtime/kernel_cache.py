"""Where compiled kernels are kept: one folder for all versions of the package, one file a kernel and fingerprint.

Numba's own cache looks only at the file that a kernel stands in, so a kernel that calls an edited function of another
file would keep the old result. Here the name of a kernel's file holds a fingerprint of all that is compiled into it:
the bytecode of the kernel and of every function that it calls, and the values of the constants that these read. An
edit costs the kernels that use the edited code; comments, docstrings and the place of installation cost none.
"""

import ast
import contextlib
import functools
import hashlib
import os
import sys
import tempfile
import time
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.dispatcher import Dispatcher
from numba.extending import _Intrinsic

from sensorium.runtime import prebuilt

# Kernels that no process has loaded for so long are removed [days]
_KEEP_DAYS = 14

_PACKAGE = __name__.split(".", maxsplit=1)[0]


class KernelCache(FunctionCache):  # type: ignore[misc]  # Numba has no types
    """Numba's cache of one kernel, in our folder and under the kernel's fingerprint.

    Args:
        function: The Python function that is compiled.
        options: What it is compiled with.
    """

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self._name, self._py_func, self._options = repr(function), function, options
        self._cache_path = str(cache_folder())
        self._impl = _Results(function)
        self._enabled = True

    @functools.cached_property
    def _names(self) -> tuple[str, str]:
        """Name of the files and fingerprint, found at the first call: before it, functions below may be missing."""
        function, stamp = self._py_func, fingerprint(self._py_func, self._options)
        name = f"{Path(function.__code__.co_filename).stem}.{function.__qualname__}".translate({60: None, 62: None})
        return f"{name}-{stamp}.py{sys.version_info[0]}{sys.version_info[1]}{getattr(sys, 'abiflags', '')}", stamp

    @functools.cached_property
    def _cache_file(self) -> IndexDataCacheFile:
        return _Files(self._cache_path, *self._names)

    @functools.cached_property
    def _prebuilt_files(self) -> list[tuple[str, IndexDataCacheFile]]:
        """Level and files of the kernel that came with the package, best first; mostly one, if any."""
        files = ((level, _Files(folder, *self._names)) for level, folder in prebuilt.folders())
        return [(level, file) for level, file in files if Path(file._index_path).exists()]

    @property
    def is_filled(self) -> bool:
        """Whether the kernel was compiled before, for arguments of any types."""
        return bool(self._prebuilt_files) or Path(self._cache_file._index_path).exists()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Numba's own, with a note on the file that it was used; else what came with the package."""
        found = super().load_overload(sig, target_context)
        if found is None:
            return self._load_prebuilt(sig, target_context)
        with contextlib.suppress(OSError):
            os.utime(self._cache_file._index_path)
        return found

    def _load_prebuilt(self, sig: Any, target_context: Any) -> Any:
        """A kernel that was compiled for a level of CPUs instead of this one."""
        for level, file in self._prebuilt_files:
            signature, (triple, _, _), code = self._index_key(sig, target_context.codegen())
            data = file.load((signature, (triple, level, ""), code))
            if data is not None:
                target_context.refresh()
                return self._impl.rebuild(target_context, data)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Numba's own; where the disk is full or broken nothing is kept, with one warning in a process."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _warn_that_none_is_kept(error.strerror or str(error))


class _Files(IndexDataCacheFile):  # type: ignore[misc]
    """Files of one kernel; what cannot be read of them is compiled again."""

    def load(self, key: Any) -> Any:
        try:
            return super().load(key)
        except Exception:  # of a damaged file, unpickling may raise anything
            return None

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except Exception:
            return {}


class _Results(CompileResultCacheImpl):  # type: ignore[misc]
    """What Numba keeps of a compiled function; it finds no place for it, since the folder is known."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._lineno = function.__code__.co_firstlineno
        self._locator = _Folder(function)


class _Folder:
    """Numba's locator, as far as it is asked."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._py_file = function.__code__.co_filename

    def ensure_cache_path(self) -> None:
        cache_folder().mkdir(parents=True, exist_ok=True)


@functools.cache
def _warn_that_none_is_kept(why: str) -> None:
    """Once in a process, not for each kernel."""
    warnings.warn(f"compiled kernels cannot be kept in {str(cache_folder())!r}: {why}", RuntimeWarning, stacklevel=2)


@functools.cache
def cache_folder() -> Path:
    """The folder of compiled kernels; files unused for two weeks are removed from it."""
    root = _cache_root()
    folder = root / "kernels"
    folder.mkdir(parents=True, exist_ok=True)
    oldest = time.time() - _KEEP_DAYS * 86400
    for index in folder.glob("*.nbi"):
        with contextlib.suppress(FileNotFoundError):  # another process may be at it too
            if index.stat().st_mtime < oldest:
                for file in folder.glob(f"{index.stem}.*"):
                    file.unlink(missing_ok=True)
    return folder


def _cache_root() -> Path:
    """SENSORIUM_CACHE_DIR, else the user's cache folder, else (read-only home) a temporary one."""
    given = os.environ.get("SENSORIUM_CACHE_DIR")
    if given:
        return Path(given)
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    root = base / "sensorium"
    try:
        root.mkdir(parents=True, exist_ok=True)
        if os.access(root, os.W_OK):
            return root
    except OSError:
        pass
    return Path(tempfile.gettempdir()) / f"sensorium-cache-{os.getuid() if hasattr(os, 'getuid') else 'user'}"


def fingerprint(function: Callable[..., Any], options: dict[str, Any]) -> str:
    """Hash of all that is compiled into a kernel, 16 hex digits.

    Args:
        function: The Python function of the kernel.
        options: What it is compiled with.
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
    """What every kernel depends on: versions, and the code by which `jit` compiles."""
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
    """The Python function behind one that Numba compiles, or that writes instructions for it; None for all else."""
    if isinstance(item, _Intrinsic):
        return item._defn
    return getattr(item, "py_func", None)


def _is_compiled(item: Any) -> bool:
    """Whether kernels are made of it: a compiled function, as `jit` or Numba itself makes them."""
    return isinstance(item, Dispatcher) or hasattr(item, "_numba_type_")


def _is_ours(item: Any) -> bool:
    module = getattr(item, "__module__", None)
    return isinstance(module, str) and module.split(".")[0] == _PACKAGE and module in sys.modules


def _describe_function(function: Any) -> tuple[str, list[Any]]:
    """Bytecode and constants of a function with what it reads from outside, and the functions among that."""
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    captured = zip(function.__code__.co_freevars, cells, strict=True)
    used = [*_globals_of(function.__code__, function.__globals__), *captured]
    parts = [f"{function.__module__}.{function.__qualname__}", *_code(function.__code__, function.__doc__)]
    parts.append(_value((function.__defaults__, function.__kwdefaults__)))
    uses = []
    for name, value in used:
        if _is_compiled(value) or isinstance(value, _Intrinsic) or _is_ours(value):
            parts.append(f"{name}: function")
            uses.append(value)
        else:
            parts.append(f"{name}: {_value(value)}")
    return "\n".join(parts), uses


def _code(code: types.CodeType, documentation: str | None) -> Iterator[str]:
    """What a code object does, without its lines and its docstring."""
    yield code.co_code.hex()
    yield repr((code.co_names, code.co_varnames, code.co_freevars, code.co_flags))
    for number, constant in enumerate(code.co_consts):
        if isinstance(constant, types.CodeType):
            yield from _code(constant, None)
        elif number > 0 or constant is not documentation:  # which comes first, as None where there is none
            yield _value(constant)


def _globals_of(code: types.CodeType, scope: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Names that code reads from its module, and from modules of ours that it reads there, with their values."""
    for name in code.co_names:
        if name not in scope:
            continue
        value = scope[name]
        if isinstance(value, types.ModuleType) and value.__name__.split(".")[0] == _PACKAGE:
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

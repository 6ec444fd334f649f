"""The cache of compiled kernels: one folder for all versions of the package, one file a kernel and fingerprint.

Numba's own cache checks only the file that contains a kernel, so a kernel that calls an edited function of another file
would keep the old result. Here the name of a kernel's file holds its `fingerprint`: an edit recompiles the kernels that
use the edited code, and no others.
"""

import contextlib
import functools
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile

from sensorium.runtime.fingerprint import fingerprint
from sensorium.runtime.kernel_folders import Level, cache_folder, prebuilt_folders


class KernelCache(FunctionCache):  # type: ignore[misc]  # Numba has no types
    """Numba's cache of one kernel, in our folder and under the kernel's fingerprint.

    Args:
        function: The Python function that is compiled.
        options: Options of the compiler.
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
    def _prebuilt_files(self) -> list[tuple[Level, IndexDataCacheFile]]:
        """Level and files of the kernel that came with the package, best first; mostly one, if any."""
        files = ((level, _Files(folder, *self._names)) for level, folder in prebuilt_folders())
        return [(level, file) for level, file in files if Path(file._index_path).exists()]

    @property
    def base_path(self) -> str:
        """Path that the names of the kernel's files in the cache begin with."""
        return str(Path(self._cache_path) / self._names[0])

    @property
    def is_filled(self) -> bool:
        """Whether the kernel was compiled before, for arguments of any types."""
        return bool(self._prebuilt_files) or Path(self._cache_file._index_path).exists()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Numba's own, with a note on the file that it was used; else the kernel shipped with the package."""
        found = super().load_overload(sig, target_context)
        if found is None:
            return self._load_prebuilt(sig, target_context)
        with contextlib.suppress(OSError):
            os.utime(self._cache_file._index_path)
        return found

    def _load_prebuilt(self, sig: Any, target_context: Any) -> Any:
        """A kernel that was compiled for a level of CPUs instead of this one."""
        for level, file in self._prebuilt_files:
            signature, (triple, _, _) = self._index_key(sig, target_context.codegen())
            data = file.load((signature, (triple, level.name, level.features)))
            if data is not None:
                target_context.refresh()
                return self._impl.rebuild(target_context, data)
        return None

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, Any]:
        """Types of the arguments and the CPU; the code itself is in the name of the file."""
        return sig, codegen.magic_tuple()

    def save_overload(self, sig: Any, data: Any) -> None:
        """As Numba's; if the disk is full or broken nothing is stored, with one warning per process."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _warn_that_none_is_kept(error.strerror or str(error))


class _Files(IndexDataCacheFile):  # type: ignore[misc]
    """Files of one kernel; unreadable ones are compiled again."""

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
    """Numba's stored form of a compiled function, with the folder given."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._lineno = function.__code__.co_firstlineno
        self._locator = _Folder(function)


class _Folder:
    """The part of Numba's locator that is called."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._py_file = function.__code__.co_filename

    def ensure_cache_path(self) -> None:
        cache_folder().mkdir(parents=True, exist_ok=True)


@functools.cache
def _warn_that_none_is_kept(why: str) -> None:
    """Once in a process, not for each kernel."""
    warnings.warn(f"compiled kernels cannot be kept in {str(cache_folder())!r}: {why}", RuntimeWarning, stacklevel=2)

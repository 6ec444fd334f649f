"""The compilation of a kernel: by one process for all, with the patches that save time, and announced if it takes long.

Workers of a test run, of a cluster or of a series of runs all need their first kernel in the same second. The light
kernel alone takes half a minute of a core, which a lock on a file saves in all processes but one.
"""

import contextlib
import gc
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from sensorium.runtime import compile_notice, numba_parts

# A stopped process keeps its locks: after this time the kernel is compiled here anyway [s]
_PATIENCE_S = 600.0

# Interval at which the other process is checked [s]
_POLL_S = 0.02

# Garbage collection threshold [new objects] while a kernel is compiled
_OBJECTS_BETWEEN = 200_000

_typing = numba_parts.load("quick_typing")


def compile_once(kernel: Any) -> None:
    """Let a kernel that is cached on disk be compiled by one process at a time, for each kind of arguments.

    Numba reads the cache under its own lock, so at most one thread of a process holds locks here. No kernel calls
    itself through another, so two processes never wait for each other.

    Args:
        kernel: The result of `numba.njit`, with a `KernelCache`.
    """
    cache, compile_it, translate = kernel._cache, kernel.compile, kernel._compiler.compile
    load = cache.load_overload
    held: list[FileLock] = []

    def load_or_lock(signature: Any, target: Any) -> Any:
        found = load(signature, target)
        if found is not None:
            return found
        lock = _taken(Path(f"{cache.base_path}.{hashlib.sha256(str(signature).encode()).hexdigest()[:12]}.lock"))
        if lock is None:
            return None
        held.append(lock)
        return load(signature, target)  # it may have been compiled while this process waited

    def compile_and_unlock(signature: Any) -> Any:
        before = len(held)
        try:
            return compile_it(signature)
        finally:
            while len(held) > before:
                held.pop().release()

    def translate_quickly(*arguments: Any) -> Any:
        with compile_notice.announced(kernel.__name__), _reduced_gc(), _quick_typing():
            return translate(*arguments)

    cache.load_overload = load_or_lock
    kernel.compile = compile_and_unlock
    kernel._compiler.compile = translate_quickly


def _taken(path: Path) -> FileLock | None:
    """The lock of a file once no other process holds it; None without locks, or if the holder never releases it."""
    lock = FileLock(path, timeout=_PATIENCE_S)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(poll_interval=_POLL_S)
    except (Timeout, OSError, NotImplementedError):  # a full or read-only disk, a file system without locks
        return None
    return lock


def _quick_typing() -> contextlib.AbstractContextManager[None]:
    return contextlib.nullcontext() if _typing is None else _typing.quick_typing()


@contextlib.contextmanager
def _reduced_gc() -> Iterator[None]:
    """Context manager that makes garbage collection rare; Numba compiles in one thread at a time.

    The compiler creates millions of objects that live until it ends. Collection passes over them take an eighth of its
    time, and more in a process with many objects of its own.
    """
    before = gc.get_threshold()
    if 0 < before[0] < _OBJECTS_BETWEEN:  # 0 turns collection off
        gc.set_threshold(_OBJECTS_BETWEEN, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)

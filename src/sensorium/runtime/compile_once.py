"""A cross-process lock for each kernel, so that one process compiles it; the others wait and load the result.

Workers of a test run, of a cluster or of a series of runs all need their first kernel in the same second. The light
kernel alone takes half a minute of a core, which the lock saves in all processes but one.
"""

import contextlib
import hashlib
import os
import time
from pathlib import Path
from typing import Any

from sensorium.runtime.compiler import reduced_gc

try:
    import fcntl
except ImportError:  # Windows: each process compiles for itself
    fcntl = None  # type: ignore[assignment]

# A stopped process keeps its locks: after this time the kernel is compiled here anyway [s]
_PATIENCE_S = 600.0

# Interval at which the other process is checked [s]
_POLL_S = 0.02


def compile_once(kernel: Any) -> None:
    """Let a kernel that is cached on disk be compiled by one process at a time, for each kind of arguments.

    Numba reads the cache under its own lock, so at most one thread of a process holds locks here. No kernel calls
    itself through another, so two processes never wait for each other.

    Args:
        kernel: The result of `numba.njit(cache=True)`.
    """
    cache, compile_it = kernel._cache, kernel.compile
    load = cache.load_overload
    held: list[tuple[int, Path]] = []

    def load_or_lock(signature: Any, target: Any) -> Any:
        found = load(signature, target)
        if found is not None:
            return found
        name = f"{kernel.__module__}.{kernel.__qualname__} {signature}"
        path = Path(cache.cache_path) / f"{hashlib.sha256(name.encode()).hexdigest()[:24]}.lock"
        lock = _taken(path)
        if lock is None:
            return None
        held.append((lock, path))
        return load(signature, target)  # it may have been compiled while this process waited

    def compile_and_unlock(signature: Any) -> Any:
        before = len(held)
        try:
            with reduced_gc():
                return compile_it(signature)
        finally:
            while len(held) > before:
                _give_back(*held.pop())

    cache.load_overload = load_or_lock
    kernel.compile = compile_and_unlock


def _taken(path: Path) -> int | None:
    """The lock of a file once no other process holds it; None without locks, or if the holder never releases it."""
    if fcntl is None:
        return None
    end = time.monotonic() + _PATIENCE_S
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:  # a full or read-only disk: the cache cannot be written either
        return None
    try:
        while time.monotonic() < end:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(_POLL_S)
            else:
                return lock
    except OSError:  # a file system without locks
        pass
    except BaseException:  # Ctrl-C
        os.close(lock)
        raise
    os.close(lock)
    return None


def _give_back(lock: int, path: Path) -> None:
    """Release the lock. A process that waits for the removed file finds the kernel compiled."""
    with contextlib.suppress(OSError):
        path.unlink()
    fcntl.flock(lock, fcntl.LOCK_UN)  # also for children that were forked meanwhile, which have it too
    os.close(lock)

"""Delays a fork until no kernel, no Embree build and no compilation runs in another thread; see docs/runtime.md.

A fork copies locks in their present state, so that the child would wait for ever for a thread that it does not have:
for Numba's compiler, or for one of Embree's own threads if SENSORIUM_EMBREE_CONFIG asks for some.
"""

import os
import time
from contextlib import nullcontext
from functools import partial
from threading import get_ident
from typing import Any

from llvmlite.binding import ffi
from numba.core.compiler_lock import global_compiler_lock

# Interval at which a fork, and kernels that it delays, look again [s]
_POLL_S = 0.0005

# Longest time that a kernel waits for a fork [s]
_PATIENCE_S = 1.0

# Embree's threads poll for work for some tenths of a millisecond after a build before they sleep
_EMBREE_SLEEPS_AFTER_S = 0.005


def _compiler_locks() -> list[Any]:
    """Locks of Numba and of LLVM, whose methods are C functions; that of LLVM is also taken when code is released.

    They are private parts of both. Of a version without one, forks do not wait for what the lock protects.
    """
    found = getattr(global_compiler_lock, "_lock", None), getattr(getattr(ffi.lib, "_lock", None), "_lock", None)
    return [lock for lock in found if hasattr(lock, "acquire")]


_LOCKS = _compiler_locks()


# One entry for each active kernel, the number of its thread, and one for each pending fork. A lock would cost as much
# as a small kernel. None is needed: a kernel adds its entry before it reads the forks, and a fork adds its entry before
# it reads the kernels, so that one always sees the other.
active_kernels: list[int] = []
pending_forks: list[None] = []


def wait_for_forks(own: int) -> None:
    """Before a kernel, with its entry added: let pending forks go first, unless they wait for this thread.

    They may also wait for a kernel that waits for this one in another thread, so the wait is limited. The entry is
    there when this returns or raises.
    """
    end = time.monotonic() + _PATIENCE_S
    while pending_forks and time.monotonic() < end:
        if active_kernels.count(own) > 1 or global_compiler_lock.is_locked():
            break
        try:
            active_kernels.remove(own)
            time.sleep(_POLL_S)
        finally:
            active_kernels.append(own)


def _wait_until_quiet() -> None:
    """Before a fork: wait for kernels and compilations of other threads, and until Embree's threads sleep.

    Python reports and ignores an exception in a hook and forks all the same, so one of a signal handler is raised after
    the wait. Kernels of this thread, which a signal handler that forks has interrupted, are not waited for.
    """
    own, raised, quiet = get_ident(), None, False
    while not quiet:
        try:
            while active_kernels.count(own) < len(active_kernels):
                time.sleep(_POLL_S)
            time.sleep(_EMBREE_SLEEPS_AFTER_S)
            with _LOCKS[0] if _LOCKS else nullcontext():
                quiet = active_kernels.count(own) == len(active_kernels)
        except BaseException as error:
            raised = error
    if raised is not None:
        raise raised


# The other hooks are C functions: a signal handler that raises ends a Python function at its first instruction, and if
# a hook were skipped after a fork all kernels would wait. Those before a fork are called in reverse order.
if hasattr(os, "register_at_fork"):
    for _lock in reversed(_LOCKS):
        os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)
    os.register_at_fork(before=_wait_until_quiet, after_in_child=active_kernels.clear)
    _add = partial(pending_forks.append, None)
    os.register_at_fork(before=_add, after_in_parent=pending_forks.pop, after_in_child=pending_forks.clear)

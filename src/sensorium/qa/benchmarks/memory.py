"""Memory of this process, and its growth."""

import ctypes
import gc
import resource
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from sensorium.tracing.embree import library

_STATM = Path("/proc/self/statm")

_MONITOR = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_bool)


def resident_mb() -> float:
    """Resident memory of this process after garbage collection [MB], as reported by Linux."""
    gc.collect()
    return int(_STATM.read_text().split()[1]) * resource.getpagesize() / 1e6


def growth(series: Sequence[float]) -> float:
    """Growth of a series, as a share: median of its last fifth over that of its second; the first one settles."""
    fifth = max(1, len(series) // 5)
    return median(series[-fifth:]) / median(series[fifth : 2 * fifth]) - 1.0


@contextmanager
def embree_held() -> Iterator[Callable[[], int]]:
    """Context manager; gives a function that returns the bytes that Embree has allocated and not freed since.

    Embree reports every allocation and release, so that a scene that was not released shows, with its few thousand
    bytes. One kind it frees without a report: the list of an instance array's meshes, 8 bytes each.
    """
    held = 0

    def note(_: object, size: int, __: bool) -> bool:
        nonlocal held
        held += size
        return True

    embree, monitor = library.load(), _MONITOR(note)
    tell = embree.api.rtcSetDeviceMemoryMonitorFunction
    tell.restype, tell.argtypes = None, [ctypes.c_void_p, _MONITOR, ctypes.c_void_p]
    tell(embree.device, monitor, None)
    try:
        yield lambda: held
    finally:
        tell(embree.device, _MONITOR(), None)

"""Finds Embree 4, loads it once per process, and opens its one shared device.

Search order: the file named by SENSORIUM_EMBREE_LIBRARY, a system library, the library in the `embreex` wheel. Set-up
calls go through ctypes; kernels reach the same library by symbol name, which keeps compiled kernels valid in the
on-disk cache.
"""

import ctypes
import ctypes.util
import functools
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from sensorium.core.errors import BackendError
from sensorium.runtime import worker_pool

LIBRARY_VARIABLE = "SENSORIUM_EMBREE_LIBRARY"
CONFIG_VARIABLE = "SENSORIUM_EMBREE_CONFIG"

# instance arrays as used here came with this version
_MINIMUM_VERSION = 40400

# rtcore_device.h: RTCDeviceProperty
_PROPERTY_VERSION = 0
_PROPERTY_NATIVE_WIDTH = {4: 32, 8: 33, 16: 34}
_PROPERTY_RAY_MASK = 64

_ERROR_NAMES = {
    1: "unknown error",
    2: "invalid argument",
    3: "invalid operation",
    4: "out of memory",
    5: "unsupported CPU",
    6: "canceled",
}

_P, _I, _U, _Z = ctypes.c_void_p, ctypes.c_int, ctypes.c_uint, ctypes.c_size_t

# name -> (result, arguments); only what the library uses
_PROTOTYPES = {
    "rtcNewDevice": (_P, [ctypes.c_char_p]),
    "rtcReleaseDevice": (None, [_P]),
    "rtcGetDeviceError": (_I, [_P]),
    "rtcGetDeviceProperty": (ctypes.c_ssize_t, [_P, _I]),
    "rtcNewScene": (_P, [_P]),
    "rtcReleaseScene": (None, [_P]),
    "rtcSetSceneFlags": (None, [_P, _I]),
    "rtcSetSceneBuildQuality": (None, [_P, _I]),
    "rtcCommitScene": (None, [_P]),
    "rtcJoinCommitScene": (None, [_P]),
    "rtcNewGeometry": (_P, [_P, _I]),
    "rtcReleaseGeometry": (None, [_P]),
    "rtcCommitGeometry": (None, [_P]),
    "rtcAttachGeometryByID": (None, [_P, _P, _U]),
    "rtcSetGeometryMask": (None, [_P, _U]),
    "rtcSetGeometryUserData": (None, [_P, _P]),
    "rtcSetGeometryIntersectFilterFunction": (None, [_P, _P]),
    "rtcSetGeometryOccludedFilterFunction": (None, [_P, _P]),
    "rtcSetGeometryTimeStepCount": (None, [_P, _U]),
    "rtcSetGeometryInstancedScenes": (None, [_P, _P, _Z]),
    "rtcSetSharedGeometryBuffer": (None, [_P, _I, _U, _I, _P, _Z, _Z, _Z]),
}


class Embree(NamedTuple):
    """The loaded library, its device handle and the machine's best packet width."""

    api: ctypes.CDLL
    device: int
    packet_width: int
    path: str
    version: int
    max_build_threads: int
    """Number of threads that may build a scene together."""

    def check(self, doing: str) -> None:
        """Raise the error that Embree recorded since the last check, if any."""
        code = self.api.rtcGetDeviceError(self.device)
        if code:
            raise BackendError(f"Embree reports {_ERROR_NAMES.get(code, code)!r} while {doing}")

    def commit_on_all_threads(self, scene: int) -> None:
        """Build a scene on all threads, which pays for large meshes; `rtcCommitScene` does so on the calling one."""
        worker_pool.run(self._join, min(worker_pool.get_threads(), self.max_build_threads), scene, serial_below=2)

    def _join(self, first: int, step: int, count: int, scene: int) -> None:
        """Take part in building a scene, as one share of a kernel."""
        self.api.rtcJoinCommitScene(scene)


@functools.cache
def load() -> Embree:
    """Load the library and open the device; later calls return the same object."""
    tried: list[str] = []
    for path in _candidates():
        try:
            api = ctypes.CDLL(path)
            _declare(api)
        except (OSError, AttributeError) as error:
            tried.append(f"{path}: {error}")
            continue
        device, max_build_threads = _new_device(api)
        version = api.rtcGetDeviceProperty(device, _PROPERTY_VERSION) if device else 0
        if version < _MINIMUM_VERSION:
            tried.append(f"{path}: version {version}, at least {_MINIMUM_VERSION} is needed")
            continue
        if not api.rtcGetDeviceProperty(device, _PROPERTY_RAY_MASK):
            tried.append(f"{path}: built without ray masks")
            continue
        _open_to_kernels(path)
        return Embree(api, device, _native_width(api, device), path, version, max_build_threads)
    reasons = "; ".join(tried) or "no candidate found"
    raise BackendError(
        f"no usable Embree 4 library ({reasons}); install embreex>=4.4 (Linux x86-64, macOS arm64, Windows x86-64) "
        f"or name a library in {LIBRARY_VARIABLE}"
    )


def _new_device(api: ctypes.CDLL) -> tuple[int, int]:
    """A device that never starts a thread, and the number of our threads that may build a scene together.

    Every build wakes Embree's own threads, and its thread library keeps them spinning forever once a device with
    several threads is released (oneTBB issue 1417): each process with a large mesh would keep a core busy. So the
    device has one thread, and our threads join the build of a large mesh. A new device allows as many of them as the
    largest existing device has threads: hence the other device, which is released before anything is built.
    """
    max_build_threads = worker_pool.cores()
    other = api.rtcNewDevice(f"threads={max_build_threads}".encode())
    options = os.environ.get(CONFIG_VARIABLE, "")
    device = api.rtcNewDevice(f"threads=1,user_threads={max_build_threads},{options}".encode())
    if other:
        api.rtcReleaseDevice(other)
    return device, max_build_threads


def _candidates() -> Iterator[str]:
    """Candidate locations of Embree, best first."""
    given = os.environ.get(LIBRARY_VARIABLE)
    if given:
        yield given
        return
    system = ctypes.util.find_library("embree4")
    if system:
        yield system
    yield from _inside_embreex()


def _inside_embreex() -> Iterator[str]:
    """The library inside the embreex wheel; importing embreex first loads the thread library it needs."""
    try:
        import embreex
        import embreex.rtcore_scene
    except ImportError:
        return
    package = Path(embreex.__file__).parent
    patterns = {
        "linux": (package.parent / "embreex.libs", "libembree4*.so*"),
        "darwin": (package / ".dylibs", "libembree4*.dylib"),
        "win32": (package.parent / "embreex.libs", "embree4*.dll"),
    }
    if sys.platform in patterns:
        folder, pattern = patterns[sys.platform]
        yield from (str(path) for path in sorted(folder.glob(pattern)))


def _declare(api: ctypes.CDLL) -> None:
    """Give every function its types: an undeclared handle would be cut to 32 bits."""
    for name, (result, arguments) in _PROTOTYPES.items():
        function = getattr(api, name)
        function.restype = result
        function.argtypes = arguments


def _open_to_kernels(path: str) -> None:
    """Make the library's symbols resolvable by name from compiled kernels."""
    import llvmlite.binding

    llvmlite.binding.load_library_permanently(path)


def _native_width(api: ctypes.CDLL, device: int) -> int:
    """The widest packet the device traces natively; wider ones fall back to single rays."""
    native = [w for w, code in _PROPERTY_NATIVE_WIDTH.items() if api.rtcGetDeviceProperty(device, code)]
    return max(native, default=4)

"""Packets of one sweep or sample, ready to leave, and what they are made of: returns in the units of bytes."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.sensors.lidar.lidar import Lidar
from sensorium.sensors.lidar.scan import Scan


class PacketBatch(NamedTuple):
    """Packets of one kind.

    Attributes:
        channel: Which port they go to: "lidar", "imu" or "position".
        payload: Bytes, shape (n, bytes).
        fired_ns: True time at which each is complete: that of its last ray, or of its sample [ns], shape (n,).
    """

    channel: str
    payload: NDArray[np.uint8]
    fired_ns: NDArray[np.int64]


class Returns(NamedTuple):
    """Returns of a sweep, strongest first unless stated otherwise; 0 where there is none.

    Attributes:
        range_m: Shape (returns, channels, columns).
        reflectivity: Bytes: reflectance in per cent up to 100, retroreflectors above, of the same shape.
        intensity: As the scan has it, of the same shape.
    """

    range_m: NDArray[np.float32]
    reflectivity: NDArray[np.uint8]
    intensity: NDArray[np.float32]


def returns_of(scan: Scan, spec: Lidar) -> Returns:
    """The returns of a scan of one sensor in one world, in the order of the scan."""
    rays = scan.offset_ns.shape
    range_m = scan.range_m.reshape(-1, *rays)
    intensity = scan.intensity.reshape(-1, *rays)
    return Returns(range_m, _reflectivity(intensity, spec), intensity)


def by_strength(given: Returns) -> Returns:
    """The two strongest returns of each ray, strongest first; a return that is listed twice counts once."""
    if len(given.range_m) == 1:
        return given
    strength = np.where(given.range_m > 0.0, given.intensity.astype(np.float64), -1.0)
    for later in range(1, len(strength)):
        for earlier in range(later):
            strength[later][given.range_m[later] == given.range_m[earlier]] = -1.0
    order = np.argsort(-strength, axis=0, kind="stable")[:2]
    found = np.take_along_axis(strength, order, axis=0) >= 0.0
    picked = (np.take_along_axis(array, order, axis=0) for array in given)
    return Returns(*(np.where(found, array, array.dtype.type(0)) for array in picked))


def last_and_strongest(given: Returns) -> Returns:
    """Last and strongest return of each ray, in this order; where they are one, the strongest of the others is second.

    A ray with one return has it twice, as Velodyne's manuals describe dual mode.
    """
    strong = by_strength(given)
    if len(strong.range_m) == 1:
        raise SpecError("returns is a single one; dual packets need returns 'dual' or 'all'")
    last_at = given.range_m.argmax(axis=0)[None]
    last = Returns(*(np.take_along_axis(array, last_at, axis=0)[0] for array in given))
    same = (last.range_m == strong.range_m[0]) & (strong.range_m[1] > 0.0)
    second: Any = (np.where(same, array[1], array[0]) for array in strong)
    return Returns._make(np.stack([one, other]) for one, other in zip(tuple[Any, ...](last), second, strict=True))


def _reflectivity(intensity: NDArray[np.float32], spec: Lidar) -> NDArray[np.uint8]:
    """Reflectivity as a byte.

    A lidar that reports calibrated reflectivity in 8 bits has it already. Other scales are brought to 8 bits: of 16
    bits the upper eight; raw intensities of mode "relative", f cos(theta) in 1/sr, are pi times less than the
    reflectance of a diffuse surface; a geometric lidar reports 100 for every return.
    """
    scale = spec.intensity
    if spec.mode == "geometric":
        return np.where(intensity > 0.0, np.uint8(100), np.uint8(0))
    if scale.kind == "raw":
        if spec.mode != "relative":
            raise SpecError(
                f"intensity.kind is 'raw' with mode {spec.mode!r}; packets need bytes, as of kind 'reflectivity'"
            )
        return np.clip(np.rint(intensity * np.float32(100.0 * math.pi)), 0, 255).astype(np.uint8)
    return (intensity.astype(np.uint16) >> 8).astype(np.uint8) if scale.bits == 16 else intensity.astype(np.uint8)


def counts_of(range_m: NDArray[np.float32], unit_m: float, offset_m: float, bits: int) -> NDArray[np.uint32]:
    """Ranges in counts; 0 without a return, and for a range that the bits do not hold.

    Args:
        range_m: Ranges from the beam's start, 0 without a return.
        unit_m: Range of one count [m].
        offset_m: Distance from the origin that the device counts from to the beam's start [m].
        bits: Bits of a count.
    """
    counts = range_m * np.float32(1.0 / unit_m)
    counts += np.float32(offset_m / unit_m)
    np.rint(counts, out=counts)
    counts[(range_m <= 0.0) | (counts >= np.float32(1 << bits))] = 0.0
    return counts.astype(np.uint32)


def check_lidar(spec: Lidar, name: str) -> None:
    """Refuse a lidar whose sweeps have no firing times of their own."""
    if spec.motion == "snapshot":
        raise SpecError(f"lidar {name!r} has motion 'snapshot'; packets leave at firing times, which 'rolling' has")
    if spec.publish == "slices":
        raise SpecError(f"lidar {name!r} has publish 'slices'; packets are made of whole sweeps, publish 'sweeps'")


def rows_of(packets: NDArray[np.void]) -> NDArray[np.uint8]:
    """Packets as rows of bytes, shape (n, bytes), sharing their memory."""
    return packets.view(np.uint8).reshape(len(packets), packets.dtype.itemsize)

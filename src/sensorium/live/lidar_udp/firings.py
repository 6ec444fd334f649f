"""Firings of spinning heads whose packets do not end with a sweep: what is left of one sweep begins the next packet."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.live.lidar_udp.leftover import Leftover
from sensorium.live.lidar_udp.packets import Returns, counts_of, last_and_strongest, returns_of
from sensorium.patterns.spinning import Spinning
from sensorium.sensors.lidar.lidar import Lidar
from sensorium.sensors.lidar.scan import Scan


class Firings(NamedTuple):
    """f firings of c channels and r returns each.

    Attributes:
        clockwise_deg: Azimuth of the head, clockwise from the sensor's x axis [deg], shape (f,).
        time_ns: Time of the firing by the sensor's own clock [ns], shape (f,).
        fired_ns: True time of its last ray [ns], shape (f,).
        distance: Counts of range, 0 without a return, shape (f, c, r).
        reflectivity: Shape (f, c, r).
    """

    clockwise_deg: NDArray[np.float64]
    time_ns: NDArray[np.int64]
    fired_ns: NDArray[np.int64]
    distance: NDArray[np.uint16]
    reflectivity: NDArray[np.uint8]


class FiringQueue:
    """Firings of one lidar, as many at a time as whole packets need."""

    def __init__(self, spec: Lidar, *, per_packet: int, range_unit_m: float, dual: bool, name: str) -> None:
        """Make one.

        Args:
            spec: The lidar.
            per_packet: Firings of a packet.
            range_unit_m: Range of one count [m].
            dual: Whether packets have the last and the strongest return.
            name: Name of the lidar, for errors.
        """
        self._spec, self._unit_m, self._dual = spec, range_unit_m, dual
        self._pattern = spinning_of(spec, name)
        columns = self._pattern.columns
        self._clockwise_deg = np.arange(columns, dtype=np.float64) * (360.0 / columns) - (
            self._pattern.start_azimuth_deg or 0.0
        )
        self._leftover = Leftover[Firings](per_packet)

    def add(self, scan: Scan) -> Firings:
        """The firings of all packets that are complete with this sweep, in the order of time."""
        return self._leftover.whole(self._firings(scan), scan)

    def _firings(self, scan: Scan) -> Firings:
        returns = returns_of(scan, self._spec)
        returns = last_and_strongest(returns) if self._dual else Returns._make(array[:1] for array in returns)
        own_ns = scan.ray_time_ns.reshape(-1, *scan.offset_ns.shape)[0]
        return Firings(
            self._clockwise_deg,
            own_ns.min(axis=0),
            scan.start_ns + scan.offset_ns.max(axis=0),
            counts_of(returns.range_m, self._unit_m, 0.0, 16).astype(np.uint16).transpose(2, 1, 0),
            returns.reflectivity.transpose(2, 1, 0),
        )


def spinning_of(spec: Lidar, name: str) -> Spinning:
    """The pattern of a head that turns clockwise through full turns; refuses others."""
    pattern = spec.pattern
    if not isinstance(pattern, Spinning) or pattern.azimuth_min_deg is not None:
        raise SpecError(f"lidar {name!r} has no full turns; packets of spinning heads need pattern 'spinning'")
    if pattern.direction != "clockwise":
        raise SpecError(f"lidar {name!r} turns {pattern.direction}; this maker's packets need clockwise")
    return pattern


def is_dual(spec: Lidar) -> bool:
    """Whether the lidar reports several returns of a ray."""
    return spec.mode != "geometric" and spec.returns in ("dual", "all")

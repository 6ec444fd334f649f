"""Scans of a spinning lidar as plain arrays: a column is one firing of all channels, in the order of time."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError

FULL_TURN = 2.0 * np.pi


class LidarRecording(NamedTuple):
    """Columns of a spinning lidar: n columns, c channels, r returns.

    Azimuths count in the direction of rotation, as encoders do; `directions_S` turns them into the library's.

    Attributes:
        device: Model, as "VLP-16".
        source: Name of the file.
        is_clockwise: Whether the head turns clockwise, seen from above.
        time_ns: Time of each column by the device's clock [ns], shape (n,).
        is_stamped: Whether the device itself wrote the column's time, shape (n,); others are interpolated.
        azimuth: Encoder's azimuth of each column [rad], 0 to 2 pi, shape (n,).
        turn: Number of the turn of each column, from 0, shape (n,).
        range_m: Range [m], 0 without a return, shape (n, c, r).
        reflectivity: Reflectivity as the device reports it, shape (n, c, r).
        signal: Photons or counts of the return, shape (n, c, r); None if the device does not report them.
        background: Counts of ambient light, shape (n, c); None if the device does not report them.
        returns: Name of each return: "strongest", "last", "first", "second".
        range_unit_m: Range of one count of the packets [m].
        elevation: Elevation of each channel [rad], shape (c,); None where no calibration is known.
        azimuth_offset: Azimuth of each channel from the encoder's [rad], in the direction of rotation, shape (c,).
        channel_time_s: Time of each channel from its column's [s], shape (c,).
        columns_per_turn: Columns of a full turn where columns are fixed in azimuth (Ouster); else 0.
        remarks: Sentences on what was left out of the recording.
    """

    device: str
    source: str
    is_clockwise: bool
    time_ns: NDArray[np.int64]
    is_stamped: NDArray[np.bool_]
    azimuth: NDArray[np.float64]
    turn: NDArray[np.int32]
    range_m: NDArray[np.float32]
    reflectivity: NDArray[np.uint8]
    signal: NDArray[np.uint16] | None
    background: NDArray[np.uint16] | None
    returns: tuple[str, ...]
    range_unit_m: float
    elevation: NDArray[np.float64] | None
    azimuth_offset: NDArray[np.float64]
    channel_time_s: NDArray[np.float64]
    columns_per_turn: int = 0
    remarks: tuple[str, ...] = ()

    @property
    def channels(self) -> int:
        """Number of channels."""
        return self.range_m.shape[1]

    @property
    def primary(self) -> int:
        """The return that a single-return device would report: the strongest, else the first in the packet."""
        return self.returns.index("strongest") if "strongest" in self.returns else 0

    def rotation_rate(self) -> float:
        """Rate of rotation, the median over columns [rad/s]."""
        return median_rate(self.time_ns, self.azimuth)

    def ray_azimuth(self) -> NDArray[np.float64]:
        """Azimuth of each ray [rad], in the direction of rotation and not wrapped, shape (n, c)."""
        lag = self.azimuth_offset + self.rotation_rate() * self.channel_time_s
        return self.azimuth[:, None] + lag

    def directions_S(self) -> NDArray[np.float64]:
        """Unit vectors of the rays: x forward at azimuth 0, y left, z up, shape (n, c, 3)."""
        if self.elevation is None:
            raise SpecError(f"{self.source!r} has no calibration of {self.device}; give one to know where beams point")
        azimuth = self.ray_azimuth() * (-1.0 if self.is_clockwise else 1.0)
        level = np.cos(self.elevation)
        up = np.broadcast_to(np.sin(self.elevation), azimuth.shape)
        return np.stack([level * np.cos(azimuth), level * np.sin(azimuth), up], axis=-1)

    def points_S(self, return_index: int = 0) -> NDArray[np.float64]:
        """Points [m] of one return, shape (n, c, 3); rays without a return are at the origin."""
        return self.directions_S() * self.range_m[:, :, return_index, None].astype(np.float64)

    def of_turns(self, first: int, end: int) -> "LidarRecording":
        """The turns from `first` to before `end`, counted again from 0."""
        return self.of_columns((self.turn >= first) & (self.turn < end))._renumbered()

    def of_columns(self, chosen: NDArray[np.bool_]) -> "LidarRecording":
        """Some of the columns, chosen by a mask of shape (n,)."""
        return self._replace(
            time_ns=self.time_ns[chosen],
            is_stamped=self.is_stamped[chosen],
            azimuth=self.azimuth[chosen],
            turn=self.turn[chosen],
            range_m=self.range_m[chosen],
            reflectivity=self.reflectivity[chosen],
            signal=None if self.signal is None else self.signal[chosen],
            background=None if self.background is None else self.background[chosen],
        )

    def _renumbered(self) -> "LidarRecording":
        return self._replace(turn=self.turn - self.turn[0]) if len(self.turn) else self


def turn_numbers(azimuth: NDArray[np.float64]) -> NDArray[np.int32]:
    """Number of the turn of each column: it grows where the azimuth falls by more than half a turn.

    Args:
        azimuth: Azimuths in the order of time [rad], shape (n,).
    """
    begins = np.diff(azimuth, prepend=azimuth[:1]) < -0.5 * FULL_TURN
    return np.cumsum(begins, dtype=np.int32)


def median_rate(time_ns: NDArray[np.int64], azimuth: NDArray[np.float64]) -> float:
    """Rate of rotation, the median over pairs of columns a few columns apart [rad/s]; 0 where there is none.

    Args:
        time_ns: Times of the columns [ns], shape (n,).
        azimuth: Azimuths of the columns [rad], shape (n,).
    """
    apart = min(64, len(time_ns) - 1)
    if apart < 1:
        return 0.0
    elapsed_s = 1e-9 * (time_ns[apart:] - time_ns[:-apart])
    turned = np.mod(azimuth[apart:] - azimuth[:-apart], FULL_TURN)
    good = elapsed_s > 0.0
    return float(np.median(turned[good] / elapsed_s[good])) if good.any() else 0.0

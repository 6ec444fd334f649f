"""What a cone sensor measures: channels that errors act on, and what two readings in a row tell of speed."""

import numpy as np
from numpy.typing import NDArray

from sensorium.cone.angles import point_at
from sensorium.rotations import Float, dot
from sensorium.sensors.cone_caster import ConeCaster
from sensorium.sensors.cone_sighting import Sighting
from sensorium.sensors.rig import Rig

# Channels: what the chain acts on, the point that follows from the first three, and what follows from points in a row
RANGE, AZIMUTH, ELEVATION, RANGE_RATE, POINT, SPEED, DIFFERENCED_RATE = 0, 1, 2, 3, slice(4, 7), 7, 8
COLUMNS = 9


class ConeSignal:
    """The ideal channels; where nothing is in sight the chain gets the sensor's reach and zeros to work on."""

    columns = COLUMNS

    def __init__(self, rig: Rig, caster: ConeCaster, reach_m: float, period_s: float | None) -> None:
        """Measure where the rig says.

        Args:
            rig: Where the sensors sit.
            caster: Finds what is in sight.
            reach_m: Length of the cone [m].
            period_s: Time that speeds are divided by [s]; None takes that between the samples.
        """
        self._rig, self._caster, self._reach_m = rig, caster, reach_m
        self._differences = Differences(rig.worlds * rig.sensors, period_s)
        self.nearest: Sighting | None = None
        """The nearest of each row at the last sample."""

    def begin(self, time_ns: int) -> None:
        """Measuring starts now: there is no reading before."""
        self._differences.forget(np.ones(self._rig.worlds * self._rig.sensors, np.bool_))

    def forget(self) -> None:
        """Worlds that were reset just now have no reading before."""
        history = self._rig.history
        self._differences.forget(np.repeat(history.valid_from_ns == history.newest.time_ns, self._rig.sensors))

    def sample(self, time_ns: int, out: Float) -> tuple[Sighting, Sighting]:
        """The ideal sample at a time, shape (rows, COLUMNS), into out; gives all that is in sight, and the nearest."""
        found = self._caster.at(time_ns)
        self.nearest = nearest = found.nearest()
        seen = nearest.in_sight[:, 0]
        out[:, RANGE] = np.where(seen, nearest.range_m[:, 0], self._reach_m)
        out[:, AZIMUTH], out[:, ELEVATION] = nearest.azimuth[:, 0], nearest.elevation[:, 0]
        out[:, RANGE_RATE] = nearest.range_rate[:, 0]
        out[:, POINT] = nearest.point[:, 0]
        self._differences.write(time_ns, nearest.object_id[:, 0], out)
        return found, nearest


class ConeReadout:
    """Makes points, and speeds, of channels that errors have changed."""

    def __init__(self, signal: ConeSignal, rows: int, period_s: float | None) -> None:
        self._signal, self._differences = signal, Differences(rows, period_s)

    def read(self, time_ns: int, x: Float, ideal: Float) -> None:
        """Work on the sample in place."""
        nearest = self._signal.nearest
        assert nearest is not None

        # Where no error was added the point stays as it is, to the last bit
        was = np.stack([x[:, RANGE], nearest.azimuth[:, 0], nearest.elevation[:, 0]], axis=1)
        seen = nearest.in_sight[:, 0]
        was[seen, 0] = nearest.range_m[seen, 0]
        moved = np.flatnonzero(seen & (x[:, :3] != was).any(axis=1))
        if moved.size:
            x[moved, POINT] = point_at(x[moved, RANGE], x[moved, AZIMUTH], x[moved, ELEVATION])
        self._differences.write(time_ns, nearest.object_id[:, 0], x)

    def restart(self, rows: NDArray[np.bool_]) -> None:
        """The masked rows have no reading before."""
        self._differences.forget(rows)


class Differences:
    """Speeds from two readings in a row of the same object; NaN where there are none.

    Eq. 3.9, |q_k - q_(k-1)| / dt in the sensor's frame, tells no direction (E-27); (|q_k| - |q_(k-1)|) / dt does. When
    another object becomes the nearest, both start again, instead of the "strange value in between objects" of the
    thesis.
    """

    def __init__(self, rows: int, period_s: float | None) -> None:
        self._period_s = period_s
        self._time_ns = 0
        self._object_id = np.full(rows, -1, np.int32)
        self._point, self._range_m = np.zeros((rows, 3)), np.zeros(rows)

    def forget(self, rows: NDArray[np.bool_]) -> None:
        """There is no reading before in the masked rows."""
        self._object_id[rows] = -1

    def write(self, time_ns: int, object_id: NDArray[np.int32], x: Float) -> None:
        """Fill the channels of speed from those of range and point, and remember these."""
        x[:, SPEED] = x[:, DIFFERENCED_RATE] = np.nan
        same = np.flatnonzero((object_id >= 0) & (object_id == self._object_id))
        if same.size:
            interval_s = (time_ns - self._time_ns) * 1e-9 if self._period_s is None else self._period_s
            way = x[same, POINT] - self._point[same]
            x[same, SPEED] = np.sqrt(dot(way, way)) / interval_s
            x[same, DIFFERENCED_RATE] = (x[same, RANGE] - self._range_m[same]) / interval_s
        self._time_ns = time_ns
        self._object_id[:] = object_id
        self._point[:], self._range_m[:] = x[:, POINT], x[:, RANGE]

"""The ideal joint signal of an accelerometer, a gyroscope and a magnetometer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.core.rotations import multiply, quaternion_log
from sensorium.physics.fields import UniformMagnetic
from sensorium.runtime import worker_pool
from sensorium.sensors.common.point_track import PointTrack
from sensorium.sensors.common.rig import Rig
from sensorium.sensors.inertial.reading import INTEGRALS, RATES
from sensorium.sensors.inertial.specific_force import COLUMNS, FIELD, FORCE, G_SENSITIVITY, RATE, instant_force, sense
from sensorium.sensors.inertial.triaxial import AngularGroup, LinearGroup, Triaxial
from sensorium.worlds.history import Bracket

Float = NDArray[np.float64]

# Fewer rows than this are not worth a second thread
_SERIAL_ROWS = 8192

_CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])

_KIND = {"acceleration": FORCE, "angular_velocity": RATE, "magnetic_field": FIELD}


@dataclass
class _Place:
    """Groups at one point of the housing, which share its motion.

    Attributes:
        track: The point's way.
        columns: Channels that they fill, as passed to `sense`.
        asks_field: Whether the magnetic field varies in space and must be evaluated.
        asks_engine: Whether the world's own acceleration is.
        settings: Arguments of `sense` that are the same at every sample.
    """

    track: PointTrack
    columns: NDArray[np.int64]
    asks_field: bool = False
    asks_engine: bool = False
    settings: tuple[Any, ...] = ()


class InertialSignal:
    """Three groups side by side, of three channels each, followed by the force for a gyroscope's g-sensitivity."""

    def __init__(
        self,
        rig: Rig,
        outputs: Sequence[str],
        *,
        linear: LinearGroup | None,
        angular: AngularGroup | None,
        magnetic: Triaxial | None,
    ) -> None:
        """Assign the channels.

        Args:
            rig: Mount of the sensor.
            outputs: Quantities that are read out.
            linear: The accelerometer, if there is one.
            angular: The gyroscope.
            magnetic: The magnetometer.
        """
        if magnetic is not None and rig.magnetic is None:
            raise SpecError(f"sensor {rig.name!r} measures magnetism; the environment must have a magnetic field")
        self._rig, self._history, self._worlds, self._rows = rig, rig.history, rig.worlds, rig.worlds * rig.sensors
        self._serial = -(-_SERIAL_ROWS // rig.sensors)  # worlds
        self._linear = linear
        found = zip(RATES, (linear, angular, magnetic), strict=True)
        self.groups: dict[str, Triaxial] = {name: group for name, group in found if group is not None}

        # Channels
        self.columns_of = {name: 3 * i for i, name in enumerate(self.groups)}
        self.columns = 3 * len(self.groups)
        self.g_sensitivity_column: int | None = None
        if angular is not None and np.any(angular.g_sensitivity):
            self.g_sensitivity_column, self.columns = self.columns, self.columns + 3

        # A group that reads out increments reads its rate as their mean, so that the chain acts on both
        self._averages = {INTEGRALS[name] for name in outputs if name in INTEGRALS}
        self._integrates = bool(self._averages)

        # Places, each with the channels it fills
        places: dict[tuple[float, ...], _Place] = {}
        self._turning: PointTrack | None = None
        for name, group in self.groups.items():
            at = (*group.position, *group.quaternion)
            if at not in places:
                places[at] = _Place(PointTrack(rig, group.pose), np.full(COLUMNS, -1, np.int64))
            places[at].columns[_KIND[name]] = self.columns_of[name]
            if name == "angular_velocity" and self.g_sensitivity_column is not None:
                places[at].columns[G_SENSITIVITY] = self.g_sensitivity_column
            if name == "angular_velocity" and name in self._averages:
                self._turning = places[at].track
            if name == "magnetic_field":
                places[at].asks_field = not isinstance(rig.magnetic, UniformMagnetic)
            if name == "acceleration" and name not in self._averages:
                places[at].asks_engine = linear is not None and linear.source == "engine"
        self._places = tuple(places.values())
        self._sign = -1.0 if linear is None else float(linear.gravity_sign)

        # State between samples, and constants
        self._before_ns = 0
        self._began = np.zeros((self._rows, 4))
        self._velocity = np.zeros((self._rows, 3))
        self._field = np.zeros((self._rows, 3))
        if magnetic is not None and isinstance(rig.magnetic, UniformMagnetic):
            self._field[...] = rig.magnetic.at(np.zeros(3))
        for place in self._places:
            track, given = place.track, (place.columns, self._sign)
            place.settings = (*track.mounts, *given, track.gravity, self._field, self._velocity, self._integrates)

    @property
    def looks_back(self) -> bool:
        """Whether a sample depends on the motion since the one before."""
        return self._linear is not None or self.g_sensitivity_column is not None or self._integrates

    def begin(self, time_ns: int) -> None:
        """Measuring starts now."""
        self._before_ns = time_ns
        self.forget()

    def forget(self) -> None:
        """Discard all remembered motion."""
        for place in self._places:
            place.track.forget()

    def sample(self, time_ns: int, out: Float) -> None:
        """The ideal sample at a time, shape (rows, columns), into out."""
        # Rates need only the last step of the world, increments every piece of path between its states
        start_ns, history = self._before_ns, self._history
        if self._integrates:
            self._integrate(start_ns, (*history.state_times_ns(start_ns, time_ns), time_ns), out)
        else:
            start_ns, around = history.last_piece(start_ns, time_ns)
            self._go(start_ns, time_ns, around, out)
        self._before_ns = time_ns

    def _integrate(self, start_ns: int, ends_ns: Sequence[int], out: Float) -> None:
        """Rates over all pieces of a path: means where increments are read out, else those at its end."""
        inverse = 1e9 / (ends_ns[-1] - start_ns)
        self._velocity[...] = 0.0
        turning = self._turning
        for end_ns in ends_ns:
            self._go(start_ns, end_ns, self._history.bracket(end_ns), out)
            if turning is not None and end_ns == ends_ns[0]:
                self._began[...] = turning.start.q
            start_ns = end_ns
        if "acceleration" in self._averages:
            column = self.columns_of["acceleration"]
            out[:, column : column + 3] = self._velocity * inverse
        if turning is not None:
            column = self.columns_of["angular_velocity"]
            out[:, column : column + 3] = inverse * quaternion_log(multiply(self._began * _CONJUGATE, turning.now.q))

    def _go(self, start_ns: int, end_ns: int, around: Bracket, out: Float) -> None:
        """Follow every place over a piece of path, and read the groups at its end."""
        before, after, fraction = around
        for place in self._places:
            track = place.track
            track.go(start_ns, end_ns, around, moved=place.asks_field)
            if place.asks_field:
                assert self._rig.magnetic is not None
                self._field[...] = self._rig.magnetic.at(track.now.p)
            worker_pool.run(
                sense,
                self._worlds,
                before.numbers,
                after.numbers,
                fraction,
                track.start.numbers,
                track.now.numbers,
                (end_ns - start_ns) * 1e-9,
                out,
                *place.settings,
                serial_below=self._serial,
            )
            if place.asks_engine:
                self._ask_engine(place, out)

    def _ask_engine(self, place: "_Place", out: Float) -> None:
        """Specific force from the engine's own acceleration, in place of the change of velocity."""
        track, now = place.track, place.track.now
        assert now.time_ns is not None
        now.motion.at(now.time_ns)
        if now.a is None:
            raise SpecError(f"sensor {self._rig.name!r} has source='engine'; this world tells no accelerations")
        arguments = (int(place.columns[FORCE]), self._sign, now.q, now.a, track.gravity_now(), out)
        worker_pool.run(instant_force, self._rows, *arguments, serial_below=_SERIAL_ROWS)

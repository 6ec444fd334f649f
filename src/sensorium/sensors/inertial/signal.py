"""The ideal joint signal of an accelerometer, a gyroscope and a magnetometer."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.core.frames import Pose
from sensorium.core.rotations import multiply, quaternion_log
from sensorium.physics.fields import UniformGravity, UniformMagnetic
from sensorium.runtime import worker_pool
from sensorium.sensors.common.spec import Rig
from sensorium.sensors.inertial.reading import INTEGRALS, RATES
from sensorium.sensors.inertial.specific_force import (
    COLUMNS,
    FIELD,
    FORCE,
    G_SENSITIVITY,
    RATE,
    Sensed,
    instant_force,
    sense,
)
from sensorium.sensors.inertial.triaxial import AngularGroup, LinearGroup, Triaxial
from sensorium.worlds.history import Bracket
from sensorium.worlds.point_motion import PointMotion, PointState, gravity_on

Float = NDArray[np.float64]


class Instant:
    """The motion of a point at one time, in world axes; rows are worlds and then sensors."""

    def __init__(self, motion: PointMotion, now_ns: int) -> None:
        """Copy a motion at any time within the history."""
        self.motion = motion

        # A motion fills the same arrays at every time
        self.numbers = motion.numbers
        """All of it in one array, as `move_points` fills it."""
        self.state: PointState = motion.at(now_ns)
        """The same with axes of worlds and sensors, and None for unknown quantities."""
        self.p, self.q = self.state.position.reshape(-1, 3), self.state.quaternion.reshape(-1, 4)
        """Place p_WP [m] and q_WP, shapes (rows, 3) and (rows, 4)."""
        self.time_ns: int | None = None
        """Its time [ns], None if it is no longer to be trusted."""

    @property
    def a(self) -> Float | None:
        """Acceleration [m/s^2], shape (rows, 3); None if the world does not provide it."""
        return None if self.state.acceleration is None else self.state.acceleration.reshape(-1, 3)


class PointTrack:
    """The motion of a point at two instants: now, and at the start of a piece of path that ends now."""

    def __init__(self, rig: Rig, X_SP: Pose) -> None:
        """Follow a point.

        Args:
            rig: Mount of the sensor.
            X_SP: Where the point is in the sensor's frame.
        """
        self._rig = rig
        X_BP, known_ns = rig.X_BS @ X_SP, rig.history.newest.time_ns
        self.start, self.now = (Instant(PointMotion(rig.history, rig.body, X_BP), known_ns) for _ in range(2))
        self.mounts = self.now.motion.mounts
        """The sensors, as passed to `move_points`."""
        self.gravity = np.zeros((rig.worlds * rig.sensors, 3))
        """Gravity over the piece of path, taken midway [m/s^2], shape (rows, 3)."""
        self._gravity_of: object = None
        self._field_varies = self._varies = not isinstance(rig.gravity, UniformGravity)

    def forget(self) -> None:
        """Discard all cached motion: the world was reset."""
        self.now.time_ns = None

    def go(self, from_ns: int, to_ns: int, around: Bracket, *, moved: bool) -> None:
        """Turn to the piece of path [from, to], and to the gravity over it; `sense` moves the point to its end.

        Args:
            from_ns: Its start [ns].
            to_ns: Its end.
            around: The states around its end.
            moved: Whether the point is to be at the end when this returns, for fields that depend on the place.
        """
        # The present end is usually the start of the next piece
        before = self.now
        if before.time_ns != from_ns:
            before.motion.at(from_ns, acceleration=False)
        now = self.now = self.start
        self.start, now.time_ns = before, to_ns

        # Gravity: the world's own where it has one, else the environment's field
        own_W = gravity_on(around[0], around[1], self._rig.body)
        self._varies = own_W is None and self._field_varies
        if moved or self._varies:
            now.motion.at(to_ns, acceleration=False)
        source: object = self._rig.gravity if own_W is None else own_W
        if self._varies or source is not self._gravity_of:
            midway = 0.5 * (before.state.position + now.state.position)
            self.gravity[...] = self._rig.gravity_at(midway, own_W).reshape(-1, 3)
            self._gravity_of = source

    def gravity_now(self) -> Float:
        """Gravity at the end of the piece of path [m/s^2], shape (rows, 3)."""
        return self._rig.gravity_at(self.now.p, None) if self._varies else self.gravity


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
        sensed: The same as passed to `sense`, with the fields at the point.
    """

    track: PointTrack
    columns: NDArray[np.int64]
    asks_field: bool = False
    asks_engine: bool = False
    sensed: Sensed | None = None


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
            fields = (place.track.gravity, self._field, self._velocity)
            place.sensed = (place.columns, self._sign, *fields, self._integrates)

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
        states = (before.numbers, after.numbers, fraction)
        for place in self._places:
            track = place.track
            track.go(start_ns, end_ns, around, moved=place.asks_field)
            if place.asks_field:
                assert self._rig.magnetic is not None
                self._field[...] = self._rig.magnetic.at(track.now.p)
            worker_pool.run(
                sense,
                self._worlds,
                states,
                track.mounts,
                track.start.numbers,
                track.now.numbers,
                (end_ns - start_ns) * 1e-9,
                place.sensed,
                out,
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

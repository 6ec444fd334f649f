"""What an accelerometer, a gyroscope and a magnetometer would read together if they were ideal."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sensorium import threads
from sensorium.errors import SpecError
from sensorium.fields import UniformMagnetic
from sensorium.rotations import multiply, quaternion_log
from sensorium.sensors.inertial_reading import INTEGRALS, RATES
from sensorium.sensors.point_track import PointTrack
from sensorium.sensors.rig import Rig
from sensorium.sensors.specific_force import COLUMNS, FELT, FIELD, FORCE, RATE, ideal_sample, instant_force
from sensorium.sensors.triaxial import AngularGroup, LinearGroup, Triaxial

Float = NDArray[np.float64]

# Fewer rows than this are not worth a second thread
_SERIAL_ROWS = 8192

_CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])

_KIND = {"acceleration": FORCE, "angular_velocity": RATE, "magnetic_field": FIELD}


@dataclass
class _Place:
    """Groups at one point of the housing, which share its motion."""

    track: PointTrack
    columns: NDArray[np.int64]


class InertialSignal:
    """Three groups side by side: each has three channels, followed by what a gyroscope feels, and the integrals."""

    def __init__(
        self,
        rig: Rig,
        outputs: Sequence[str],
        *,
        linear: LinearGroup | None,
        angular: AngularGroup | None,
        magnetic: Triaxial | None,
    ) -> None:
        """Lay out the channels.

        Args:
            rig: Where the sensor sits.
            outputs: What is read out.
            linear: The accelerometer, if there is one.
            angular: The gyroscope.
            magnetic: The magnetometer.
        """
        if magnetic is not None and rig.magnetic is None:
            raise SpecError(f"sensor {rig.name!r} measures magnetism; the environment must have a magnetic field")
        self._rig, self._rows = rig, rig.worlds * rig.sensors
        self._linear = linear
        found = zip(RATES, (linear, angular, magnetic), strict=True)
        self.groups: dict[str, Triaxial] = {name: group for name, group in found if group is not None}

        # Channels
        self.columns_of = {name: 3 * i for i, name in enumerate(self.groups)}
        self.columns = 3 * len(self.groups)
        self.felt: int | None = None
        if angular is not None and np.any(angular.g_sensitivity):
            self.felt, self.columns = self.columns, self.columns + 3
        for name in INTEGRALS:
            if name in outputs:
                self.columns_of[name], self.columns = self.columns, self.columns + 3
        self._integrates = any(name in INTEGRALS for name in outputs)

        # Places, each with the channels it fills
        self._places: dict[tuple[float, ...], _Place] = {}
        for name, group in self.groups.items():
            at = (*group.position, *group.quaternion)
            if at not in self._places:
                self._places[at] = _Place(PointTrack(rig, group.pose), np.full(COLUMNS, -1, np.int64))
            self._places[at].columns[_KIND[name]] = self.columns_of[name]
            if name == "angular_velocity" and self.felt is not None:
                self._places[at].columns[FELT] = self.felt
        self._sign = -1.0 if linear is None else float(linear.gravity_sign)

        # What is remembered between samples, and what never changes
        self._before_ns = 0
        self._began = np.zeros((self._rows, 4))
        self._velocity = np.zeros((self._rows, 3))
        self._field = np.zeros((self._rows, 3))
        self._field_varies = magnetic is not None and not isinstance(rig.magnetic, UniformMagnetic)
        if magnetic is not None and rig.magnetic is not None and not self._field_varies:
            self._field[...] = rig.magnetic.at(np.zeros(3))

    @property
    def looks_back(self) -> bool:
        """Whether a sample depends on what happened since the one before."""
        return self._linear is not None or self.felt is not None or self._integrates

    def begin(self, time_ns: int) -> None:
        """Measuring starts now."""
        self._before_ns = time_ns
        self.forget()

    def forget(self) -> None:
        """Take nothing seen before for granted."""
        for place in self._places.values():
            place.track.forget()

    def sample(self, time_ns: int, out: Float) -> None:
        """The ideal sample at a time, shape (rows, columns), into out."""
        # Pieces of path between the world's states; rates need only the last one
        start_ns, inside = self._before_ns, self._rig.history.state_times_ns(self._before_ns, time_ns)
        if inside and not self._integrates:
            start_ns, inside = inside[-1], []
        self._velocity[...] = 0.0
        first = True
        for end_ns in (*inside, time_ns):
            for place in self._places.values():
                place.track.go(start_ns, end_ns)
                if first and "delta_angle" in self.columns_of and place.columns[RATE] >= 0:
                    self._began[...] = place.track.q0
                self._fill(place, (end_ns - start_ns) * 1e-9, out)
            start_ns, first = end_ns, False
        if self._integrates:
            self._integrals(out)
        self._before_ns = time_ns

    def _fill(self, place: _Place, dt_s: float, out: Float) -> None:
        """What the groups at one place read at the end of a piece of path."""
        track, force = place.track, int(place.columns[FORCE])
        if self._field_varies and place.columns[FIELD] >= 0:
            assert self._rig.magnetic is not None
            self._field[...] = self._rig.magnetic.at(track.p)
        threads.run(
            ideal_sample,
            self._rows,
            place.columns,
            dt_s,
            self._sign,
            track.q0,
            track.v0,
            track.q,
            track.v,
            track.w,
            track.gravity,
            self._field,
            out,
            self._velocity,
            self._integrates,
            serial_below=_SERIAL_ROWS,
        )
        if force >= 0 and self._linear is not None and self._linear.source == "engine":
            if track.a is None:
                raise SpecError(f"sensor {self._rig.name!r} has source='engine'; this world tells no accelerations")
            gravity, serial = track.gravity, _SERIAL_ROWS
            threads.run(
                instant_force, self._rows, force, self._sign, track.q, track.a, gravity, out, serial_below=serial
            )

    def _integrals(self, out: Float) -> None:
        """Increments since the sample before."""
        if "delta_velocity" in self.columns_of:
            column = self.columns_of["delta_velocity"]
            out[:, column : column + 3] = self._velocity
        if "delta_angle" in self.columns_of:
            column = self.columns_of["delta_angle"]
            now = next(place.track.q for place in self._places.values() if place.columns[RATE] >= 0)
            out[:, column : column + 3] = quaternion_log(multiply(self._began * _CONJUGATE, now))

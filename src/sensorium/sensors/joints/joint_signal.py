"""The ideal signal of a sensor on a joint's axis: position and velocity at an instant."""

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.runtime import jit
from sensorium.sensors.common.spec import Rig
from sensorium.worlds.paths.base import ROW

Float = NDArray[np.float64]

# Its channels
POSITION, VELOCITY = 0, 1


class JointSignal:
    """Position [rad or m], unwrapped, and velocity [rad/s or m/s] of a joint, each linear between world states."""

    columns = 2

    def __init__(self, rig: Rig) -> None:
        """Measure the joint that the rig names."""
        if rig.joint is None:
            raise SpecError(f"sensor {rig.name!r} measures a joint; attach it with joint= and the name of one")
        self._history = rig.history
        worlds, joints = rig.history.newest.joint_position.shape
        self._where = (ROW * worlds * rig.history.bodies + rig.joint, worlds, joints, rig.sensors)

    def begin(self, time_ns: int) -> None:
        """Measuring starts; an instant has no past."""

    def forget(self) -> None:
        """Some worlds were reset; an instant has no past."""

    def sample(self, time_ns: int, out: Float) -> None:
        """Position and velocity at a time, into the first two columns of out; sensors of one world read the same."""
        before, after, share = self._history.bracket(time_ns)
        read_joint(before.numbers, after.numbers, share, *self._where, out)


@jit.kernel
def read_joint(
    before: Float, after: Float, share: float, first: int, worlds: int, joints: int, sensors: int, out: Float
) -> None:
    """Position and velocity of one joint in all worlds.

    Args:
        before: `WorldState.numbers` of the state before, or at, the instant.
        after: The same of the state after it.
        share: Fraction of the way; 0 takes the state before.
        first: Where the joint's position in the first world is among the numbers.
        worlds: Number of worlds.
        joints: Joints of each.
        sensors: Sensors of each, which read the same.
        out: Receives position and velocity in its first two columns, (worlds and then sensors, 2 or more).
    """
    for channel in (POSITION, VELOCITY):
        for world in range(worlds):
            at = first + (channel * worlds + world) * joints
            value = before[at]
            if share > 0.0:
                value = value + share * (after[at] - value)
            for sensor in range(sensors):
                out[world * sensors + sensor, channel] = value


class DistanceSignal:
    """s = R u [m] and its rate [m/s], or the way sum |R du| since the sensor was switched on or its world reset."""

    columns = 2

    def __init__(self, rig: Rig, radius_m: Float, *, accumulate: bool) -> None:
        """Measure the joint that the rig names.

        Args:
            rig: Mount of the odometer.
            radius_m: Of each row's wheel [m], shape (rows,).
            accumulate: Whether turning back adds to the distance too.
        """
        self._rig, self._joint, self._radius_m, self._accumulate = rig, JointSignal(rig), radius_m, accumulate
        self._way_m, self._before_m = np.zeros(len(radius_m)), np.zeros(len(radius_m))

    def begin(self, time_ns: int) -> None:
        """The way starts now."""
        if self._accumulate:
            self._way_m[:] = 0.0
            self._before_m[:] = self._at(time_ns)[:, POSITION]

    def forget(self) -> None:
        """The way starts again in the worlds that were reset just now."""
        if self._accumulate:
            history = self._rig.history
            now_ns = history.newest.time_ns
            rows = np.repeat(history.valid_from_ns == now_ns, self._rig.sensors)
            self._way_m[rows] = 0.0
            self._before_m[rows] = self._at(now_ns)[rows, POSITION]

    def sample(self, time_ns: int, out: Float) -> None:
        """Distance and its rate at a time, into the first two columns of out."""
        out[:, : self.columns] = self._at(time_ns)
        if self._accumulate:
            self._way_m += np.abs(out[:, POSITION] - self._before_m)
            self._before_m[:] = out[:, POSITION]
            out[:, POSITION] = self._way_m
            out[:, VELOCITY] = np.abs(out[:, VELOCITY])

    def _at(self, time_ns: int) -> Float:
        """R u and R du/dt, shape (rows, 2)."""
        turned = np.empty((len(self._radius_m), self._joint.columns))
        self._joint.sample(time_ns, turned)
        turned *= self._radius_m[:, None]
        return turned

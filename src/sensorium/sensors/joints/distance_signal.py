"""The ideal odometer signal: the distance that a wheel's rim rolls."""

import numpy as np
from numpy.typing import NDArray

from sensorium.sensors.common.spec import Rig
from sensorium.sensors.joints.joint_signal import POSITION, VELOCITY, JointSignal

Float = NDArray[np.float64]


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

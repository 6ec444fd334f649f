"""What an ideal sensor on a joint's axis reads: its position and velocity at an instant."""

import numpy as np
from numpy.typing import NDArray

from sensorium.errors import SpecError
from sensorium.sensors.rig import Rig

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
        self._history, self._joint, self._sensors = rig.history, rig.joint, rig.sensors

    def begin(self, time_ns: int) -> None:
        """Measuring starts; an instant has no past."""

    def forget(self) -> None:
        """Some worlds were reset; an instant has no past."""

    def sample(self, time_ns: int, out: Float) -> None:
        """Position and velocity at a time, shape (rows, 2), into out; sensors of one world read the same."""
        before, after, share = self._history.bracket(time_ns)
        for column, name in ((POSITION, "joint_position"), (VELOCITY, "joint_velocity")):
            values = getattr(before, name)[:, self._joint]
            if share:
                values = values + share * (getattr(after, name)[:, self._joint] - values)
            out[:, column] = values if self._sensors == 1 else np.repeat(values, self._sensors)

"""Draws the mounts of sensors on their bodies, separately for each world."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.frames import Pose
from sensorium.random import draw_words, uniform_f64
from sensorium.runtime import jit
from sensorium.sensors.common.randomization import Randomization
from sensorium.sensors.common.spec import Rig
from sensorium.tracing.placement.motion import multiply, rotation

# Stage of the counter
STAGE_HEADS = np.int64(3)

# Draws for a mount: three translations and three angles
PLACES = 6


class HeadPoses(NamedTuple):
    """Poses of heads on their body, as the kernel takes them."""

    position: NDArray[np.float64]
    quaternion: NDArray[np.float64]


class RandomPlacement:
    """Poses of all heads as they were drawn last. Arrays are replaced, never changed."""

    def __init__(self, spec: Randomization, rig: Rig, key: tuple[np.uint32, np.uint32]) -> None:
        """Start without draws.

        Args:
            spec: The distributions, and the times of drawing.
            rig: Whose poses; those of its specification are the nominal ones.
            key: Of a random stream whose stage `STAGE_HEADS` has no other user.
        """
        self._spec, self._rig, self._key = spec, rig, np.array(key, np.uint32)
        self.X_BS = rig.X_BS.reshape((1, -1)).broadcast_to((rig.worlds, rig.sensors))
        """Poses on the body, batch shape (worlds, sensors)."""
        self.tick = np.zeros(rig.worlds, np.int64)
        """Number of the draw in each world: of its start or reset, or of its reading."""
        self._stale = np.ones(rig.worlds, np.bool_)
        self._episode = np.zeros(rig.worlds, np.int64)

    def restart(self, mask: NDArray[np.bool_]) -> None:
        """Some worlds were reset: redraw before their next reading."""
        self._episode += mask
        self._stale |= mask

    def renew(self, tick: int) -> bool:
        """Make the draws that are due for the reading of this number; returns whether there were any."""
        if self._spec.when == "step":
            self.tick = np.full(self._rig.worlds, tick, np.int64)
            chosen = np.arange(self._rig.worlds)
        elif self._stale.any():
            self.tick = self._episode.copy()
            chosen = np.flatnonzero(self._stale)
            self._stale[:] = False
        else:
            return False
        self._draw(chosen)
        return True

    def _draw(self, chosen: NDArray[np.intp]) -> None:
        """New poses of some worlds."""
        limits, nominal = self._spec.placement, self._rig.X_BS
        if limits is None:
            return
        least = np.array([*limits.min_translation_m, *np.radians(limits.min_rotation_deg)])
        most = np.array([*limits.max_translation_m, *np.radians(limits.max_rotation_deg)])
        poses = (nominal.position, nominal.quaternion, self.X_BS.position, self.X_BS.quaternion)
        p_BN, q_BN, p_BS, q_BS = (np.array(numbers, order="C") for numbers in poses)
        X_BN, X_BS = HeadPoses(p_BN, q_BN), HeadPoses(p_BS, q_BS)
        _draw_places(self._key, chosen, self.tick, self._rig.first_world, least, most - least, X_BN, X_BS)
        self.X_BS = Pose._trusted(*X_BS)


@jit.kernel
def _draw_places(key, chosen, ticks, first_world, least, span, X_BN, X_BS):
    """Poses X_BS = X_BN X_NS of the heads of chosen worlds, with X_NS drawn evenly between limits.

    Args:
        key: Of the sensor's stream; chosen: worlds; ticks: number of each world's draw; first_world: as in `Rig`.
        least, span: Least translation [m] and roll, pitch and yaw [rad], and how far each goes from there, (6,).
        X_BN: Nominal poses, (sensors, 3 and 4).
        X_BS: (worlds, sensors, 3 and 4), filled where chosen.
    """
    (p_BN, q_BN), (position, quaternion) = X_BN, X_BS
    drawn, r, turn = np.zeros(PLACES), np.zeros(9), np.zeros(4)
    for i in range(chosen.size):
        world = chosen[i]
        for sensor in range(p_BN.shape[0]):
            for pair in range(PLACES // 2):
                w0, w1, w2, w3 = draw_words(
                    key[0], key[1], sensor, STAGE_HEADS, pair, ticks[world], first_world + world
                )
                drawn[2 * pair], drawn[2 * pair + 1] = uniform_f64(w0, w1), uniform_f64(w2, w3)
            for k in range(PLACES):
                drawn[k] = least[k] + span[k] * drawn[k]

            # R = Rz(yaw) Ry(pitch) Rx(roll) as a quaternion
            cr, cp, cy = math.cos(0.5 * drawn[3]), math.cos(0.5 * drawn[4]), math.cos(0.5 * drawn[5])
            sr, sp, sy = math.sin(0.5 * drawn[3]), math.sin(0.5 * drawn[4]), math.sin(0.5 * drawn[5])
            turn[0], turn[1] = cy * cp * cr + sy * sp * sr, cy * cp * sr - sy * sp * cr
            turn[2], turn[3] = cy * sp * cr + sy * cp * sr, sy * cp * cr - cy * sp * sr
            multiply(q_BN[sensor], turn, quaternion[world, sensor])
            rotation(q_BN[sensor], r)
            for k in range(3):
                moved = r[3 * k] * drawn[0] + r[3 * k + 1] * drawn[1] + r[3 * k + 2] * drawn[2]
                position[world, sensor, k] = p_BN[sensor, k] + moved

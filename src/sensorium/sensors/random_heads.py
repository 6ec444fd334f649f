"""Draws poses and lenses of depth cameras, for each world by itself."""

import math

import numpy as np
from numpy.typing import NDArray

from sensorium import jit
from sensorium.frames import Pose
from sensorium.patterns import Fisheye, Pinhole
from sensorium.random import draw_words, uniform_f64
from sensorium.sensors.randomization import Randomization, focal_of_fov
from sensorium.sensors.rig import Rig
from sensorium.trace import lens as ln
from sensorium.trace.motion import multiply, rotation

# Stage of the counter
STAGE_HEADS = np.int64(3)

# What is drawn for a head: three translations and three angles, the lens, its field of view, and its shift
_PLACES, _LENS, _FOV, _SHIFT = 6, 6, 7, slice(8, 10)
_NUMBERS = 10


class RandomHeads:
    """Poses and lenses of all heads as they were drawn last. Arrays are replaced, never changed."""

    def __init__(
        self, spec: Randomization, pattern: Pinhole | Fisheye, rig: Rig, key: tuple[np.uint32, np.uint32]
    ) -> None:
        self._spec, self._rig, self._key = spec, rig, np.array(key, np.uint32)
        self._lenses = np.array([ln.lens_row(lens) for lens in spec.projections or (pattern,)])
        self._patterns = spec.projections or (pattern,)
        heads = (rig.worlds, rig.sensors)
        self.X_BS = rig.X_BS.reshape((1, -1)).broadcast_to(heads)
        """Poses on the body, batch shape (worlds, sensors)."""
        self.lens = np.tile(self._lenses[0], (rig.worlds * rig.sensors, 1))
        """Rows of the lenses, shape (heads, LENS_COLUMNS)."""
        self.projection = np.zeros(heads, np.int64)
        """Which of the lenses to choose from each has, shape (worlds, sensors)."""
        self.tick = np.zeros(rig.worlds, np.int64)
        """Number of the draw in each world: of its start or reset, or of its image."""
        self._stale = np.ones(rig.worlds, np.bool_)
        self._episode = np.zeros(rig.worlds, np.int64)

    def restart(self, mask: NDArray[np.bool_]) -> None:
        """Some worlds were reset: draw anew before their next image."""
        self._episode += mask
        self._stale |= mask

    def renew(self, tick: int) -> bool:
        """Draw what is due for an image; whether anything was."""
        if self._spec.when == "step":
            self.tick = np.full(self._rig.worlds, tick, np.int64)
            chosen = np.arange(self._rig.worlds)
        elif self._stale.any():
            self.tick = self._episode.copy()
            chosen = np.flatnonzero(self._stale)
            self._stale[:] = False
        else:
            return False
        if self._spec.placement is not None:
            self._place(chosen)
        if self._spec.projections or self._spec.intrinsics is not None:
            drawn = np.empty((len(chosen), self._rig.sensors, _NUMBERS))
            _draw(drawn, self._key, chosen, self.tick, self._rig.first_world)
            self._grind(chosen, drawn)
        return True

    def _place(self, chosen: NDArray[np.intp]) -> None:
        """New poses of some worlds."""
        limits, nominal = self._spec.placement, self._rig.X_BS
        assert limits is not None
        least = np.array([*limits.min_translation_m, *np.radians(limits.min_rotation_deg)])
        most = np.array([*limits.max_translation_m, *np.radians(limits.max_rotation_deg)])
        poses = (nominal.position, nominal.quaternion, self.X_BS.position, self.X_BS.quaternion)
        p_BN, q_BN, position, quaternion = (np.array(numbers, order="C") for numbers in poses)
        where = (p_BN, q_BN, least, most - least, position, quaternion)
        _draw_places(self._key, chosen, self.tick, self._rig.first_world, *where)
        self.X_BS = Pose._trusted(position, quaternion)

    def _grind(self, chosen: NDArray[np.intp], drawn: NDArray[np.float64]) -> None:
        """New lenses of some worlds."""
        limits = self._spec.intrinsics
        kind = (drawn[..., _LENS] * len(self._lenses)).astype(np.intp)
        rows = self._lenses[kind]
        if limits is not None:
            if limits.fov_deg is not None:
                fov_deg = _between(limits.fov_deg[0], limits.fov_deg[1], drawn[..., _FOV])
                focal = np.empty_like(fov_deg)
                for number, lens in enumerate(self._patterns):
                    focal[kind == number] = focal_of_fov(lens, fov_deg[kind == number])
                rows[..., ln.FY] *= focal / rows[..., ln.FX]
                rows[..., ln.FX] = focal
            rows[..., ln.CX : ln.CY + 1] += _between(limits.min_shift_px, limits.max_shift_px, drawn[..., _SHIFT])
        self.projection = np.array(self.projection)
        self.projection[chosen] = kind
        every = np.array(self.lens).reshape(self._rig.worlds, self._rig.sensors, -1)
        every[chosen] = rows
        self.lens = every.reshape(-1, ln.LENS_COLUMNS)


def _between(least: object, most: object, share: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = np.asarray(least, np.float64), np.asarray(most, np.float64)
    return np.asarray(low + (high - low) * share)


@jit.kernel
def _draw(out, key, chosen, ticks, first_world):
    """Uniform numbers of the heads of chosen worlds, (chosen, sensors, numbers): a draw gives two."""
    for i in range(chosen.size):
        world = chosen[i]
        for sensor in range(out.shape[1]):
            for pair in range(out.shape[2] // 2):
                w0, w1, w2, w3 = draw_words(
                    key[0], key[1], sensor, STAGE_HEADS, pair, ticks[world], first_world + world
                )
                out[i, sensor, 2 * pair] = uniform_f64(w0, w1)
                out[i, sensor, 2 * pair + 1] = uniform_f64(w2, w3)


@jit.kernel
def _draw_places(key, chosen, ticks, first_world, p_BN, q_BN, least, span, position, quaternion):
    """Poses X_BS = X_BN X_NS of the heads of chosen worlds, with X_NS drawn evenly between limits.

    Args:
        key: Of the sensor's stream; chosen: worlds; ticks: number of each world's draw; first_world: as in `Rig`.
        p_BN, q_BN: Nominal poses, (sensors, 3 and 4).
        least, span: Least translation [m] and roll, pitch and yaw [rad], and how far each goes from there, (6,).
        position, quaternion: (worlds, sensors, 3 and 4), filled where chosen.
    """
    drawn, r, turn = np.zeros(_PLACES), np.zeros(9), np.zeros(4)
    for i in range(chosen.size):
        world = chosen[i]
        for sensor in range(p_BN.shape[0]):
            for pair in range(_PLACES // 2):
                w0, w1, w2, w3 = draw_words(
                    key[0], key[1], sensor, STAGE_HEADS, pair, ticks[world], first_world + world
                )
                drawn[2 * pair], drawn[2 * pair + 1] = uniform_f64(w0, w1), uniform_f64(w2, w3)
            for k in range(_PLACES):
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

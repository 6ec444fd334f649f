"""Draws poses and lenses of depth cameras, for each world by itself."""

import numpy as np
from numpy.typing import NDArray

from sensorium import jit
from sensorium.frames import Pose
from sensorium.patterns import Fisheye, Pinhole
from sensorium.random import draw_words, uniform_f64
from sensorium.sensors.randomization import Randomization, focal_of_fov
from sensorium.sensors.rig import Rig
from sensorium.trace import lens as ln

# Stage of the counter
STAGE_HEADS = np.int64(3)

# What is drawn for a head: three translations, three angles, the lens, its field of view, and its shift
_TRANSLATION, _ROTATION, _LENS, _FOV, _SHIFT = slice(0, 3), slice(3, 6), 6, 7, slice(8, 10)
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
        drawn = np.empty((len(chosen), self._rig.sensors, _NUMBERS))
        _draw(drawn, self._key, chosen, self.tick, self._rig.first_world)
        if self._spec.placement is not None:
            self._place(chosen, drawn)
        if self._spec.projections or self._spec.intrinsics is not None:
            self._grind(chosen, drawn)
        return True

    def _place(self, chosen: NDArray[np.intp], drawn: NDArray[np.float64]) -> None:
        """New poses of some worlds."""
        limits = self._spec.placement
        assert limits is not None
        move = _between(limits.min_translation_m, limits.max_translation_m, drawn[..., _TRANSLATION])
        roll, pitch, yaw = np.moveaxis(
            _between(limits.min_rotation_deg, limits.max_rotation_deg, drawn[..., _ROTATION]), -1, 0
        )
        X_BS = self._rig.X_BS @ Pose.from_euler_deg(move, roll, pitch, yaw)
        if len(chosen) < self._rig.worlds:
            position, quaternion = np.array(self.X_BS.position), np.array(self.X_BS.quaternion)
            position[chosen], quaternion[chosen] = X_BS.position, X_BS.quaternion
            X_BS = Pose._trusted(position, quaternion)
        self.X_BS = X_BS

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

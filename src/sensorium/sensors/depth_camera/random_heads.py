"""Draws poses and lenses of depth cameras, per world."""

import numpy as np
from numpy.typing import NDArray

from sensorium.patterns import Fisheye, Pinhole
from sensorium.random import draw_words, uniform_f64
from sensorium.runtime import jit
from sensorium.sensors.common.random_placement import PLACES, STAGE_HEADS, RandomPlacement
from sensorium.sensors.common.randomization import Randomization, focal_of_fov
from sensorium.sensors.common.spec import Rig
from sensorium.tracing.kernels.depth import lens as ln

# Draws of a head: its pose, the lens, its field of view, and its shift
_LENS, _FOV, _SHIFT = PLACES, PLACES + 1, slice(PLACES + 2, PLACES + 4)
_NUMBERS = PLACES + 4


class RandomHeads(RandomPlacement):
    """Poses and lenses of all heads as they were drawn last. Arrays are replaced, never changed."""

    def __init__(
        self, spec: Randomization, pattern: Pinhole | Fisheye, rig: Rig, key: tuple[np.uint32, np.uint32]
    ) -> None:
        super().__init__(spec, rig, key)
        self._lenses = np.array([ln.lens_row(lens) for lens in spec.projections or (pattern,)])
        self._patterns = spec.projections or (pattern,)
        self.lens = np.tile(self._lenses[0], (rig.worlds * rig.sensors, 1))
        """Rows of the lenses, shape (heads, LENS_COLUMNS)."""
        self.projection = np.zeros((rig.worlds, rig.sensors), np.int64)
        """Index of each head's lens among the choices, shape (worlds, sensors)."""

    def _draw(self, chosen: NDArray[np.intp]) -> None:
        """New poses and lenses of some worlds."""
        super()._draw(chosen)
        if self._spec.projections or self._spec.intrinsics is not None:
            drawn = np.empty((len(chosen), self._rig.sensors, _NUMBERS))
            _draw_numbers(drawn, self._key, chosen, self.tick, self._rig.first_world)
            self._grind(chosen, drawn)

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
def _draw_numbers(out, key, chosen, ticks, first_world):
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

"""Where echoes fall in the cells of a frame, and what stands in a cell in metres, metres a second and radians."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.radio.cfar import threshold_factors
from sensorium.radio.chirp import folded
from sensorium.radio.frame import ENVELOPE_STEPS
from sensorium.radio.ordered_cfar import ordered_factors, ordered_ranks
from sensorium.radio.power import of_decibels
from sensorium.radio.thermal_noise import thermal_noise
from sensorium.radio.windows import noise_bandwidth, point_spread, window_terms
from sensorium.sensors.radar.echoes import Echoes
from sensorium.sensors.radar.spec import Radar

Float = NDArray[np.float64]

# Over fewer samples than this a window's terms run into each other: there is none
_LEAST_FOR_WINDOW = 8

# Side lobes are followed for so many cells
_REACH = {"rectangular": 24, "hann": 12, "hamming": 16, "blackman_harris": 5}

# Of the table that tells where a peak is from where the parabola through its cells has its top
_STEPS = 65


class Measured(NamedTuple):
    """What a peak is taken for."""

    range_m: Float
    range_rate_m_s: Float
    sine: Float
    power_W: Float


class Axis:
    """Cells along beams, speeds or ranges."""

    def __init__(self, count: int, window: str) -> None:
        self.count = count
        self.window = window if count >= _LEAST_FOR_WINDOW else "rectangular"
        self.terms = window_terms(self.window)
        self.reach = min(_REACH[self.window], count // 2)

        # Where the parabola has its top for every place of an echo between cells; one or two cells have no parabola
        self._place, self._top = np.zeros(1), np.zeros(1)
        if count > 2:
            self._place = np.linspace(-0.5, 0.5, _STEPS)
            level = [np.log(np.maximum(self.spread(k - self._place) ** 2, 1e-12)) for k in (-1, 0, 1)]
            self._top = 0.5 * (level[0] - level[2]) / (level[0] - 2.0 * level[1] + level[2])

    def envelope(self, steps: int) -> Float:
        """Largest power that an echo of power 1 has from so far on, in steps of a cell; 0 beyond its reach."""
        x = np.arange(steps) / ENVELOPE_STEPS
        power = np.where(x <= self.reach + 0.5, self.spread(x) ** 2, 0.0)
        return np.maximum.accumulate(power[::-1])[::-1]

    def spread(self, x: Float) -> Float:
        """What of an amplitude stands x cells away [1]."""
        return point_spread(self.window, x, count=self.count)

    def place(self, top: Float) -> Float:
        """Where between cells an echo is whose parabola has its top there."""
        return np.interp(top, self._top, self._place)


class Cells:
    """The cells of a radar's frames."""

    def __init__(self, spec: Radar) -> None:
        chirp = spec.chirp
        self._spec, self._chirp = spec, chirp
        self.beam = Axis(spec.antennas, spec.angle_window)
        self.speed = Axis(chirp.chirps, spec.window)
        self.range = Axis(chirp.samples, spec.window)
        self.axes = (self.beam, self.speed, self.range)
        self._sine_cell = 1.0 / (spec.antennas * spec.spacing)

        # Beams that look into the field, and one more on each side, so that every peak has neighbours
        number = np.arange(-(spec.antennas // 2), (spec.antennas + 1) // 2)
        edge = np.sin(np.radians(0.5 * spec.horizontal_fov_deg))
        self.beams = number[np.abs(number * self._sine_cell) <= edge + 1.5 * self._sine_cell]
        self.noise_W = float(
            thermal_noise(noise_figure=of_decibels(spec.noise_figure_dB), integration_s=chirp.chirps * chirp.ramp_s)
        ) * float(np.prod([noise_bandwidth(axis.window) for axis in self.axes]))
        steps = ENVELOPE_STEPS * (max(axis.reach for axis in self.axes) + 2)
        self.envelope = np.stack([axis.envelope(steps) for axis in self.axes])
        """Of the side lobes along beams, speeds and ranges, shape (3, steps)."""
        cfar = spec.cfar
        self.factors = threshold_factors(cfar.training, false_alarm=cfar.false_alarm)
        self.ranks = np.zeros(len(self.factors), np.int64)
        if cfar.over == "rank":
            self.factors = ordered_factors(cfar.training, false_alarm=cfar.false_alarm, rank=cfar.rank)
            self.ranks = ordered_ranks(cfar.training, rank=cfar.rank)

    @property
    def range_m(self) -> Float:
        """Range of each cell [m]."""
        return np.arange(self.range.count, dtype=np.float64) * self._chirp.range_resolution_m

    @property
    def range_rate_m_s(self) -> Float:
        """Range rate of each cell, rising [m/s]."""
        half = self.speed.count // 2
        return np.arange(-half, self.speed.count - half, dtype=np.float64) * self._chirp.speed_resolution_m_s

    def of(self, echoes: Echoes) -> Float:
        """Beam, speed and range in cells, not folded, shape (n, 3); a receding echo seems farther."""
        range_m = echoes.range_m + self._chirp.coupling_m(echoes.range_rate_m_s)
        return np.stack(
            [
                echoes.sine / self._sine_cell,
                echoes.range_rate_m_s / self._chirp.speed_resolution_m_s,
                range_m / self._chirp.range_resolution_m,
            ],
            axis=-1,
        )

    def folded(self, cells: Float) -> Float:
        """The same as they show in a frame: ranges from the first cell to the last; the others count round."""
        out = cells.copy()
        out[:, 2] = folded(cells[:, 2], self.range.count, low=-0.5)
        return out

    def measured(self, cell: NDArray[np.int32], top: NDArray[np.float32], power_W: NDArray[np.float32]) -> Measured:
        """What peaks are taken for.

        Args:
            cell: Beam (its place among those formed), speed and range, shape (..., 3).
            top: Of the parabolas through them and their neighbours, in cells, shape (..., 3).
            power_W: In the cell [W].
        """
        offset = np.stack([axis.place(top[..., k].astype(np.float64)) for k, axis in enumerate(self.axes)], axis=-1)
        kept = np.prod([axis.spread(offset[..., k]) ** 2 for k, axis in enumerate(self.axes)], axis=0)
        sine = (self.beams[cell[..., 0]] + offset[..., 0]) * self._sine_cell
        most = 0.5 * self._spec.antennas * self._sine_cell
        speed = (cell[..., 1] + offset[..., 1]) * self._chirp.speed_resolution_m_s
        fastest = self._chirp.unambiguous_speed_m_s
        rate = folded(speed, 2.0 * fastest, low=-fastest)
        range_m = (cell[..., 2] + offset[..., 2]) * self._chirp.range_resolution_m - self._chirp.coupling_m(rate)
        return Measured(range_m, rate, folded(sine, 2.0 * most, low=-most), power_W / kept)

"""Positions of echoes in the cells of a frame, and conversion of cells to meters, meters a second and radians."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.physics.radio.chirp import folded
from sensorium.physics.radio.cleaning import main_lobe_hides, scalloping, side_lobes_hide
from sensorium.physics.radio.correlated_cfar import (
    correlated_factors,
    false_alarm_rate_correlated,
    training_cells,
    training_correlation,
)
from sensorium.physics.radio.echo_list import ENVELOPE_STEPS
from sensorium.physics.radio.ordered_cfar import ordered_ranks
from sensorium.physics.radio.peaks import Threshold
from sensorium.physics.radio.power import of_decibels, thermal_noise
from sensorium.physics.radio.refinement import CELLS, PLACES, weights_of
from sensorium.physics.radio.spreading import MOST_TAPS, Grid
from sensorium.physics.radio.windows import noise_bandwidth, point_spread, window_samples, window_terms
from sensorium.sensors.radar.echoes import Echoes
from sensorium.sensors.radar.spec import Radar

Float = NDArray[np.float64]

# Side lobes are computed over this many cells
_REACH = {"rectangular": 24, "hann": 12, "hamming": 16, "blackman_harris": 5}


class Measured(NamedTuple):
    """Estimates of a peak."""

    range_m: Float
    range_rate_m_s: Float
    sine: Float
    """Of the angle to the plane across the rows [1]."""
    rise: Float
    """Sine of the elevation [1]."""


class Axis:
    """Cells along row beams, beams, speeds or ranges."""

    def __init__(self, count: int, window: str, *, is_whole: bool) -> None:
        self.count, self.window = count, window
        self.terms = window_terms(window, count=count)
        self.reach = count // 2 if is_whole else min(_REACH[window], count // 2)

        # Destinations of the noise of a cell: cells nearer than the number of terms, each once
        most = MOST_TAPS // 2
        low = -min(most, count // 2)
        self.shifts = np.arange(low, low + MOST_TAPS)
        taps = point_spread(window, self.shifts, count=count)
        self.taps = np.where((self.shifts <= most) & (self.shifts < low + count) & (np.abs(taps) > 1e-9), taps, 0.0)

    def envelope(self, steps: int, *, moved: int) -> Float:
        """Largest power that an echo of power 1 has from so far on, in steps of a cell; 0 beyond its reach.

        Args:
            steps: How many.
            moved: Range cells that an echo crosses within a frame, at most: its spread grows by as many.
        """
        x = np.arange(steps) / ENVELOPE_STEPS
        power = np.where(x <= self.reach + moved + 0.5, point_spread(self.window, x, count=self.count) ** 2, 0.0)
        return np.maximum.accumulate(power[::-1])[::-1]


class Cells:
    """The cells of a radar's frames."""

    def __init__(self, spec: Radar) -> None:
        chirp, cfar = spec.chirp, spec.cfar
        self._spec, self._chirp = spec, chirp
        whole = self.are_of_samples = spec.adc or bool(spec.interferers)
        self.row = Axis(spec.elevation_antennas, spec.angle_window, is_whole=whole)
        self.beam = Axis(spec.virtual_antennas, spec.angle_window, is_whole=whole)
        self.speed = Axis(chirp.chirps, spec.window, is_whole=whole)
        self.range = Axis(chirp.samples, spec.window, is_whole=whole)
        self.axes = (self.row, self.beam, self.speed, self.range)
        self._rise_cell, self._sine_cell = (1.0 / (axis.count * spec.spacing) for axis in (self.row, self.beam))

        # Beams that look into the field, and as many more on each side as an estimate uses
        antennas = self.beam.count
        number = np.arange(-(antennas // 2), (antennas + 1) // 2)
        edge = np.sin(np.radians(0.5 * spec.horizontal_fov_deg)) / self._sine_cell
        beams = number if whole else number[np.abs(number) <= edge + 1.5 + CELLS // 2]
        noise_W = float(
            thermal_noise(
                noise_figure=of_decibels(spec.noise_figure_dB),
                integration_s=chirp.transmitters * chirp.chirps * chirp.ramp_s,
            )
        )
        self.noise_W = noise_W * float(np.prod([noise_bandwidth(axis.window, count=axis.count) for axis in self.axes]))
        """Mean noise of a cell [W]."""
        self.grid = Grid(
            beams=beams,
            counts=np.array([axis.count for axis in self.axes], np.int64),
            reach=np.array([axis.reach for axis in self.axes], np.int64),
            terms=np.stack([axis.terms for axis in self.axes]),
            shifts=np.stack([axis.shifts for axis in self.axes]),
            taps=np.stack([axis.taps for axis in self.axes]).astype(np.float32),
            weights=_of_sum_one(self.beam),
            chirp_weights=_of_sum_one(self.speed),
            transmitters=chirp.transmitters,
            noise_W=noise_W,
        )
        self.migration = 0.5 * chirp.wavelength_m / chirp.range_resolution_m
        """Range cells that an echo moves by within a frame, for each cell of its speed."""
        moved = int(np.ceil(0.5 * self.migration * chirp.chirps))
        steps = ENVELOPE_STEPS * (max(axis.reach for axis in self.axes) + moved + 2)
        farther = (0, 0, moved, moved)
        self.envelope = np.stack(
            [axis.envelope(steps, moved=more) for axis, more in zip(self.axes, farther, strict=True)]
        )
        """Of the side lobes along all axes, shape (4, steps)."""
        windows = [(axis.window, axis.count) for axis in self.axes]
        self.weights = weights_of(windows)
        self._rank = cfar.rank if cfar.over == "rank" else None
        self.scalloping = scalloping(windows)
        """Least share of an echo's power that its strongest cell has [1]."""
        around = training_cells(chirp.samples, training=cfar.training, guard=cfar.guard)
        factors = correlated_factors(
            self.range.window,
            samples=chirp.samples,
            training=cfar.training,
            guard=cfar.guard,
            false_alarm=cfar.false_alarm,
            rank=self._rank,
        )
        ranks = np.zeros(len(factors), np.int64)
        if self._rank is not None:
            ranks = ordered_ranks(cfar.training, rank=self._rank)
        folds = spec.farthest_m > chirp.unambiguous_range_m
        self.threshold = Threshold(around.astype(np.int64), factors, ranks, folds)
        self.are_cleaned = False
        """Whether frames are searched again without the echoes that were found."""
        if self._rank is not None:
            fewest = len(around) if folds else min(cfar.training, len(around))
            spare = fewest - int(ranks[fewest])
            hides = main_lobe_hides(self.range.window, count=chirp.samples, spare=spare)
            self.are_cleaned = hides or side_lobes_hide(windows)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Row beams, beams that are formed, speeds and ranges."""
        return self.row.count, len(self.grid.beams), self.speed.count, self.range.count

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
        """Row beam, beam, speed and range in cells at mid-frame, not folded, shape (n, 4).

        A receding echo was nearer at mid-frame than it is at the end, and seems farther by its Doppler shift.
        """
        chirp, rate = self._chirp, echoes.range_rate_m_s
        range_m = echoes.range_m - rate * chirp.age_s + chirp.coupling_m(rate)
        rise, sine = np.sin(echoes.elevation_rad), echoes.sine
        return np.stack(
            [
                rise / self._rise_cell if self.row.count > 1 else np.zeros_like(rise),
                sine / self._sine_cell if self.beam.count > 1 else np.zeros_like(sine),
                rate / chirp.speed_resolution_m_s,
                range_m / chirp.range_resolution_m,
            ],
            axis=-1,
        )

    def measured(self, place: Float) -> Measured:
        """Estimates of peaks at positions in cells, shape (..., 4)."""
        chirp = self._chirp
        fastest = chirp.unambiguous_speed_m_s
        rate = folded(place[..., 2] * chirp.speed_resolution_m_s, 2.0 * fastest, low=-fastest)
        cell = folded(place[..., 3], self.range.count, low=-0.5)
        range_m = cell * chirp.range_resolution_m - chirp.coupling_m(rate) + rate * chirp.age_s

        # Angles, from the middle of a cell on; between transmitters the speed is taken out to the cell only
        beam = place[..., 1] - self._turned_by_speed(place[..., 2])
        sine, rise = (
            folded(at, axis.count, low=-0.5 * axis.count) * width
            for at, axis, width in ((beam, self.beam, self._sine_cell), (place[..., 0], self.row, self._rise_cell))
        )
        return Measured(range_m, rate, sine, rise)

    def detection_probability(self, snr: Float) -> Float:
        """Probability of detection of a Swerling I body in the middle of a cell, of the mean SNR in a cell [1].

        Signal and noise together are exponential of mean 1 + SNR: the rate of false alarms at factor / (1 + SNR).
        """
        at = self.threshold.around
        correlation = training_correlation(self.range.window, at.astype(np.float64), samples=self.range.count)
        factor = self.threshold.factors[len(at)]
        return false_alarm_rate_correlated(factor / (1.0 + snr), correlation=correlation, rank=self._rank)

    def _turned_by_speed(self, speed: Float) -> Float:
        """Beams by which an echo seems aside for the part of its speed that is not its cell's."""
        transmitters, weights = self._chirp.transmitters, self.weights
        if transmitters == 1:
            return np.zeros_like(speed)

        # Steps of phase from transmitter to transmitter as the slope over the row that they come closest to
        antenna = np.arange(self.beam.count) - 0.5 * (self.beam.count - 1)
        step = np.arange(self.beam.count) // self._spec.antennas
        slope = float(antenna @ step / (antenna @ antenna)) * self.beam.count / transmitters

        # Bias of an echo's position behind its cells, in the mean over those used
        offset = speed - np.rint(speed)
        cells = weights.cells[2]
        at = np.arange(cells) - cells // 2
        places = weights.first[2] + np.arange(weights.places[2]) / PLACES
        share = weights.matched[2, : len(places), :cells] * point_spread(
            self.speed.window, at - places[:, None], count=self.speed.count
        )
        behind = np.sum(share * (places[:, None] - at), axis=1) / np.sum(share, axis=1)
        return np.interp(offset, places, behind) * slope / self.speed.count


def _of_sum_one(axis: Axis) -> Float:
    """Weights of a window, of sum 1."""
    w = window_samples(axis.window, count=axis.count)
    return w / w.sum()

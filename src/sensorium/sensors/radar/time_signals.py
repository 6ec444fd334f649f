"""Frames computed from converter samples: if samples are requested, or other radars interfere."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.constants import SPEED_OF_LIGHT_M_S
from sensorium.core.errors import SpecError
from sensorium.physics.radio.adc import beat_samples, cells_of_samples, samples_of_cells
from sensorium.physics.radio.cell_noise import drawn_noise
from sensorium.physics.radio.interference import Interferer, interfering_beat, one_way_power
from sensorium.physics.radio.power import of_decibels
from sensorium.physics.radio.spreading import Scatterers
from sensorium.physics.radio.swerling import drawn
from sensorium.sensors.common.spec import Rig
from sensorium.sensors.radar.cells import Cells
from sensorium.sensors.radar.echoes import Instant, gain
from sensorium.sensors.radar.spec import Radar

Complex = NDArray[np.complex64]

# Of the counter, for when other radars start
_START_STAGE = 5


class TimeFrames(NamedTuple):
    """Frames of all heads."""

    cells: Complex
    """Shape (heads, row beams, beams, speeds, ranges) [sqrt(W)]."""
    interference_W: NDArray[np.float32] | None
    """Power of the interference alone in them [W]; None without."""
    adc: Complex | None
    """Shape (heads, chirps, antennas, samples) [sqrt(W)]; None unless the radar's `adc` is on."""


class TimeSignals:
    """Makes the samples of frames: echoes, noise and interference."""

    def __init__(self, spec: Radar, rig: Rig, cells: Cells, key: NDArray[np.uint32]) -> None:
        self._spec, self._rig, self._cells, self._key = spec, rig, cells, key
        self._counts = tuple(axis.count for axis in cells.axes)
        self._windows = tuple(axis.window for axis in cells.axes)
        bodies = rig.tracer.body_names
        for other in spec.interferers:
            if other.body is not None and other.body not in bodies:
                have = ", ".join(bodies) or "none"
                raise SpecError(f"interferers has the body {other.body!r}; it must be one of the world's: {have}")

    def frames(self, scatterers: Scatterers, instant: Instant, tick: int) -> TimeFrames:
        """Frames of all heads at an instant, with the noise that cells have without samples."""
        rig, spec = self._rig, self._spec
        heads, transmitters = rig.worlds * rig.sensors, spec.chirp.transmitters
        cells = np.empty((heads, *self._counts), np.complex64)
        interference = np.empty(cells.shape, np.float32) if spec.interferers else None
        adc: list[Complex] | None = [] if spec.adc else None
        for head in range(heads):
            at = slice(scatterers.start[head], scatterers.start[head + 1])
            amplitude = scatterers.amplitude[at, 0] + 1j * scatterers.amplitude[at, 1]
            samples = beat_samples(
                scatterers.cell[at],
                amplitude,
                scatterers.migration[at],
                counts=self._counts,
                transmitters=transmitters,
            )
            noise = drawn_noise(
                self._counts,
                noise_W=self._cells.grid.noise_W,
                key=self._key,
                tick=tick,
                world=rig.first_world + head // rig.sensors,
                sensor=head % rig.sensors,
            )
            samples += samples_of_cells(noise, transmitters=transmitters)
            if interference is not None:
                other = self._interference(head, instant, tick)
                samples += other
                interference[head] = np.abs(cells_of_samples(other, self._windows, transmitters=transmitters)) ** 2
            cells[head] = cells_of_samples(samples, self._windows, transmitters=transmitters)
            if adc is not None:
                adc.append(self._as_sent(samples))
        return TimeFrames(cells, interference, None if adc is None else np.stack(adc))

    def _as_sent(self, samples: Complex) -> Complex:
        """Samples of the array as receivers take them: chirps in the order they are sent, power of one receiver."""
        rows, _, chirps, count = self._counts
        receivers, transmitters = self._spec.antennas, self._spec.chirp.transmitters
        apart = samples.reshape(rows, transmitters, receivers, chirps, count)
        in_turn = apart.transpose(3, 1, 0, 2, 4).reshape(chirps * transmitters, rows * receivers, count)
        return (in_turn / np.sqrt(np.float32(rows * receivers))).astype(np.complex64)

    def _interference(self, head: int, instant: Instant, tick: int) -> Complex:
        """Samples of all other radars, shape (rows, antennas, chirps, samples) [sqrt(W) of the whole array]."""
        chirp, (rows, antennas, chirps, count) = self._spec.chirp, self._counts
        rig, out = self._rig, np.zeros(self._counts, np.complex64)
        receivers = self._spec.antennas
        for number, other in enumerate(self._spec.interferers):
            range_m, direction, power_W = self._seen(other, head, instant)
            start_s = other.start_s
            element = np.array([(head % rig.sensors) * len(self._spec.interferers) + number], np.int64)
            world = np.array([rig.first_world + head // rig.sensors], np.int64)
            uniform = drawn(element, world, key=self._key, stage=_START_STAGE, tick=tick)[0]
            if start_s is None:
                start_s = float(uniform[0]) * other.chirp.period_s
            beat = interfering_beat(
                chirp, other.chirp, start_s=start_s + range_m / SPEED_OF_LIGHT_M_S, is_falling=other.is_falling
            )
            amplitude = np.sqrt(power_W) * np.exp(2j * np.pi * uniform[1])
            across, up = (
                np.exp(2j * np.pi * self._spec.spacing * sine * np.arange(n))
                for n, sine in ((receivers, direction[1]), (rows, direction[2]))
            )
            apart = beat.reshape(chirps, chirp.transmitters, count).transpose(1, 0, 2)
            whole = up[:, None, None, None, None] * across[:, None, None] * apart[:, None] * amplitude
            out += whole.reshape(rows, antennas, chirps, count).astype(np.complex64)
        return out

    def _seen(self, other: Interferer, head: int, instant: Instant) -> tuple[float, NDArray[np.float64], float]:
        """Range [m], direction in the sensor's frame and received power [W] of another radar."""
        spec, p_W = self._spec, np.array(other.position_m)
        if other.body is not None:
            body = self._rig.tracer.body_names.index(other.body)
            p_W = instant.X_WB[int(instant.world[head]), body].apply(p_W)
        X_WS = instant.X_WS[head]
        away = X_WS.inverse().apply(p_W)
        range_m = max(float(np.linalg.norm(away)), 1e-3)
        direction = away / range_m
        azimuth, elevation = np.arctan2(direction[1], direction[0]), np.arcsin(np.clip(direction[2], -1.0, 1.0))
        gains = gain(spec, azimuth, elevation) * of_decibels(other.gain_dBi)
        power_W = one_way_power(
            range_m,
            power_W=other.power_W,
            gains=gains,
            wavelength_m=other.chirp.wavelength_m,
            loss=float(of_decibels(spec.loss_dB)),
        )
        return range_m, direction, float(power_W)

"""Samples of a frame from its converters, and the cells computed from them by transforms."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.physics.radio.windows import window_samples

Complex = NDArray[np.complex64]
Float = NDArray[np.float64]

# Scatterers whose samples are computed at once
_AT_ONCE = 256


def beat_samples(
    place: Float, amplitude: NDArray[np.complex128], migration: Float, *, counts: tuple[int, ...], transmitters: int
) -> Complex:
    """Beat signals of scatterers, shape (rows, antennas, chirps, samples), in the unit of their amplitudes.

    A scatterer at the cells (e, b, d, r) with the amplitude A gives sample n of chirp m at antenna i of row h

        A exp(2 pi i (e h' / H + b i' / I + d t / M + (r + g t / M) n' / N)),   t = m' + k' / N_t,

    where dashes count from the middle, antenna i belongs to transmitter k = i N_t / I, which sends k T_c later than the
    first, and g is the migration. The first two terms are the angle, the third the speed, the last the range. No term
    is left out but of second order in the speed.

    Args:
        place: Cells of row beam, beam, speed and range at mid-frame, not folded, shape (n, 4).
        amplitude: A, shape (n,).
        migration: g, range cells that each moves by within the frame, shape (n,).
        counts: Rows H, antennas I of the virtual row, chirps M of a transmitter and samples N of a chirp.
        transmitters: N_t.
    """
    rows, antennas, chirps, samples = counts
    h, i, m, n = (np.arange(count) - 0.5 * (count - 1) for count in counts)
    k = (np.arange(antennas) * transmitters) // antennas - 0.5 * (transmitters - 1)
    out = np.zeros((rows * antennas, chirps * samples), np.complex64)
    still = np.flatnonzero(migration == 0.0)
    for first in range(0, len(still), _AT_ONCE):
        at = still[first : first + _AT_ONCE]
        e, b, d, r = place[at].T[:, :, None]
        across = _turned(b * i / antennas + d * k / (chirps * transmitters))
        angle = (amplitude[at, None] * _turned(e * h / rows))[:, :, None] * across[:, None]
        both = angle.reshape(len(at), -1, 1) * _turned(d * m / chirps)[:, None]
        signal = both.reshape(len(at), -1).astype(np.complex64).T @ _turned(r * n / samples).astype(np.complex64)
        out += signal.reshape(out.shape)
    moving = out.reshape(rows, transmitters, antennas // transmitters, chirps, samples)
    for one in np.flatnonzero(migration != 0.0):
        e, b, d, r = place[one]
        up = amplitude[one] * _turned(e * h / rows)
        across = _turned(b * i / antennas).reshape(transmitters, -1)
        time = (m + np.unique(k)[:, None] / transmitters) / chirps
        beat = _turned(d * time[..., None] + (r + migration[one] * time[..., None]) * n / samples)
        moving += (up[:, None, None, None, None] * across[:, :, None, None] * beat[:, None]).astype(np.complex64)
    return out.reshape(counts)


def cells_of_samples(samples: Complex, windows: tuple[str, ...], *, transmitters: int) -> Complex:
    """Cells from samples, by windows and transforms over ranges, speeds and beams; layout as in `spreading`.

    The motion between transmitters is taken out with the speed of each cell before beams are formed.

    Args:
        samples: Shape (rows, antennas, chirps, samples).
        windows: Names of the windows along them.
        transmitters: That sent in turn.

    Returns:
        Mean amplitudes, shape (row beams, beams, speeds, ranges); beams from -antennas / 2 on.
    """
    cells = samples
    for axis in (3, 2, 0, 1):
        if axis == 1 and transmitters > 1:
            cells = (cells * np.conj(_between_transmitters(samples.shape, transmitters))).astype(np.complex64)
        count = samples.shape[axis]
        weights = window_samples(windows[axis], count=count)
        turned = np.fft.fft(cells * _shaped(weights / weights.sum(), axis), axis=axis)
        if axis == 1:
            turned = np.roll(turned, count // 2, axis=1)
        cells = (turned * _shaped(_from_middle(count, axis == 1), axis)).astype(np.complex64)
    return cells


def samples_of_cells(cells: Complex, *, transmitters: int) -> Complex:
    """The inverse of `cells_of_samples` without windows: samples whose cells these are."""
    samples = cells
    for axis in (1, 0, 2, 3):
        count = cells.shape[axis]
        turned = samples * _shaped(np.conj(_from_middle(count, axis == 1)), axis)
        if axis == 1:
            turned = np.roll(turned, -(count // 2), axis=1)
        turned = np.fft.ifft(turned, axis=axis) * count
        if axis == 1 and transmitters > 1:
            turned = turned * _between_transmitters(cells.shape, transmitters)
        samples = turned.astype(np.complex64)
    return samples


def _turned(turns: Float) -> NDArray[np.complex128]:
    """exp(2 pi i turns)."""
    return np.exp(2j * np.pi * turns)


def _shaped(values: NDArray[Any], axis: int) -> NDArray[Any]:
    """Values along one of four axes."""
    return values.reshape(*(1,) * axis, -1, *(1,) * (3 - axis))


def _from_middle(count: int, is_centered: bool) -> NDArray[np.complex128]:
    """Turns phases that count from the first sample to those that count from the middle."""
    cell = np.arange(count) - (count // 2 if is_centered else 0)
    return _turned(0.5 * (count - 1) * cell / count)


def _between_transmitters(shape: tuple[int, ...], transmitters: int) -> NDArray[np.complex128]:
    """Phase that the speed of each cell makes between transmitters, shape (1, antennas, chirps, 1)."""
    _, antennas, chirps, _ = shape
    k = (np.arange(antennas) * transmitters) // antennas - 0.5 * (transmitters - 1)
    speed = np.arange(chirps)
    speed = np.where(2 * speed >= chirps, speed - chirps, speed)
    return _turned(k[:, None] * speed / (chirps * transmitters))[None, :, :, None]

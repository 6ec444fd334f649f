"""Echoes of a frame whose cells NumPy makes: how many, where and how strong; what they leave each other."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.physics.radio.echo_list import leak, wrapped
from sensorium.physics.radio.frame import Peaks, Receiver, detect
from sensorium.physics.radio.spreading import Scatterers
from sensorium.sensors.radar.cells import Cells

COUNTS = 8, 32, 64
CHIRP = sn.radar.Chirp(bandwidth_hz=149.896229e6, ramp_s=60e-6, samples=64, chirps=32)


def cells_of(window):
    return Cells(sn.Radar(chirp=CHIRP, window=window, angle_window=window, adc=True, cfar={"false_alarm": 1e-6}))


def received(cells):
    """What frames are received with; no scatterers."""
    return Receiver(
        grid=cells.grid,
        threshold=cells.threshold,
        weights=cells.weights,
        envelope=cells.envelope,
        cell_noise_W=1.0,
        is_cleaned=cells.are_cleaned,
        scalloping=cells.scalloping,
        migration=cells.migration,
        key=np.zeros(2, np.uint32),
        tick=0,
        first_world=0,
        sensors=1,
    )


def frames_of(window, place, amplitude, *, noise, seed=0):
    """Frames of echoes at (frames, n, 3) cells of beam, speed and range: windowed transforms of their samples.

    Amplitudes and noise are those of a cell; cells have phases from the middle of the samples.
    """
    rng, frames = np.random.default_rng(seed), len(place)
    from_middle = [np.arange(count) - 0.5 * (count - 1) for count in COUNTS]
    a, c, s = (
        np.exp(2j * np.pi * place[:, :, k, None] * at / len(at)) for k, at in zip(range(3), from_middle, strict=True)
    )
    samples = np.einsum("fn,fna,fnc,fns->facs", amplitude, a, c, s)
    w = [sn.radar.window_samples(window, count=count) for count in COUNTS]
    weights = w[0][:, None, None] * w[1][:, None] * w[2]
    white = rng.normal(size=(2, *samples.shape))
    samples += noise * (white[0] + 1j * white[1]) * np.sqrt(0.5 * weights.sum() ** 2 / (weights**2).sum())
    cells = np.fft.fftn(samples * weights, axes=(1, 2, 3)) / weights.sum()
    for axis, count in enumerate(COUNTS):
        turn = np.exp(1j * np.pi * (count - 1) / count * np.arange(count))
        cells *= np.expand_dims(turn, tuple(k for k in range(3) if k != axis))
    beams = np.fft.fftshift(np.arange(8))

    # Beams are counted from -4 on: those before 0 have been turned on by a whole round
    sign = np.where(beams >= 4, -1.0, 1.0)
    return (cells[:, beams] * sign[:, None, None]).reshape(frames, 1, *COUNTS).astype(np.complex64)


def echoes_of(window, given):
    """Places of beam, speed and range, powers and how many of the echoes in given frames."""
    cells, heads, most = cells_of(window), len(given), 64
    peaks = Peaks(
        np.zeros(heads, np.int32),
        np.zeros((heads, most, 4)),
        np.zeros((heads, most)),
        np.full((heads, most), -1, np.int32),
        np.zeros((0, 32, 64), np.float32),
    )
    nothing = Scatterers(
        np.zeros(heads + 1, np.int64),
        np.zeros((0, 4)),
        np.zeros((0, 2), np.float32),
        np.zeros(0),
        np.zeros(0, bool),
        np.zeros(0, bool),
    )
    room = np.empty((1, 4, *cells.shape), np.float32)
    detect(0, 1, heads, nothing, received(cells), given, room, peaks)
    return peaks.place[:, :, 1:], peaks.power_W, peaks.found


def apart(found, place):
    """Distances in cells that count round, along each axis."""
    x = found - place
    return x - np.array(COUNTS) * np.floor(x / COUNTS + 0.5)


@pytest.mark.parametrize("window", sn.radar.WINDOWS)
def test_one_echo_is_one_at_its_place_whatever_its_strength(window):
    rng = np.random.default_rng(4)
    for snr_dB in (30.0, 55.0, 80.0):
        place = rng.uniform([-4, 0, 6], [4, 32, 58], (60, 1, 3))
        amplitude = 10 ** (snr_dB / 20) * np.exp(2j * np.pi * rng.uniform(size=(60, 1)))
        found, power, count = echoes_of(window, frames_of(window, place, amplitude, noise=1.0))
        assert (count >= 1).all()
        assert count.sum() <= 60 + 6  # one in 1e6 cells, 16384 of them a frame: 1 in 60 frames
        error = apart(found[:, 0], place[:, 0])
        assert np.abs(error).max() < 4.0 * 1.33 * np.sqrt(6.0 / 10 ** (snr_dB / 10)) / (2 * np.pi) + 2e-4
        assert np.abs(10 * np.log10(power[:, 0]) - snr_dB).max() < 9.0 * 4.0 / 10 ** (snr_dB / 20) + 0.02


@pytest.mark.parametrize("window", sn.radar.WINDOWS)
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("weaker_dB", [0.0, 12.0, 22.0])
def test_two_are_told_apart_from_two_cells_on(window, axis, weaker_dB):
    """Each at its own place within a twentieth of a cell, by its own power within half a decibel."""
    rng, frames = np.random.default_rng(axis), 60
    first = rng.uniform([-4, 0, 12], [4, 32, 50], (frames, 1, 3))
    step = np.zeros((frames, 1, 3))
    step[..., axis] = rng.choice([-1, 1], (frames, 1)) * rng.uniform(2.0, 4.0, (frames, 1))
    place = np.concatenate([first, first + step], axis=1)
    size = 10 ** (np.array([60.0, 60.0 - weaker_dB]) / 20)
    amplitude = size * np.exp(2j * np.pi * rng.uniform(size=(frames, 2)))
    found, power, count = echoes_of(window, frames_of(window, place, amplitude, noise=1.0))
    assert (count >= 2).mean() >= 0.99
    assert count.sum() <= 2 * frames + 6
    for one in range(2):
        away = np.abs(apart(found[:, :2], place[:, None, one])).max(axis=2)
        nearest = away.argmin(axis=1)
        assert np.mean(away.min(axis=1) < 0.05) >= 0.99
        own = 10 * np.log10(np.take_along_axis(power, nearest[:, None], axis=1)[:, 0])
        assert np.mean(np.abs(own - 20 * np.log10(size[one])) < 0.5) >= 0.99


@pytest.mark.parametrize("window", sn.radar.WINDOWS)
def test_what_an_echo_leaves_is_bounded_by_the_lobes_of_its_window(window):
    """The bound is no less than |W|^2 anywhere within a quarter of a cell, and rises nowhere with the distance."""
    cells = cells_of(window)
    receiver, place = received(cells), np.array([0.0, 0.3, 7.6, 20.2])
    rng = np.random.default_rng(1)
    for at in rng.uniform([0, -4, 0, 0], [0, 4, 32, 64], (300, 4)):
        share = 1.0
        for axis, count in enumerate(COUNTS, start=1):
            x = at[axis] - place[axis]
            share *= float(sn.radar.point_spread(window, x - count * np.floor(x / count + 0.5), count=count)) ** 2
        assert leak(place, at, receiver, 0.0) >= share - 1e-12
    along = [leak(place, place + [0, 0, 0, x], receiver, 0.0) for x in np.arange(0.0, 32.0, 0.1)]
    assert (np.diff(along) <= 0.0).all()


def test_distances_count_round():
    x = np.random.default_rng(2).uniform(-200, 200, 100)
    for count in (5.0, 8.0, 64.0):
        found = np.array([wrapped(one, count) for one in x])
        assert (np.abs(found) <= 0.5 * count).all()
        np.testing.assert_allclose(np.exp(2j * np.pi * found / count), np.exp(2j * np.pi * x / count), atol=1e-12)

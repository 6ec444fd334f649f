"""Whose an echo is: of several scatterers whose lobes overlap, the one at whose place it is."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.physics.radio.frame import Peaks, Receiver, detect
from sensorium.physics.radio.spreading import Scatterers
from sensorium.sensors.radar.cells import Cells

CHIRP = sn.radar.Chirp(bandwidth_hz=149.896229e6, ramp_s=60e-6, samples=64, chirps=32)
COUNTS = np.array([1, 8, 32, 64])


def owners(window, place, amplitude, *, straight=None, **fields):
    """Places of the echoes of (frames, n, 4) scatterers, their owners and how many; amplitudes over the noise."""
    cells = Cells(sn.Radar(chirp=CHIRP, window=window, angle_window=window, **fields))
    heads, each = amplitude.shape
    a = np.sqrt(cells.noise_W) * amplitude.ravel()
    scatterers = Scatterers(
        start=each * np.arange(heads + 1),
        cell=place.reshape(-1, 4).copy(),
        amplitude=np.stack([a.real, a.imag], axis=-1).astype(np.float32),
        migration=np.zeros(heads * each),
        in_one_cell=np.zeros(heads * each, bool),
        is_straight=np.ones(heads * each, bool) if straight is None else np.tile(straight, heads),
    )
    receiver = Receiver(
        grid=cells.grid,
        threshold=cells.threshold,
        weights=cells.weights,
        envelope=cells.envelope,
        cell_noise_W=cells.noise_W,
        is_cleaned=cells.are_cleaned,
        scalloping=cells.scalloping,
        migration=cells.migration,
        key=np.array([3, 5], np.uint32),
        tick=1,
        first_world=0,
        sensors=1,
    )
    peaks = Peaks(
        np.zeros(heads, np.int32),
        np.zeros((heads, 64, 4)),
        np.zeros((heads, 64)),
        np.full((heads, 64), -1, np.int32),
        np.zeros((0, 32, 64), np.float32),
    )
    room = np.empty((1, 4, *cells.shape), np.float32)
    detect(0, 1, heads, scatterers, receiver, np.zeros((0, 1, 1, 1, 1), np.complex64), room, peaks)
    return peaks.place, peaks.scatterer, peaks.found


@pytest.mark.parametrize("window", sn.radar.WINDOWS)
def test_an_echo_is_of_the_scatterer_at_its_place(window):
    """One of three that are 2 to 9 cells and up to 20 dB apart, across the ends of axes: the nearest in each frame.
    At 2 cells the main lobe of a strong one exceeds a weak one with Blackman and Harris' window."""
    rng, frames = np.random.default_rng(8), 150
    place = np.zeros((frames, 3, 4))
    place[:, :, 1:] = rng.uniform([-4, -40, 29], [4, 40, 35], (frames, 1, 3))
    for frame in place:
        frame[1, rng.integers(1, 4)] += rng.choice([-1, 1]) * rng.uniform(2.0, 3.0)
        frame[2, 3] += rng.choice([-1, 1]) * rng.uniform(7.0, 9.0)
    size = 10 ** (rng.uniform(40.0, 60.0, (frames, 3)) / 20)
    found, owner, count = owners(window, place, size * np.exp(2j * np.pi * rng.uniform(size=(frames, 3))))
    right, seen = 0, 0
    for head in range(frames):
        for echo in range(count[head]):
            x = found[head, echo] - place[head]
            away = np.abs(x - COUNTS * np.floor(x / COUNTS + 0.5)).max(axis=1)
            if away.min() < 0.3:
                seen += 1
                right += owner[head, echo] == away.argmin()
    assert seen > 0.99 * 3 * frames
    assert right == seen


def test_noise_alone_is_nobodys():
    quiet = np.full((40, 1), 1e-6, complex)
    place = np.tile([0.0, 0.0, 0.0, 20.0], (40, 1, 1))
    _, owner, count = owners("hann", place, quiet, cfar={"false_alarm": 1e-4})
    assert count.sum() > 20
    assert (owner == -1).all()


def test_a_straight_echo_comes_before_one_by_way_of_the_ground_in_its_cell_and_not_beside_it():
    """Down to a tenth of its power; three cells away each is its own."""
    rng, frames = np.random.default_rng(2), 50
    for apart, straight_dB, expected in ((0.3, -5.0, {1}), (0.3, -15.0, {0}), (3.0, 0.0, {0, 1}), (3.0, 15.0, {0, 1})):
        place = np.zeros((frames, 2, 4))
        place[:, :, 3] = rng.uniform(20.0, 40.0, (frames, 1))
        place[:, 1, 3] += apart
        size = 10 ** (np.array([50.0, 50.0 + straight_dB]) / 20)
        amplitude = size * np.exp(2j * np.pi * rng.uniform(size=(frames, 2)))
        _, owner, count = owners("blackman_harris", place, amplitude, straight=[False, True])
        for head in range(frames):
            assert set(owner[head, : count[head]]) - {-1} == expected

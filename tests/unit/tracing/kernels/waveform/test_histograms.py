import numpy as np
import pytest

from sensorium.physics import optics
from sensorium.sensors.lidar.waveform.tables import pulse_taps
from sensorium.tracing.kernels.waveform import histograms as hg
from sensorium.tracing.kernels.waveform import tables as wt

TAPS, FIRST = pulse_taps(optics.gaussian_pulse_table(4e-9), 1e-9)
LENGTH = 120


def shaped(places, heights):
    """Bins of pulses that arrive at places [bins]."""
    cells, bins = np.zeros((2, wt.CELLS * LENGTH), np.float32), np.zeros((2, LENGTH), np.float32)
    for place, height in zip(places, heights, strict=True):
        hg.add_at(cells, np.uint32(1), np.float32(place), np.float32(height))
    hg.shape_pulse(cells, bins, TAPS, np.int32(FIRST), np.float32(1.0), 1, 0, LENGTH)
    assert (cells == 0.0).all()
    assert (bins[0] == 0.0).all()
    return bins[1].astype(float)


@pytest.mark.parametrize("place", [50.0, 50.1, 50.125, 50.62, 50.99])
def test_a_pulse_keeps_its_time_and_its_power(place):
    bins = shaped([place], [3.0])
    assert bins.sum() == pytest.approx(3.0 * TAPS[0].sum(), rel=1e-5)
    assert np.average(np.arange(LENGTH) + 0.5, weights=bins) == pytest.approx(place, abs=1e-3)
    spread = np.average((np.arange(LENGTH) + 0.5 - place) ** 2, weights=bins)
    assert spread == pytest.approx((4 / 2.35482) ** 2 + 1 / 12, rel=0.01)


def test_pulses_add_up():
    np.testing.assert_allclose(
        shaped([40.2, 60.7], [1.0, 2.0]), shaped([40.2], [1.0]) + shaped([60.7], [2.0]), atol=1e-6
    )


def test_the_air_ends_with_the_beam():
    """A third of the beam ends at bin 40, the rest at 70: the air behind is two thirds, and then none."""
    power, mist, ends = (np.zeros((1, LENGTH), np.float32) for _ in range(3))
    ends[0, 40], ends[0, 70] = 1 / 3, 2 / 3
    air = np.full(LENGTH, 0.5, np.float32)
    first, last = hg.add_air(power, mist, ends, air, 80, 10, 0, 40, 60)
    assert (first, last) == (0, 90)
    np.testing.assert_allclose(power[0, [0, 39, 40, 69, 70, 89]], [0.5, 0.5, 1 / 3, 1 / 3, 0, 0], atol=1e-6)
    np.testing.assert_array_equal(power, mist)


def test_light_of_one_sender_becomes_its_votes_when_a_second_comes():
    """Bins where light arrived hold what their cells do, for the one sender so far; all else of old votes is gone."""
    cells = np.zeros((1, wt.CELLS * LENGTH), np.float32)
    vote, total = np.full((1, LENGTH), 9.0, np.float32), np.full((1, LENGTH), 9.0, np.float32)
    sender, sole, face = np.full((1, LENGTH), 5, np.int64), np.array([77]), np.full((1, LENGTH), -1, np.int32)
    reach = np.array([[40, 43]], np.int32)
    cells[0, 4 * 40 : 4 * 43] = np.arange(12)
    face[0, [40, 42]] = 3
    hg.open_votes.py_func(cells, vote, total, sender, face, reach, sole, 0)
    assert sole[0] == hg.SEVERAL
    assert vote[0, [39, 40, 41, 42]].tolist() == [0.0, 6.0, 0.0, 38.0]
    np.testing.assert_array_equal(total, vote)
    assert sender[0, [40, 42]].tolist() == [77, 77]

import numpy as np
import pytest

from sensorium.core.constants import SPEED_OF_LIGHT_M_S
from sensorium.core.errors import SpecError
from sensorium.physics import optics
from sensorium.physics.optics.detection.waveform import bin_count

WINDOW = {"start_s": 0.0, "stop_s": 700e-9, "resolution_s": 0.5e-9}
PULSE = optics.gaussian_pulse_table(4e-9)
LIDAR = {"power_W": 70.0, "receiver_area_m2": 0.002, "divergence_rad": 0.01, "pulse": PULSE, **WINDOW}


def test_reference_values(printed):
    assert optics.range_of_bin(0.5e-9) * 100 == printed("7.4948")
    assert bin_count(**WINDOW) == 1400


def test_a_ray_returns_by_the_lidar_equation():
    """P f cos(theta) A_r cos(psi) / R^2 x eta g."""
    signal = optics.ray_return(
        10.0, power_W=2.0, return_per_sr=0.5 / np.pi, receiver_area_m2=0.01, cos_receiver=0.9, response=0.6, gain=3.0
    )
    assert signal == pytest.approx(2.0 * 0.5 / np.pi * 0.01 * 0.9 / 100.0 * 0.6 * 3.0, rel=1e-12)
    assert optics.ray_return(np.inf, power_W=2.0, return_per_sr=0.1, receiver_area_m2=0.01) == 0.0


def test_a_ray_falls_into_the_bin_of_its_time_and_none_outside_of_the_window():
    step = SPEED_OF_LIGHT_M_S * 0.5e-9 / 2
    bins = optics.time_histogram([0.5 * step, 7.2 * step, 7.9 * step, 1e6, np.inf], [1.0, 2.0, 3.0, 4.0, 5.0], **WINDOW)
    assert bins[0] == 1.0
    assert bins[7] == 5.0
    assert bins.sum() == 6.0


def test_the_convolved_histogram_and_the_exact_arrivals_agree_to_half_a_bin():
    distance = np.array([30.0, 42.3])
    exact = optics.arrivals(distance, [2.0, 1.0], PULSE, **WINDOW)
    binned = optics.convolved(optics.time_histogram(distance, [2.0, 1.0], **WINDOW), PULSE, 0.5e-9)
    assert binned.sum() == pytest.approx(exact.sum(), rel=1e-5)
    middle = (np.arange(1400) + 0.5) * 0.5e-9
    truth = np.average(2.0 * distance / SPEED_OF_LIGHT_M_S, weights=[2.0, 1.0])
    assert np.average(middle, weights=exact) == pytest.approx(truth, abs=1e-14)
    assert abs(np.average(middle, weights=binned) - truth) <= 0.25e-9


def test_a_wall_of_a_distance_array_gives_one_pulse_of_the_beams_whole_power(printed):
    """And 205.4 times less at 86 m than at 6 m."""
    sums = []
    for distance in (6.0, 86.0):
        wave = optics.waveform_of_distances(np.full((83, 83), distance), return_per_sr=0.5 / np.pi, **LIDAR)
        sums.append(wave.sum())
        peak = 70.0 * 0.5 / np.pi * 0.002 / distance**2
        assert wave.max() == pytest.approx(peak, rel=0.01)
        assert np.argmax(wave) == int(2.0 * distance / SPEED_OF_LIGHT_M_S / 0.5e-9)
    assert sums[0] / sums[1] == printed("205.4")


def test_rays_that_meet_nothing_or_lie_outside_of_the_circle_do_not_count():
    distance = np.full((21, 21), 20.0)
    whole = optics.waveform_of_distances(distance, return_per_sr=0.1, **LIDAR)
    corners = distance.copy()
    corners[0, 0] = 3.0
    np.testing.assert_array_equal(whole, optics.waveform_of_distances(corners, return_per_sr=0.1, **LIDAR))
    distance[:, :10] = np.inf
    part = optics.waveform_of_distances(distance, return_per_sr=0.1, **LIDAR)
    assert 0.4 < part.sum() / whole.sum() < 0.6


def test_bad_input():
    with pytest.raises(SpecError, match="range_m is -1; it must be above 0"):
        optics.ray_return(-1.0, power_W=1.0, return_per_sr=0.1, receiver_area_m2=0.01)
    with pytest.raises(SpecError, match=r"distance_m has shape \(3, 4\); it must be a square"):
        optics.waveform_of_distances(np.ones((3, 4)), return_per_sr=0.1, **LIDAR)
    with pytest.raises(SpecError, match="start_s is 1 and stop_s 0; the window must end after it begins"):
        bin_count(1.0, 0.0, 1e-9)

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics import optics
from sensorium.physics.optics.detection.pulse import FWHM_SIGMAS


def test_a_gaussian_is_half_as_high_at_half_its_width(printed):
    assert printed("2.35482") == FWHM_SIGMAS
    np.testing.assert_allclose(optics.gaussian_pulse([-2e-9, 0.0, 2e-9], duration_s=4e-9), [0.5, 1.0, 0.5])
    assert optics.pulse_width(*optics.gaussian_pulse_table(4e-9)) == pytest.approx(4e-9, rel=1e-4)
    assert optics.pulse_width([0.0, 1.0, 2.0, 4.0], [0.0, 1.0, 1.0, 0.0]) == pytest.approx(2.5)


@pytest.mark.parametrize("shift", [0.0, 0.21, 0.5, 0.77])
def test_bins_hold_all_of_the_pulse_wherever_it_falls(shift):
    table = optics.gaussian_pulse_table(4e-9)
    begin = (np.arange(-60, 60) + shift) * 0.5e-9
    bins = optics.binned_pulse(begin, 0.5e-9, *table)
    energy = 4e-9 / FWHM_SIGMAS * np.sqrt(2.0 * np.pi)
    assert bins.sum() * 0.5e-9 == pytest.approx(energy, rel=1e-5)
    # its middle is where it was sent
    assert np.average(begin + 0.25e-9, weights=bins) == pytest.approx(0.0, abs=1e-14)


def test_narrow_bins_show_the_pulse_itself():
    t, s = optics.gaussian_pulse_table(4e-9)
    bins = optics.binned_pulse(np.array([1e-9 - 5e-13]), 1e-12, t, s)
    assert bins[0] == pytest.approx(optics.gaussian_pulse(1e-9, duration_s=4e-9), rel=1e-4)


def test_a_measured_table_counts_from_its_own_peak_value():
    t, s = [0.0, 1e-9, 5e-9], [0.0, 8.0, 0.0]
    assert optics.binned_pulse(np.array([0.0]), 1e-9, t, s)[0] == pytest.approx(0.5)
    assert optics.binned_pulse(np.array([5e-9, -2e-9]), 1e-9, t, s) == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("t", "s", "message"),
    [
        ([0.0, 1.0], [0.0, -1.0], "value is -1; it must be finite and at least 0"),
        ([0.0, 0.0], [0.0, 1.0], "t_s of a pulse falls by -?0 s; it must increase"),
        ([0.0, 1.0], [0.0, 0.0], "value of a pulse is 0 throughout"),
        ([0.0], [1.0], "two or more"),
    ],
)
def test_bad_input(t, s, message):
    with pytest.raises(SpecError, match=message):
        optics.binned_pulse(0.0, 1e-9, t, s)

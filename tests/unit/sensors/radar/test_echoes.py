"""Rows of echoes: which belong together, and what the radar equation makes of measured numbers."""

import numpy as np
import pytest

from sensorium.sensors.radar.echoes import grouped, measured_cross_section


@pytest.mark.parametrize("scale", [1, 3, 1_000, 2**40])
@pytest.mark.parametrize("seed", range(3))
def test_rows_that_are_alike_are_one_group(scale, seed):
    """Numbered as rows are sorted, also where columns span more than one number can hold together."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(-2, 3, (500, 4)) * scale
    _, expected = np.unique(rows, axis=0, return_inverse=True)
    group, count = grouped(*rows.T)
    np.testing.assert_array_equal(group, expected)
    assert count == expected.max() + 1


def test_no_rows_are_no_groups():
    group, count = grouped(np.zeros(0, np.int64), np.zeros(0, np.int64))
    assert (len(group), count) == (0, 0)


@pytest.mark.parametrize("seed", range(5))
def test_a_measured_cross_section_is_that_of_the_radar_equation(make_radar, seed):
    """Against the equation worked out here; nearer than the least range it is that of the least range."""
    rng = np.random.default_rng(seed)
    spec = make_radar(power_W=float(rng.uniform(0.001, 0.1)), loss_dB=3.0, min_range_m=2.0)
    power_W, range_m = 10.0 ** rng.uniform(-14, -6, 50), rng.uniform(0.0, 60.0, 50)
    azimuth, elevation = rng.uniform(-0.7, 0.7, 50), rng.uniform(-0.1, 0.1, 50)
    half = np.radians([spec.horizontal_fov_deg, spec.vertical_fov_deg]) / 2.0
    gain = 10.0**2.5 * 2.0 ** -((azimuth / half[0]) ** 2 + (elevation / half[1]) ** 2)
    wave = 299792458.0 / spec.chirp.carrier_hz
    sent = spec.power_W * gain**2 * wave**2 / 10.0**0.3
    expected = power_W * (4.0 * np.pi) ** 3 * np.maximum(range_m, 2.0) ** 4 / sent
    np.testing.assert_allclose(measured_cross_section(spec, power_W, range_m, azimuth, elevation), expected, rtol=1e-9)

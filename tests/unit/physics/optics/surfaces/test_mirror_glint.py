import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.physics.optics.surfaces.mirror_glint import glint_back

DELTA = 1.5e-3


def test_a_mirror_returns_what_a_beam_twice_as_long_leaves_on_the_detector():
    # far out, rho A_r / z^2 against 2 R^2 / w(2 z)^2 with w = 2 z delta
    for tilt in (0.0, 0.3e-3, 1.5e-3, 2e-3):
        rho = sn.optics.mirror_glint(np.cos(tilt), roughness=0.0, half_angle_rad=DELTA)
        z, radius = 500.0, 0.01
        expected = 2 * radius**2 / (2 * z * DELTA) ** 2 * np.exp(-2 * tilt**2 / DELTA**2)
        assert rho * np.pi * radius**2 / z**2 == pytest.approx(expected, rel=1e-4)


def test_a_mirror_turned_away_returns_nothing():
    assert sn.optics.mirror_glint(np.cos(0.03), roughness=1e-6, half_angle_rad=DELTA) < 1e-4


@pytest.mark.parametrize("angle_deg", [0.0, 20.0, 60.0, 85.0])
def test_a_rough_surface_keeps_its_lobe(angle_deg):
    c = np.cos(np.deg2rad(angle_deg))
    lobe = sn.optics.ggx_monostatic(c, n=1.5, roughness=0.3) / sn.optics.fresnel(1.0, n=1.5)
    assert sn.optics.mirror_glint(c, roughness=0.3, half_angle_rad=DELTA) == pytest.approx(float(lobe), rel=1e-4)


def test_it_never_exceeds_its_peak_and_float32_agrees():
    roughness = np.geomspace(1e-6, 0.7, 60)
    tilt = np.linspace(0, 0.02, 40)[:, None]
    rho = sn.optics.mirror_glint(np.cos(tilt), roughness=roughness, half_angle_rad=DELTA)
    cone2, alpha2 = np.tan(DELTA / 2) ** 2, 2 * roughness**2
    assert (rho <= 1 / (4 * np.pi * (alpha2 + 2 * cone2)) * (1 + 1e-12)).all()
    arguments = np.broadcast_arrays(np.cos(tilt) ** 2, np.sin(tilt) ** 2, alpha2, cone2)
    single = [glint_back(*np.float32(row)) for row in zip(*(a.ravel() for a in arguments), strict=True)]
    seen = rho.ravel() > 1e-3
    np.testing.assert_allclose(np.array(single)[seen], rho.ravel()[seen], rtol=2e-4)


def test_a_beam_needs_a_width():
    with pytest.raises(SpecError, match="half_angle_rad"):
        sn.optics.mirror_glint(1.0, roughness=0.1, half_angle_rad=0.0)

"""Cross-sections: the reference values of physics.md 12, symmetry, and the surface integral they stand for."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics import radio

WAVE = {"wavelength_m": 299792458.0 / 77e9}


def unit(*xyz):
    return np.array(xyz) / np.linalg.norm(xyz)


def test_reference_values(printed):
    assert radio.plate(0.1, 0.1, **WAVE) == printed("82.899")
    assert radio.corner(0.1, **WAVE) == printed("27.633")
    assert radio.sphere(0.5, **WAVE) == pytest.approx(np.pi * 0.25)


def test_a_plate_off_its_normal_is_the_integral_over_its_face():
    """sigma = 4 pi / lambda^2 |integral of n_x exp(2 i k n . r) dA|^2, by the midpoint rule."""
    width, height, n = 0.1, 0.06, unit(1.0, 0.02, -0.013)
    y, z = (np.arange(400) + 0.5) / 400.0 - 0.5, (np.arange(400) + 0.5) / 400.0 - 0.5
    phase = 4.0 * np.pi / WAVE["wavelength_m"] * (n[1] * width * y[:, None] + n[2] * height * z[None, :])
    total = np.mean(np.exp(1j * phase)) * width * height * n[0]
    expected = 4.0 * np.pi / WAVE["wavelength_m"] ** 2 * abs(total) ** 2
    assert radio.plate(width, height, n, **WAVE) == pytest.approx(expected, rel=1e-3)


def test_a_cylinder_from_the_side_and_from_its_end():
    side = radio.cylinder(0.05, 1.0, (0.6, 0.8, 0.0), **WAVE)
    assert side == pytest.approx(2.0 * np.pi * 0.05 / WAVE["wavelength_m"], rel=1e-12)
    end = radio.cylinder(0.05, 1.0, (0.0, 0.0, -1.0), **WAVE)
    assert end == pytest.approx(4.0 * np.pi * (np.pi * 0.05**2 / WAVE["wavelength_m"]) ** 2, rel=1e-12)
    assert radio.cylinder(0.05, 1.0, unit(1.0, 0.0, 0.05), **WAVE) < 0.01 * side


def test_a_box_from_each_side_is_that_side():
    for axis, (a, b) in enumerate([(0.2, 0.3), (0.3, 0.1), (0.1, 0.2)]):
        direction = np.eye(3)[axis]
        expected = radio.plate(a, b, **WAVE)
        assert radio.box(0.1, 0.2, 0.3, direction, **WAVE) == pytest.approx(expected, rel=1e-3)


def test_a_corner_reflects_widely_and_not_backwards():
    ahead = radio.corner(0.1, **WAVE)
    aside = radio.corner(0.1, unit(np.cos(0.34), np.sin(0.34), 0.0), **WAVE)
    assert aside / ahead == pytest.approx(0.5, abs=0.02)  # its lobe is known to be about 40 degrees wide
    assert radio.corner(0.1, (-1.0, 0.0, 0.0), **WAVE) == 0.0
    edge = np.array([1.0 / np.sqrt(3.0), 0.0, np.sqrt(2.0 / 3.0)])
    assert radio.corner(0.1, edge, **WAVE) == pytest.approx(0.0, abs=1e-9)

    # Both formulas meet where one takes over from the other, l + m = n
    middle = np.linspace(0.0, 1.2, 2000)
    sweep = radio.corner(0.1, np.stack([np.cos(middle), np.sin(middle), 0 * middle], axis=-1), **WAVE)
    assert np.abs(np.diff(sweep)).max() < 0.01 * ahead


def test_no_direction_gives_a_negative_area():
    rng = np.random.default_rng(1)
    n = rng.normal(size=(2000, 3))
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    for found in (radio.corner(0.2, n, **WAVE), radio.box(1, 2, 3, n, **WAVE), radio.cylinder(0.1, 2, n, **WAVE)):
        assert found.shape == (2000,)
        assert (found >= 0.0).all()


def test_a_small_sphere_is_refused():
    with pytest.raises(SpecError, match=r"radius_m is 0\.001"):
        radio.sphere(0.001, **WAVE)

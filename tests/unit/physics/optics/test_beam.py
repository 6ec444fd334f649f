import numpy as np
import pytest
from scipy import integrate, special

from sensorium.core.errors import SpecError
from sensorium.physics import optics

# R, r_D, E, theta_D, x, w, exact, eq. (20), eq. (21) before it is clipped
TABLE = [
    (0.01, 0.0, 0.01, 1.5e-3, 0, "0.0100", "0.864665", "0.864665", "1.000000"),
    (0.01, 0.0, 0.01, 1.5e-3, 5, "0.0175", "0.479550", "0.479550", "0.554608"),
    (0.01, 0.0, 0.01, 1.5e-3, 50, "0.0850", "2.73020e-2", "2.73020e-2", "3.15752e-2"),
    (0.01, 0.0, 0.01, 1.5e-3, 200, "0.3100", "2.07900e-3", "2.07900e-3", "2.40440e-3"),
    (0.02, 0.0, 0.01, 1.5e-3, 0, "0.0100", "0.999665", "0.999665", "1.156130"),
    (0.01, 0.02, 0.005, 1.5e-3, 1, "0.0065", "7.09763e-4", "5.927e-9", "6.855e-9"),
    (0.01, 0.02, 0.005, 1.5e-3, 10, "0.0200", "8.18923e-2", "5.32504e-2", "6.15850e-2"),
    (0.01, 0.02, 0.005, 1.5e-3, 50, "0.0800", "2.72043e-2", "2.71515e-2", "3.14012e-2"),
    (0.01, 0.005, 0.01, 3e-3, 10, "0.0400", "0.114105", "0.113887", "0.131713"),
    (0.0042, 0.03, 0.0042, 2.25e-3, 100, "0.2292", "6.48748e-4", "6.48741e-4", "7.50280e-4"),
]


@pytest.mark.parametrize(("R", "r_D", "E", "theta", "x", "w", "exact", "eq20", "eq21"), TABLE)
def test_reference_values(printed, R, r_D, E, theta, x, w, exact, eq20, eq21):
    beam = {"exit_radius_m": E, "half_divergence_rad": theta}
    assert optics.beam_radius(x, **beam) == printed(w)
    detector = {"detector_radius_m": R, "detector_offset_m": r_D}
    assert optics.captured_fraction(x, **detector, **beam) == printed(exact)
    agx = optics.captured_fraction(x, **detector, **beam, model="agx")
    if float(eq21) < 1:
        assert agx == printed(eq21)
        assert agx * (1 - np.exp(-2)) == printed(eq20)
    else:
        assert agx == 1.0


def marcum(w, R, r_D):
    return special.chndtr(4 * R**2 / w**2, 2, 4 * r_D**2 / w**2)


@pytest.mark.parametrize("r_D", [0.0, 0.003, 0.01, 0.02])
def test_round_beams_follow_the_non_central_chi_square_law(r_D):
    w = np.logspace(-3.5, 2, 200)
    ours = optics.captured_fraction(0.0, detector_radius_m=0.01, detector_offset_m=r_D, exit_radius_m=w,
                                    half_divergence_rad=0.0)  # fmt: skip
    np.testing.assert_allclose(ours, marcum(w, 0.01, r_D), rtol=1e-9, atol=1e-20)


@pytest.mark.parametrize("r_D", [0.0, 0.012])
@pytest.mark.parametrize(("E", "x_rad", "y_rad"), [(0.01, 3e-3, 1e-3), (0.001, 1e-4, 5e-3), (0.003, 4e-3, 4e-4)])
def test_elliptic_beams_against_the_double_integral(r_D, E, x_rad, y_rad):
    z, R = 5.0, 0.01
    w_x, w_y = E + z * np.tan(x_rad), E + z * np.tan(y_rad)

    def density(y, x):
        return 2 / (np.pi * w_x * w_y) * np.exp(-2 * (x / w_x) ** 2 - 2 * (y / w_y) ** 2)

    def chord(x):
        return np.sqrt(max(R**2 - (x - r_D) ** 2, 0.0))

    expected, _ = integrate.dblquad(density, r_D - R, r_D + R, lambda x: -chord(x), chord, epsrel=1e-9, epsabs=1e-14)
    ours = optics.captured_fraction(
        z,
        detector_radius_m=R,
        detector_offset_m=r_D,
        exit_radius_m=E,
        half_divergence_rad=x_rad,
        half_divergence_y_rad=y_rad,
    )
    assert ours == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("model", ["exact", "agx"])
def test_a_beam_without_width_lands_whole_or_not_at_all(model):
    offsets = np.array([0.0, 0.005, 0.01, 0.02])
    share = optics.captured_fraction(0.0, detector_radius_m=0.01, detector_offset_m=offsets, exit_radius_m=0.0,
                                     half_divergence_rad=1e-3, model=model)  # fmt: skip
    assert share.tolist() == [1.0, 1.0, 0.0, 0.0]


def test_far_field():
    R, r_D, theta, z = 0.01, 0.02, 1e-3, 3000.0
    w = z * np.tan(theta)
    share = optics.captured_fraction(z, detector_radius_m=R, detector_offset_m=r_D, exit_radius_m=0.0,
                                     half_divergence_rad=theta)  # fmt: skip
    assert share == pytest.approx(2 * R**2 / w**2 * np.exp(-2 * r_D**2 / w**2), rel=1e-4)


GOOD = {"z_m": 1.0, "detector_radius_m": 0.01, "exit_radius_m": 0.01, "half_divergence_rad": 1e-3}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"z_m": -1.0}, "z_m is -1; it must be finite and at least 0"),
        ({"detector_radius_m": 0.0}, "detector_radius_m is 0; it must be finite and above 0"),
        ({"detector_offset_m": -0.1}, "detector_offset_m is -0.1; it must be finite and at least 0"),
        ({"exit_radius_m": -0.1}, "exit_radius_m is -0.1; it must be finite and at least 0"),
        ({"half_divergence_rad": 2.0}, "half_divergence_rad is 2; it must be finite and at least 0 and at most 1.5"),
        ({"model": "fast"}, "model is 'fast'; it must be exact or agx"),
        ({"model": "agx", "half_divergence_y_rad": 2e-3}, "the agx model knows round beams only"),
    ],
)
def test_bad_input(change, message):
    with pytest.raises(SpecError, match=message):
        optics.captured_fraction(**{**GOOD, **change})

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics import optics


def test_reference_values(printed):
    through, back = optics.pane(1.0, n=1.5)
    assert through == printed("0.923077")
    assert back == printed("0.076923")
    assert through**2 == printed("0.852071")
    # Two faces without what goes to and fro between them, out and back
    assert optics.fresnel_transmittance(1.0, n=1.5) ** 4 == printed("0.849347")


def test_clear_glass_keeps_all_light():
    c, n = np.meshgrid(np.linspace(0, 1, 30), [1.0, 1.3, 1.5, 2.0])
    through, back = optics.pane(c, n=n)
    np.testing.assert_allclose(through + back, 1.0, rtol=1e-12)


def test_it_is_the_sum_of_all_inner_reflections():
    c, n, depth = 0.4, 1.5, 0.3
    R = optics.fresnel(c, n=n)
    a = np.exp(-depth / np.sqrt(1 - (1 - c**2) / n**2))
    bounces = (R * a) ** np.arange(60)
    through, back = optics.pane(c, n=n, optical_depth=depth)
    assert through == pytest.approx(np.sum((1 - R) ** 2 * a * bounces[::2]), rel=1e-12)
    assert back == pytest.approx(R + np.sum((1 - R) ** 2 * a * bounces[1::2]), rel=1e-12)
    assert through + back < 1


def test_black_glass_shows_only_its_front():
    through, back = optics.pane(0.7, n=1.5, optical_depth=1e3)
    assert through == 0.0
    assert back == optics.fresnel(0.7, n=1.5)


def test_grazing_light_is_all_reflected():
    through, back = optics.pane(0.0, n=1.5)
    assert through == pytest.approx(0.0, abs=1e-15)
    assert back == pytest.approx(1.0, rel=1e-12)


def test_optical_path_grows():
    assert optics.pane_path(1.0, n=1.5, thickness_m=0.006) == pytest.approx(0.003)
    slanted = 0.003 / np.sqrt(1 - 0.75 / 1.5**2)
    assert optics.pane_path(0.5, n=1.5, thickness_m=0.006) == pytest.approx(slanted)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n": 0.9}, "n is 0.9; it must be finite and at least 1"),
        ({"optical_depth": -0.1}, "optical_depth is -0.1; it must be finite and at least 0"),
        ({"cos_theta": 1.2}, "cos_theta is 1.2"),
    ],
)
def test_bad_input(change, message):
    with pytest.raises(SpecError, match=message):
        optics.pane(**{"cos_theta": 1.0, "n": 1.5, **change})
    with pytest.raises(SpecError, match="thickness_m is -1"):
        optics.pane_path(1.0, n=1.5, thickness_m=-1)

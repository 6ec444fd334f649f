"""Primary aberrations against finite differences, thin lenses and the closed forms of single terms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensorium.core.errors import SpecError
from sensorium.physics import optics
from sensorium.physics.optics import Seidel
from sensorium.physics.optics.lenses.seidel import deviation_slopes

LENS = Seidel(spherical=1.1, astigmatism=0.7, curvature=-0.4, distortion=0.25, coma=0.9)
FIELD, PUPIL = (0.3, -0.2), (0.5, 0.7)


def test_the_reference_vector(printed):
    found = optics.deviation(FIELD, PUPIL, LENS, image_distance_m=1.3, defocus_per_m=0.3)
    assert found[0] == printed("-2.728375")
    assert found[1] == printed("-3.245450")


@given(*(st.floats(-1.0, 1.0) for _ in range(4)))
def test_a_ray_misses_by_the_gradient_of_the_wavefront(x, y, xp, yp):
    step = 1e-6
    gradient = [
        (
            optics.wavefront((x, y), (xp + dx, yp + dy), LENS, defocus_per_m=0.3)
            - optics.wavefront((x, y), (xp - dx, yp - dy), LENS, defocus_per_m=0.3)
        )
        / (2.0 * step)
        for dx, dy in ((step, 0.0), (0.0, step))
    ]
    found = optics.deviation((x, y), (xp, yp), LENS, image_distance_m=1.3, defocus_per_m=0.3)
    np.testing.assert_allclose(found, -1.3 * np.array(gradient), atol=1e-8)


@given(*(st.floats(-1.0, 1.0) for _ in range(4)))
def test_the_wavefront_is_even_in_field_and_pupil_together(x, y, xp, yp):
    there = optics.wavefront((x, y), (xp, yp), LENS, defocus_per_m=0.3)
    back = optics.wavefront((-x, -y), (-xp, -yp), LENS, defocus_per_m=0.3)
    assert there == pytest.approx(back, abs=1e-15)


def test_blur_out_of_focus_is_that_of_a_thin_lens(printed):
    f, d, a, r = 6e-3, 6.05e-3, 1.5e-3, 2.0
    assert optics.in_focus_distance(f, d) == printed("0.726")
    assert optics.blur_radius(f, d, a, r) * 1e6 == printed("7.9625")
    image_m = 1.0 / (1.0 / f - 1.0 / r)
    assert optics.blur_radius(f, d, a, r) == pytest.approx(a * abs(d - image_m) / image_m, rel=1e-12)

    # The ray through the pupil's edge misses by as much
    A = optics.defocus(optics.in_focus_distance(f, d), r)
    miss = optics.deviation((0.0, 0.0), (a, 0.0), Seidel(), image_distance_m=d, defocus_per_m=A)
    assert np.hypot(*miss) == pytest.approx(optics.blur_radius(f, d, a, r), rel=1e-12)


def test_defocus_vanishes_in_focus_and_has_its_limit_at_infinity():
    assert optics.defocus(0.726, 0.726) == 0.0
    assert optics.defocus(np.inf, 2.0) == -0.25
    assert optics.defocus(2.0, np.inf) == 0.25


def test_the_chief_ray_is_moved_by_distortion_alone_as_by_browns_k1():
    miss = optics.deviation(FIELD, (0.0, 0.0), LENS, image_distance_m=1.3, defocus_per_m=0.3)
    h2 = 0.3**2 + 0.2**2
    np.testing.assert_allclose(miss, -1.3 * 0.25 * h2 * np.array(FIELD), rtol=1e-12)

    # In units of the image distance, x' = x (1 + k1 r^2) with k1 = -R E
    f = 1.3
    distorted = f * optics.brown_distorted(np.array(FIELD) / f, (-f * 0.25 * f**2, 0.0, 0.0, 0.0, 0.0))
    np.testing.assert_allclose(np.array(FIELD) + miss, distorted, rtol=1e-12)


def test_a_ring_of_the_pupil_makes_comas_circle():
    angle = np.linspace(0.0, 2.0 * np.pi, 64, endpoint=False)
    ring = 0.4 * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    miss = optics.deviation((0.3, 0.0), ring, Seidel(coma=0.9), image_distance_m=1.3)
    expected = -1.3 * 0.9 * 0.3 * 0.4**2 * np.stack([2.0 + np.cos(2.0 * angle), np.sin(2.0 * angle)], axis=-1)
    np.testing.assert_allclose(miss, expected, atol=1e-15)


def test_spherical_aberration_grows_with_the_cube_of_the_pupils_radius():
    for radius in (0.1, 0.2, 0.5):
        miss = optics.deviation((0.3, 0.1), (0.0, radius), Seidel(spherical=-1.1), image_distance_m=1.3)
        assert np.hypot(*miss) == pytest.approx(4.0 * 1.3 * 1.1 * radius**3, rel=1e-12)


def test_an_image_plane_before_the_focus_is_refused():
    for d in (6e-3, 5e-3):
        with pytest.raises(SpecError, match=f"pupil_distance_m is {d} and focal_length_m 0.006; .* d > f > 0"):
            optics.in_focus_distance(6e-3, d)


def test_shapes_are_refused_by_name():
    with pytest.raises(SpecError, match=r"pupil has shape \(3,\); its last axis must have 2 entries"):
        optics.deviation((0.0, 0.0), (1.0, 2.0, 3.0), LENS, image_distance_m=1.0)


def test_slopes_of_the_deviation_are_its_differences_over_the_field():
    rng = np.random.default_rng(9)
    field, pupil = rng.normal(size=(20, 2)), rng.normal(size=(20, 2))
    lens, step = optics.Seidel(*rng.normal(size=5)), 1e-6
    found = deviation_slopes(field, pupil, lens, image_distance_m=1.3)
    along = [
        (
            optics.deviation(field + d, pupil, lens, image_distance_m=1.3)
            - optics.deviation(field - d, pupil, lens, image_distance_m=1.3)
        )
        / (2 * step)
        for d in step * np.eye(2)
    ]
    expected = along[0][:, 0], along[1][:, 0], along[0][:, 1], along[1][:, 1]
    np.testing.assert_allclose(found, expected, atol=1e-6)

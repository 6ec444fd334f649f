"""Brown's distortion and its inverse."""

import numpy as np
import pytest
from scipy import ndimage

from sensorium.core.errors import SpecError
from sensorium.physics import optics

LENS = (-0.28, 0.07, 1e-3, -5e-4, -0.01)


def test_the_inverse_undoes_it_over_a_whole_image():
    x, y = np.meshgrid(np.linspace(-0.6, 0.6, 41), np.linspace(-0.45, 0.45, 31))
    ideal = np.stack([x, y], axis=-1)
    np.testing.assert_allclose(optics.brown_ideal(optics.brown_distorted(ideal, LENS), LENS), ideal, atol=1e-10)


def test_the_terms_are_those_of_plumb_bob():
    """A point worked by hand: x = 0.2, y = 0.1, q = 0.05."""
    found = optics.brown_distorted((0.2, 0.1), (0.1, 0.2, 0.01, 0.02, 0.3))
    radial = 1.0 + 0.1 * 0.05 + 0.2 * 0.05**2 + 0.3 * 0.05**3
    assert found[0] == pytest.approx(0.2 * radial + 2.0 * 0.01 * 0.02 + 0.02 * (0.05 + 2.0 * 0.04), rel=1e-14)
    assert found[1] == pytest.approx(0.1 * radial + 0.01 * (0.05 + 2.0 * 0.01) + 2.0 * 0.02 * 0.02, rel=1e-14)


def test_a_polynomial_that_turns_back_is_refused():
    with pytest.raises(SpecError, match=r"no ray comes to the image point \(2, 0\) with distortion .* grow outwards"):
        optics.brown_ideal((2.0, 0.0), (-0.5, 0.0, 0.0, 0.0, 0.0))


def test_five_coefficients_are_needed():
    with pytest.raises(SpecError, match=r"distortion is \(0.1,\); it must be five numbers"):
        optics.brown_distorted((0.0, 0.0), (0.1,))


# --- lenses that fold -------------------------------------------------------------------------------------------------

HALF = np.array([0.6, 0.45])


def worst_determinant(k, low, high, *, grid=401, wide=5.0):
    """Least det J over the ideal points that hang together with the axis and come to lie in the image: labeled on a
    fine grid, with derivatives by differences. None where the grid is too small to hold them all."""
    side = wide * np.abs([low, high]).max()
    line = np.linspace(-side, side, grid)
    x, y = np.meshgrid(line, line)
    image = optics.brown_distorted(np.stack([x, y], axis=-1), k)
    ay, ax = np.gradient(image, line, line, axis=(0, 1))
    det = ax[..., 0] * ay[..., 1] - ax[..., 1] * ay[..., 0]
    label, _ = ndimage.label(((image >= low) & (image <= high)).all(axis=-1))
    own = label == label[grid // 2, grid // 2]
    if own[0].any() or own[-1].any() or own[:, 0].any() or own[:, -1].any() or own.sum() < 2000:
        return None
    return det[own].min()


def refused(k, low, high):
    try:
        optics.check_brown_field(low, high, k)
    except SpecError:
        return True
    return False


@pytest.mark.parametrize("tangential", [0.0, 0.02, 0.3], ids=["radial", "little", "much"])
def test_random_lenses_are_refused_where_their_jacobian_says_so(tangential):
    rng = np.random.default_rng(int(1000 * tangential))
    told = {True: 0, False: 0}
    for _ in range(70):
        k1, k2, k3 = rng.normal(size=3) * np.array([0.6, 0.8, 0.8])
        p1, p2 = tangential * rng.normal(size=2)
        k = (k1, k2, p1, p2, k3)
        worst = worst_determinant(k, -HALF, HALF)
        if worst is None or abs(worst) < 0.06:
            continue  # within the width of the grid
        told[worst < 0.0] += 1
        assert refused(k, -HALF, HALF) == (worst < 0.0), (k, worst)
    assert min(told.values()) > 10, told


def test_what_is_accepted_has_a_ray_for_every_pixel_and_neighbors_look_alongside():
    """The inverse undoes the lens all over the image, on one branch: orientations are kept from pixel to pixel."""
    rng = np.random.default_rng(8)
    x, y = np.meshgrid(np.linspace(-HALF[0], HALF[0], 61), np.linspace(-HALF[1], HALF[1], 47))
    wanted, hard = np.stack([x, y], axis=-1), 0
    for _ in range(60):
        k1, k2, k3 = rng.normal(size=3) * np.array([0.8, 1.5, 2.0])
        k = (k1, k2, *(0.1 * rng.normal(size=2)), k3)
        if refused(k, -HALF, HALF):
            continue
        ideal = optics.brown_ideal(wanted, k)
        np.testing.assert_allclose(optics.brown_distorted(ideal, k), wanted, atol=1e-9)
        right, down = np.diff(ideal, axis=1)[:-1], np.diff(ideal, axis=0)[:, :-1]
        assert (right[..., 0] * down[..., 1] - right[..., 1] * down[..., 0] > 0.0).all(), k
        np.testing.assert_allclose(ideal[23, 30], 0.0, atol=1e-12)
        hard += np.abs(ideal).max() > 1.3 * HALF[0]
    assert hard > 3


@pytest.mark.parametrize("strength", [1.001, 2.0, 1e2, 1e4, 1e6])
def test_a_barrel_that_folds_a_corner_is_refused_at_any_strength(strength):
    """R' = r + k1 r^3 is greatest, 2/3 r, at r = 1 / sqrt(-3 k1): the corner folds where k1 < -4 / 27 / corner^2."""
    just = -4.0 / 27.0 / (HALF**2).sum()
    assert refused((strength * just, 0.0, 0.0, 0.0, 0.0), -HALF, HALF)
    assert not refused((0.999 * just, 0.0, 0.0, 0.0, 0.0), -HALF, HALF)
    assert not refused((-strength * just, 0.0, 0.0, 0.0, 0.0), -HALF, HALF)


def test_a_second_turn_of_the_radius_does_not_hide_the_first():
    """R' falls between two radii and rises again; the corner lies where it has risen, and Newton's method ends there
    with a positive determinant."""
    k = (-1.2, 0.0, 0.0, 0.0, 0.5)
    r = np.linspace(0.0, 1.6, 2000)
    image = optics.brown_distorted(np.stack([r, 0 * r], -1), k)[:, 0]
    turns = np.flatnonzero(np.diff(np.sign(np.diff(image))))
    assert len(turns) == 2
    most = image[turns[0]]
    with pytest.raises(SpecError, match="no ray comes to the image point"):
        optics.brown_ideal((most * 1.01, 0.0), k)
    assert refused(k, (-most * 1.01, -0.01), (most * 1.01, 0.01))
    assert not refused(k, (-most * 0.99, -0.01), (most * 0.99, 0.01))
    assert optics.brown_ideal((most * 0.99, 0.0), k)[0] < r[turns[0]]


def test_an_image_aside_from_the_principal_point_is_asked_as_far_as_it_reaches():
    k = (-0.3, 0.0, 1e-3, 2e-3, 0.0)
    most = 2.0 / 3.0 / np.sqrt(0.9)
    assert not refused(k, (0.3, -0.1), (0.9 * most, 0.1))
    assert refused(k, (0.3, -0.1), (1.1 * most, 0.1))
    assert refused(k, (1.1 * most, -0.1), (1.2 * most, 0.1))

"""How curved mirrors spread light, against closed forms and against rays that are traced by themselves."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics import optics
from sensorium.physics.optics.surfaces import mirror_spread as spread
from sensorium.tracing.reference.pencil import Pencil


def test_a_flat_mirror_changes_nothing():
    rng = np.random.default_rng(0)
    before, after, cosine = rng.uniform(0, 50, 100), rng.uniform(0, 50, 100), rng.uniform(0, 1, 100)
    found = optics.mirrored_distance(before, after, cos_theta=cosine)
    np.testing.assert_allclose(found, before + after, rtol=1e-15)


def test_a_sphere_straight_on_is_a_lens_of_half_its_radius():
    """Behind a convex mirror light seems to come from 1 / (1 / z1 + 2 / R) behind it."""
    z1, s, radius = 5.0, 8.0, 0.3
    image = 1.0 / (1.0 / z1 + 2.0 / radius)
    found = optics.mirrored_distance(z1, s, along_per_m=1 / radius, across_per_m=1 / radius)
    assert found == pytest.approx(z1 / image * (image + s))
    assert found == pytest.approx(z1 + s + 2 * z1 * s / radius)


def test_a_hollow_mirror_focuses():
    """The center of a hollow sphere is its own image; a source in its focus gives a beam that no longer widens."""
    assert optics.mirrored_distance(2.0, 2.0, along_per_m=-0.5, across_per_m=-0.5) == pytest.approx(0.0, abs=1e-12)
    for s in (0.0, 3.0, 50.0):
        assert optics.mirrored_distance(1.0, s, along_per_m=-0.5, across_per_m=-0.5) == pytest.approx(1.0)


def test_arguments_are_checked():
    with pytest.raises(SpecError, match="before_m is -1"):
        optics.mirrored_distance(-1.0, 1.0)
    with pytest.raises(SpecError, match="along_per_m is nan"):
        optics.mirrored_distance(1.0, 1.0, along_per_m=np.nan)


def bent_surface(rng):
    """A frame (u, v, normal) and a curvature tensor in it: the surface z = -(k11 x^2 + 2 k12 x y + k22 y^2) / 2."""
    frame, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    frame *= np.sign(np.linalg.det(frame))
    k = rng.uniform(-1, 3, 3) * rng.choice([0.1, 1.0])
    return frame, np.array([[k[0], k[1] / 2], [k[1] / 2, k[2]]])


def traced(origin, direction, frame, k):
    """Where a ray meets that surface and where it goes on, by Newton's method."""
    o, d, t = frame.T @ origin, frame.T @ direction, 0.0
    t = -o[2] / d[2]
    for _ in range(50):
        x = o + t * d
        t -= (x[2] + 0.5 * x[:2] @ k @ x[:2]) / (d[2] + x[:2] @ k @ d[:2])
    x = o + t * d
    n = np.array([*(k @ x[:2]), 1.0])
    n /= np.linalg.norm(n)
    return t, frame @ x, frame @ (d - 2 * (d @ n) * n)


@pytest.mark.parametrize("seed", range(40))
def test_rays_next_to_each_other(seed):
    """Rays some microradians apart, traced by themselves, end where the pencil says; wavefronts say the same."""
    rng = np.random.default_rng(seed)
    frame, k = bent_surface(rng)
    normal, z1, s = frame[:, 2], rng.uniform(0.5, 6), rng.uniform(0.5, 6)
    axis = rng.normal(size=3)
    axis /= -np.sign(axis @ normal) * np.linalg.norm(axis)  # towards the outer side
    if abs(axis @ normal) < 0.2:
        axis = -normal
    origin = -z1 * axis

    # Traced: central differences of where rays cross the plane across the mirrored axis, at s
    t, met, onward = traced(origin, axis, frame, k)
    assert t == pytest.approx(z1)
    basis, step = np.linalg.svd(axis[None])[2][1:].T, 2e-6
    ends = []
    for side in range(2):
        for sign in (1, -1):
            tilted = axis + sign * step * basis[:, side]
            _, x, r = traced(origin, tilted / np.linalg.norm(tilted), frame, k)
            ends.append(x + r * ((met + s * onward - x) @ onward) / (r @ onward))
    b = np.stack([ends[0] - ends[1], ends[2] - ends[3]], axis=1) / (2 * step)
    expected = np.sqrt(np.linalg.norm(np.cross(*b.T)))

    # The pencil of the reference
    tensor = frame[:, :2] @ k @ frame[:, :2].T
    pencil = Pencil.from_point(axis, z1).mirrored(normal, tensor, 1.0)
    np.testing.assert_allclose(pencil.axis, onward, atol=1e-12)
    assert pencil.along(s).distance_m == pytest.approx(expected, rel=1e-5)

    # The wavefront of kernels
    axes = np.array(spread.axes_across.py_func(*normal)).reshape(2, 3)
    k11, k12, k22 = (axes[i] @ tensor @ axes[j] for i, j in ((0, 0), (0, 1), (1, 1)))
    c = spread.curvature_mirrored.py_func((1 / z1, 0.0, 1 / z1), axis, normal, (k11, k12, k22), 1.0)
    assert z1 * np.sqrt(abs(spread.spread_along.py_func(*c, s))) == pytest.approx(expected, rel=1e-5)

    # The closed form, in the plane of incidence
    across = np.cross(normal, axis)
    across = frame[:, 0] if np.linalg.norm(across) < 1e-9 else across / np.linalg.norm(across)
    along = np.cross(across, normal)
    found = optics.mirrored_distance(
        z1,
        s,
        cos_theta=-axis @ normal,
        along_per_m=along @ tensor @ along,
        across_per_m=across @ tensor @ across,
        mixed_per_m=along @ tensor @ across,
    )
    assert found == pytest.approx(expected, rel=1e-5)


def test_chains_of_mirrors_and_turns():
    """Wavefronts against pencils over ten bounces, with turns between as boundaries make them, in media and without."""
    rng = np.random.default_rng(3)
    for _ in range(50):
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        z = rng.uniform(0.5, 3)
        pencil, c = Pencil.from_point(axis, z), (1 / z, 0.0, 1 / z)
        for bounce in range(10):
            if bounce % 3 == 2:
                turned = axis + 0.4 * rng.normal(size=3)
                turned /= np.linalg.norm(turned)
                pencil, c = pencil.turned(turned), spread.curvature_turned.py_func(c, axis, turned)
            else:
                frame, k = bent_surface(rng)
                tensor, normal, index = frame[:, :2] @ k @ frame[:, :2].T, frame[:, 2], rng.uniform(1, 1.5)
                axes = np.array(spread.axes_across.py_func(*normal)).reshape(2, 3)
                side = -np.sign(axis @ normal)
                ks = [side * axes[i] @ tensor @ axes[j] for i, j in ((0, 0), (0, 1), (1, 1))]
                pencil = pencil.mirrored(normal, tensor, 1 / index)
                c = spread.curvature_mirrored.py_func(c, axis, normal, ks, 1 / index)
            axis, s = pencil.axis, rng.uniform(0.1, 3)
            z *= np.sqrt(abs(spread.spread_along.py_func(*c, s)))
            c, pencil = spread.curvature_along.py_func(*c, s), pencil.along(s)
            assert z == pytest.approx(pencil.distance_m, rel=1e-6)
            assert z**2 * abs(c[0] * c[2] - c[1] ** 2) == pytest.approx(pencil.opening, rel=1e-6)


def test_a_focus_is_passed_without_infinities():
    c = spread.curvature_along.py_func(-1.0, 0.0, -1.0, 1.0)
    assert np.isfinite(c).all()
    assert spread.spread_along.py_func(-1.0, 0.0, -1.0, 1.0) == 0.0

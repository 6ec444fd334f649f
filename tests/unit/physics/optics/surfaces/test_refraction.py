import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensorium.core.errors import SpecError
from sensorium.physics import optics
from sensorium.physics.optics.surfaces.refraction import mirrored, refracted_cosine


def unit(*shape, seed=0):
    vectors = np.random.default_rng(seed).normal(size=(*shape, 3))
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def facing(d, n):
    """The normals, turned to the side the rays come from."""
    return np.where(np.sum(d * n, axis=-1, keepdims=True) > 0, -n, n)


@given(seed=st.integers(0, 2**31), n1=st.floats(1.0, 2.5), n2=st.floats(1.0, 2.5))
def test_snells_law(seed, n1, n2):
    d, n = unit(8, seed=seed), unit(8, seed=seed + 1)
    n = facing(d, n)
    t, total = optics.refract(d, n, n_from=n1, n_to=n2)
    before, after = np.cross(d, n) * n1, np.cross(t, n) * n2
    # n1 d x n = n2 t x n holds the sine's law and the plane of incidence; light goes on to the other side
    np.testing.assert_allclose(after[~total], before[~total], atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(t[~total], axis=-1), 1.0, rtol=1e-12)
    assert np.all(np.sum(t * n, axis=-1)[~total] <= 0)
    np.testing.assert_array_equal(total, np.linalg.norm(before, axis=-1) > n2)


def test_the_way_back_is_the_way_out():
    d, n = unit(20), unit(20, seed=1)
    n = facing(d, n)
    t, _ = optics.refract(d, n, n_from=1.0, n_to=1.5)
    back, total = optics.refract(-t, -n, n_from=1.5, n_to=1.0)
    assert not total.any()
    np.testing.assert_allclose(back, -d, atol=1e-12)


def test_total_reflection_is_flagged():
    angle = np.radians([41.8, 41.9])
    d = np.stack([np.sin(angle), 0 * angle, -np.cos(angle)], axis=-1)
    t, total = optics.refract(d, (0, 0, 1), n_from=1.5, n_to=1.0)
    assert total.tolist() == [False, True]
    assert np.all(np.isfinite(t[0]))
    assert np.all(np.isnan(t[1]))


def test_mirror_direction():
    d, n = unit(20), unit(20, seed=1)
    r = optics.reflect(d, n)
    np.testing.assert_allclose(np.sum(r * n, axis=-1), -np.sum(d * n, axis=-1), atol=1e-12)
    np.testing.assert_allclose(np.cross(r, n), np.cross(d, n), atol=1e-12)
    np.testing.assert_allclose(optics.reflect(d, -n), r, atol=1e-12)


def test_the_scalars_do_the_same():
    d, n = unit(5), unit(5, seed=1)
    n = facing(d, n)
    t, total = optics.refract(d, n, n_from=1.5, n_to=1.0)
    for i in range(5):
        cosine = refracted_cosine(-d[i] @ n[i], 1.5)
        assert (cosine < 0.0) == total[i]
        if not total[i]:
            assert cosine == pytest.approx(-t[i] @ n[i], abs=1e-12)
        np.testing.assert_allclose(mirrored(*d[i], *n[i]), optics.reflect(d[i], n[i]), atol=1e-12)
    assert 0 < total.sum() < 5


def test_bad_input():
    with pytest.raises(SpecError, match=r"direction . normal is 1; the normal must stand on the side"):
        optics.refract((0, 0, 1), (0, 0, 1), n_from=1.0, n_to=1.5)
    with pytest.raises(SpecError, match="n_to is 0; it must be finite and above 0"):
        optics.refract((0, 0, -1), (0, 0, 1), n_from=1.0, n_to=0.0)
    with pytest.raises(SpecError, match="direction has length 2"):
        optics.refract((0, 0, -2), (0, 0, 1), n_from=1.0, n_to=1.5)

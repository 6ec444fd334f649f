import numpy as np
import pytest

from sensorium.physics.optics.quadrature import gauss_legendre


@pytest.mark.parametrize("count", [1, 2, 5, 96])
def test_polynomials_up_to_twice_the_nodes_are_exact(count):
    node, weight = gauss_legendre(count)
    assert node.shape == weight.shape == (count,)
    for degree in {0, 1, 2 * count - 2, 2 * count - 1}:
        exact = 0.0 if degree % 2 else 2.0 / (degree + 1)
        assert np.sum(weight * node**degree) == pytest.approx(exact, abs=1e-14), degree


def test_the_next_degree_is_not():
    node, weight = gauss_legendre(3)
    assert np.sum(weight * node**6) == pytest.approx(2.0 / 7.0 - 8.0 / 175.0, rel=1e-12)


def test_they_are_found_once_and_nobody_changes_them():
    node, weight = gauss_legendre(7)
    assert gauss_legendre(7)[0] is node
    for array in (node, weight):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0

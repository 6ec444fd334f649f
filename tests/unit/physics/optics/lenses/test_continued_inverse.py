"""Inverse of a map on one branch: it is followed up to a fold, and no farther."""

import numpy as np

from sensorium.physics.optics.lenses.continued_inverse import continued_inverse


def squared(points, _):
    """Complex square: two branches, which meet at 0 alone."""
    x, y = points[:, 0], points[:, 1]
    return np.stack([x * x - y * y, 2 * x * y], -1), (2 * x, -2 * y, 2 * y, 2 * x)


def test_the_branch_is_that_of_the_start():
    rng = np.random.default_rng(1)
    wanted = rng.uniform(-3.0, 3.0, (200, 2))
    wanted = wanted[(wanted[:, 0] > 0.0) | (np.abs(wanted[:, 1]) > 0.1)]  # the line from 1 does not pass by 0
    root = np.sqrt(wanted[:, 0] + 1j * wanted[:, 1])
    expected = np.stack([root.real, root.imag], axis=-1)
    for sign in (1.0, -1.0):
        start = np.broadcast_to([sign, 0.0], wanted.shape)
        found, reached = continued_inverse(squared, start, wanted)
        assert reached.all()
        np.testing.assert_allclose(found, sign * expected, atol=1e-10)


def test_it_ends_at_a_fold():
    """R' = r - r^3 / 3 along x turns back at 1, where it is 2/3."""

    def forward(points, _):
        x, y = points[:, 0], points[:, 1]
        return np.stack([x - x**3 / 3, y], -1), (1 - x * x, 0 * x, 0 * x, np.ones_like(x))

    wanted = np.array([[0.6666, 0.3], [0.6667, 0.3], [5.0, 0.0], [-0.6666, 9.0], [-0.7, 9.0], [0.0, 0.0]])
    found, reached = continued_inverse(forward, np.zeros_like(wanted), wanted)
    np.testing.assert_array_equal(reached, [True, False, False, True, False, True])
    np.testing.assert_allclose(forward(found[reached], None)[0], wanted[reached], atol=1e-11)
    assert (np.abs(found[reached, 0]) < 1.0).all()


def test_each_point_may_have_a_map_of_its_own():
    gain = np.array([0.5, 2.0, -1.0])

    def forward(points, which):
        zero = np.zeros(len(which))
        return points * gain[which, None], (gain[which], zero, zero, np.ones(len(which)) * np.abs(gain[which]))

    found, reached = continued_inverse(forward, np.zeros((3, 2)), np.ones((3, 2)))
    np.testing.assert_array_equal(reached, [True, True, False])  # the last turns the plane over
    np.testing.assert_allclose(found[:2], [[2.0, 2.0], [0.5, 0.5]])

import numpy as np
import pytest

from sensorium.tracing.kernels.bundles.rays import axes_across

UP = np.array([0.0, 0.0, 1.0], np.float32)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0.6, -0.64, 0.48), (0, 0, 1), (0, 0, -1)])
def test_axes_are_square_to_each_other_and_right_handed(axis):
    d = np.array(axis, np.float32)
    across = np.array(axes_across(*d, *UP), float).reshape(2, 3)
    frame = np.stack([d.astype(float), *across])
    np.testing.assert_allclose(frame @ frame.T, np.eye(3), atol=1e-6)
    assert np.linalg.det(frame) == pytest.approx(1.0, abs=1e-6)


def test_the_first_axis_is_level_and_to_the_left():
    left = np.array(axes_across(*np.array([1, 0, 0], np.float32), *UP))[:3]
    np.testing.assert_allclose(left, [0, 1, 0], atol=1e-7)

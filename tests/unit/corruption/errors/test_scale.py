import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.corruption import Scale
from sensorium.corruption.engine.base import Layout


def _applied(scale, signal):
    return scale.apply(signal, time_ns=0, state=scale.init(np.shape(signal), seed=1))[0]


def test_cross_axis_of_two_per_cent_is_a_unit_diagonal_with_it_everywhere_else():
    a = np.full((3, 3), 0.02) + 0.98 * np.eye(3)
    x = np.array([1.0, -2.0, 3.0])
    np.testing.assert_allclose(_applied(Scale(cross_axis=0.02), x), a @ x, rtol=1e-15)


def test_errors_of_the_scale_factor_are_on_the_diagonal():
    np.testing.assert_allclose(_applied(Scale(error=(0.01, 0.0, -0.1)), [1.0, 2.0, 10.0]), [1.01, 2.0, 9.0])


def test_any_matrix_multiplies_every_world():
    rng = np.random.default_rng(2)
    matrix, x = rng.normal(size=(5, 5)), rng.normal(size=(70, 2, 5))
    np.testing.assert_allclose(_applied(Scale(matrix=matrix), x), x @ matrix.T, rtol=1e-12, atol=1e-12)


def test_a_matrix_and_its_parts_are_not_given_together():
    with pytest.raises(SpecError, match="give one or the other"):
        Scale(matrix=np.eye(3), cross_axis=0.1)
    with pytest.raises(SpecError, match="matrix is 2 x 2; it must be 3 x 3"):
        Scale(matrix=np.eye(2)).init((3,), seed=1)
    with pytest.raises(SpecError, match="17 channels is asked for; it must be 16 at most"):
        Scale(cross_axis=0.1).init((17,), seed=1)


def test_many_channels_have_a_factor_each():
    error = np.linspace(-0.2, 0.3, 40)
    x = np.arange(40.0)
    np.testing.assert_allclose(_applied(Scale(error=tuple(error)), x), (1.0 + error) * x, rtol=1e-15)
    assert not Scale().operations(Layout(40, None))[0].on

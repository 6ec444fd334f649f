import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.corruption import Nonlinearity


def _applied(model, signal):
    return model.apply(signal, time_ns=0, state=model.init(np.shape(signal), seed=1))[0]


def test_it_is_the_polynomial_of_the_specification():
    x, full = np.linspace(-20, 20, 41), 10.0
    out = _applied(Nonlinearity(full_scale=full, second=0.02, third=-0.003), x)
    np.testing.assert_allclose(out, x + 0.02 * x * np.abs(x) / full - 0.003 * x**3 / full**2, rtol=1e-14)


def test_at_full_scale_the_coefficients_are_shares_of_it_and_zero_stays():
    out = _applied(Nonlinearity(full_scale=(2.0, 2.0, 5.0), second=0.01, third=(0.0, 0.02, 0.0)), [2.0, -2.0, 0.0])
    np.testing.assert_allclose(out, [2.02, -2.06, 0.0], rtol=1e-14)


def test_it_is_odd():
    x = np.random.default_rng(0).normal(size=(9, 3))
    model = Nonlinearity(full_scale=3.0, second=0.1, third=0.2)
    np.testing.assert_array_equal(_applied(model, -x), -_applied(model, x))


def test_full_scale_must_be_positive():
    with pytest.raises(SpecError, match="full_scale is 0; it must be positive"):
        Nonlinearity(full_scale=0.0, second=0.1)
    with pytest.raises(SpecError, match="full_scale is missing"):
        Nonlinearity(second=0.1)

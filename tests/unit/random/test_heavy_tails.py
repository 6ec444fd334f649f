"""Johnson's S_U law: unit variance and the kurtosis asked for, in float64 and as kernels compute it."""

import numpy as np
import pytest
from scipy import integrate, stats

from sensorium.core.errors import SpecError
from sensorium.random import johnson_f32, johnson_numbers
from sensorium.runtime import jit


@jit.kernel
def _fill(z, shape, scale, out):
    for i in range(z.size):
        out[i] = johnson_f32(z[i], shape, scale)


@pytest.mark.parametrize("excess", [1e-3, 0.3, 1.3, 6.0, 40.0])
def test_variance_and_kurtosis_by_integration(excess):
    shape, scale = johnson_numbers(excess)

    def moment(power):
        def weighed(z):
            return (scale * np.sinh(shape * z)) ** power * stats.norm.pdf(z)

        return integrate.quad(weighed, -30.0, 30.0, epsabs=1e-12, limit=400)[0]

    assert moment(1) == pytest.approx(0.0, abs=1e-9)
    assert moment(2) == pytest.approx(1.0, rel=1e-8)
    assert moment(4) - 3.0 == pytest.approx(excess, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("excess", [0.01, 1.3, 20.0])
def test_kernels_give_the_quantiles_of_the_law(excess):
    shape, scale = johnson_numbers(excess)
    z = np.linspace(-6.6, 6.6, 4001).astype(np.float32)
    out = np.empty_like(z)
    _fill(z, np.float32(shape), np.float32(scale), out)
    # SciPy names the same law by 1 / shape
    expected = stats.johnsonsu(0.0, 1.0 / shape, scale=scale).ppf(stats.norm.cdf(z[1000:-1000].astype(np.float64)))
    np.testing.assert_allclose(out[1000:-1000], expected, rtol=3e-6, atol=2e-6)
    np.testing.assert_allclose(out, scale * np.sinh(shape * z.astype(np.float64)), rtol=3e-6, atol=2e-6)
    assert (np.diff(out) > 0.0).all()


def test_no_excess_is_the_normal_law_and_a_negative_one_is_refused():
    assert johnson_numbers(0.0) == (0.0, 0.0)
    for wrong in (-0.1, np.inf, np.nan):
        with pytest.raises(SpecError, match=f"excess_kurtosis is {wrong}; it must be finite and not negative"):
            johnson_numbers(wrong)

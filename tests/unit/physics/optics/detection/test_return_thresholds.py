import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics import optics


def test_reference_values(printed):
    assert optics.cfar_factor_exponential(16, false_alarm=1e-4) == printed("12.4525")
    assert optics.noise_threshold(1.0, false_alarm=0.15865525) == pytest.approx(1.0, abs=1e-6)


def test_many_cells_know_the_noise_itself():
    assert optics.cfar_factor_exponential(10**7, false_alarm=1e-4) == pytest.approx(-np.log(1e-4), rel=1e-5)
    assert optics.cfar_factor_normal(10**7, false_alarm=1e-4) == pytest.approx(
        optics.noise_threshold(1.0, false_alarm=1e-4), rel=1e-5
    )


@pytest.mark.parametrize("kind", ["normal", "exponential"])
def test_noise_alone_crosses_with_the_probability_asked_for(kind):
    rng, cells, trials = np.random.default_rng(5), 16, 200_000
    if kind == "normal":
        noise = rng.normal(3.0, 2.0, (trials, cells + 1))
        mean, deviation = noise[:, 1:].mean(axis=1), noise[:, 1:].std(axis=1, ddof=1)
        level = mean + optics.cfar_factor_normal(cells, false_alarm=0.01) * deviation
    else:
        noise = rng.exponential(2.0, (trials, cells + 1))
        level = optics.cfar_factor_exponential(cells, false_alarm=0.01) * noise[:, 1:].mean(axis=1)
    crossed = (noise[:, 0] > level).mean()
    assert crossed == pytest.approx(0.01, abs=4 * np.sqrt(0.01 / trials))


def test_bad_input():
    with pytest.raises(SpecError, match="cells is 1; a mean of the noise must be of 2 or more"):
        optics.cfar_factor_normal(1, false_alarm=0.01)
    with pytest.raises(SpecError, match=r"false_alarm is 0.7; it must be finite and above 0 and at most 0.5"):
        optics.noise_threshold(1.0, false_alarm=0.7)

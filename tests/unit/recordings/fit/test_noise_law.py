"""The law of the noise, from samples with known laws."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.recordings.fit.noise_law import NoiseSamples, is_along_rings, noise_law, predicted
from sensorium.recordings.measurement import Figure, Measurement


def samples(rng, count, *, along_rings, quantum_m=0.0, law=None):
    """Errors of a separable law over ranges and reflectivities that depend on each other."""
    reflectivity = rng.choice([2, 5, 11, 20, 45, 80, 120], count).astype(float)
    range_m = np.exp(rng.normal(0.5 + 0.015 * reflectivity, 0.6))
    sigma = law(range_m, np.maximum(reflectivity / 100.0, 0.005))
    sigma = np.sqrt(sigma**2 + quantum_m**2 / 12.0)
    error = sigma * (np.sqrt(rng.chisquare(6, count) / 6.0) if along_rings else rng.standard_normal(count))
    return NoiseSamples(error, range_m, reflectivity, along_rings, quantum_m)


def product(range_m, reflectance):
    return 0.006 * np.interp(range_m, [1.0, 4.0, 12.0], [1.6, 0.9, 1.3]) * (reflectance / 0.2) ** -0.25


@pytest.mark.parametrize("along_rings", [False, True])
@pytest.mark.parametrize("quantum_m", [0.0, 0.008])
def test_a_product_is_found(along_rings, quantum_m):
    rng = np.random.default_rng(1)
    given = samples(rng, 60_000, along_rings=along_rings, quantum_m=quantum_m, law=product)
    law = noise_law(given)
    for reflectance in (0.02, 0.11, 0.45, 1.2):
        for range_m in (1.5, 2.5, 4.0, 6.3):
            expected = product(range_m, reflectance)
            assert law.sigma_m(np.array(range_m), np.array(reflectance)) == pytest.approx(expected, rel=0.08)
    shown = np.interp(np.log(given.reflectance), np.log(law.by_reflectance.place), law.by_reflectance.factor)
    assert np.mean(shown**2) == pytest.approx(1.0, rel=1e-6)
    assert (np.diff(law.by_range.place) > 0.0).all()
    assert (law.by_range.error > 0.0).all()


def test_outliers_do_not_count_between_turns():
    rng = np.random.default_rng(2)
    given = samples(rng, 40_000, along_rings=False, law=lambda x, rho: np.full(x.shape, 0.01))
    wild = given._replace(error_m=np.where(rng.random(40_000) < 0.002, 1.0, given.error_m))
    assert noise_law(wild).std_m == pytest.approx(0.01, rel=0.02)


@pytest.mark.parametrize("along_rings", [False, True])
def test_predictions_are_what_measuring_finds_in_the_mixture(along_rings):
    """Simulated from the law itself: the prediction of a bin is its spread, or its scaled lower quartile."""
    rng = np.random.default_rng(3)
    given = samples(rng, 80_000, along_rings=along_rings, law=product)
    law = noise_law(given)
    inside = (given.range_m >= 2.0) & (given.range_m < 3.0)
    error = given.error_m[inside]
    found = np.quantile(error, 0.25) * np.sqrt(6.0 / 3.4546) if along_rings else np.sqrt(np.mean(error**2))
    figure = Figure("noise.by_range", float(found), "m", 0.0, 1.0, int(inside.sum()), "range 2 to 3 m")
    ((_, value),) = predicted(law, given, [figure])
    assert value == pytest.approx(found, rel=0.03)


def test_a_recording_without_smooth_surfaces_is_refused():
    with pytest.raises(SpecError, match=r"'grass\.pcap' shows no noise: it has too few rays on smooth"):
        is_along_rings(Measurement("lidar", "X", "grass.pcap", ()))

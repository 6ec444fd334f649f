"""Units whose noise is known to differ, or not to."""

import numpy as np
import pytest

from sensorium.recordings.fit.units import between_units
from tests.unit.recordings.measure.scenes import room


def law_m(reflectivity):
    return 0.004 + 0.1 / (reflectivity + 5.0)


def ratios(first, second):
    return {(row.figure.quantity, row.figure.where): row.ratio for row in between_units(first, second)}


def test_a_unit_of_twice_the_noise_shows_half():
    first = room(rng=np.random.default_rng(1), noise_m=law_m, jitter_s=2e-6, is_locked=True)
    second = room(rng=np.random.default_rng(2), noise_m=lambda r: 2.0 * law_m(r), jitter_s=1e-6, is_locked=True)
    found = ratios(first, second)
    for (quantity, where), ratio in found.items():
        if quantity.startswith("noise") and quantity != "noise.excess_kurtosis":
            assert ratio == pytest.approx(0.5, rel=0.12), (quantity, where)
    assert found["column_jitter", ""] == pytest.approx(2.0, rel=0.1)
    assert found["quantum", ""] == 1.0
    again = ratios(first, room(rng=np.random.default_rng(3), noise_m=law_m, is_locked=True))
    assert again["noise", ""] == pytest.approx(1.0, rel=0.03)


def test_both_are_measured_along_rings_where_one_has_a_single_turn():
    first = room(rng=np.random.default_rng(4), noise_m=0.008, columns=2400, is_locked=True)
    second = room(rng=np.random.default_rng(5), noise_m=0.008, columns=2400, turns=1, is_locked=True)
    for given in ((first, second), (second, first)):
        rows = between_units(*given)
        noise = next(row for row in rows if row.figure.quantity == "noise")
        assert noise.ratio == pytest.approx(1.0, rel=0.04)
        assert noise.figure.value == pytest.approx(np.hypot(0.008, 0.002 / np.sqrt(12.0)), rel=0.04)

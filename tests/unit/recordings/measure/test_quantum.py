"""Quantum of values: found to its digits at random spacings, offsets and gaps; none where there is none."""

import numpy as np
import pytest

from sensorium.recordings.measure.quantum import quantum_figure


def test_random_spacings_come_back():
    rng = np.random.default_rng(9)
    for _ in range(60):
        spacing = 10.0 ** rng.uniform(-2.4, -0.1)
        resolution = spacing * rng.uniform(1e-3, 0.12)
        numbers = np.unique(rng.integers(-150, 150, int(rng.integers(25, 200))))
        values = spacing * numbers + rng.uniform(-1, 1)
        values = np.unique(np.rint(values / resolution) * resolution)
        found = quantum_figure("q", values, np.full(len(values), resolution), "m", coarsest=1.0, finest=1e-3)
        assert found is not None
        assert found.value == pytest.approx(spacing, rel=3e-3)
        assert found.low - 1e-3 * spacing <= spacing <= found.high + 1e-3 * spacing


def test_values_of_no_spacing_have_none():
    rng = np.random.default_rng(10)
    for _ in range(20):
        values = np.unique(rng.normal(size=150))
        assert quantum_figure("q", values, np.full(len(values), 1e-3), "m", coarsest=1.0, finest=1e-2) is None


def test_values_that_lie_together_by_themselves_have_none():
    """As range rates of a radar do, most of which are near its own speed."""
    rng = np.random.default_rng(11)
    for _ in range(40):
        together = rng.uniform(-9.0, 9.0) + rng.uniform(0.02, 0.1) * rng.normal(size=200)
        values = np.unique(np.concatenate([together, rng.uniform(-20.0, 20.0, 6)]))
        assert quantum_figure("q", values, np.full(len(values), 1e-5), "m/s", coarsest=1.0, finest=1e-3) is None


def test_few_values_have_none():
    assert quantum_figure("q", np.arange(5.0), np.full(5, 1e-6), "m", coarsest=1.0, finest=1e-3) is None

"""Code noise of GNSS: recovered from simulated code and phase, with slips and gaps; and of a real receiver."""

from pathlib import Path

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.recordings.measure.gnss import measure_gnss, wavelength_m
from sensorium.recordings.readers.rinex import Arc, Observations, read_rinex_observations
from tests.unit.recordings.real import real

C = 299_792_458.0
L1_M = C / 1575.42e6


def simulated(rng, *, level_m, power, epochs=400, satellites=14, slips=0):
    """Code and phase of satellites at C/N0 of 33 to 50 dBHz, with geometry, ionosphere and white noise of the code."""
    t, arcs = np.arange(epochs, dtype=float), []
    for k in range(satellites):
        strength = rng.uniform(33.0, 50.0) + 0.2 * rng.normal(size=epochs)
        sigma = level_m * 10.0 ** (-power * (strength - 45.0) / 20.0)
        distance = 2.2e7 + rng.uniform(-800, 800) * t + 0.05 * t**2
        delay = 5.0 + rng.uniform(-5e-3, 5e-3) * t + 2e-6 * t**2
        code = distance + delay + sigma * rng.normal(size=epochs)
        phase = (distance - delay + 0.002 * rng.normal(size=epochs)) / L1_M + rng.integers(10**6)
        for _ in range(slips):
            phase[int(rng.integers(epochs)) :] += rng.choice([-1, 1]) * rng.integers(10, 1000)
        lost = np.zeros((epochs, 3), bool)
        kept = rng.random(epochs) > (0.02 if slips else 0.0)
        values = np.stack([code, phase, strength], axis=1)
        arcs.append(Arc(f"G{k + 1:02d}", np.flatnonzero(kept), values[kept], lost[kept]))
    return Observations(Path("a.obs"), "test", {"G": ("C1C", "L1C", "S1C")}, {}, t, tuple(arcs))


def test_level_and_exponent_of_random_receivers_are_covered():
    rng = np.random.default_rng(3)
    covered = total = bins = inside = 0
    for trial in range(20):
        level, power = rng.uniform(0.02, 0.3), rng.uniform(0.7, 1.2)
        found = measure_gnss(simulated(rng, level_m=level, power=power, slips=2 * (trial % 2)))
        for quantity, truth in (("code_noise.at_45_dbhz", level), ("code_noise.exponent", power)):
            figure = found.figure(quantity, "GPS C1C")
            total += 1
            covered += figure.low <= truth <= figure.high
        assert found.figure("code_noise.at_45_dbhz", "GPS C1C").value == pytest.approx(level, rel=0.06)
        curve = found.curve("code_noise.gps_c1c")
        law = level * 10.0 ** (-power * (curve.x - 45.0) / 20.0)
        bins += len(law)
        inside += int(((curve.low <= 1.05 * law) & (curve.high >= 0.95 * law)).sum())
    assert covered / total > 0.85, f"{covered} of {total}"
    assert inside / bins > 0.9, f"{inside} of {bins}"


def test_white_noise_has_one_level_by_both_ways():
    found = measure_gnss(simulated(np.random.default_rng(5), level_m=0.1, power=0.0))
    assert found.figure("code_error", "GPS C1C").value == pytest.approx(0.1, rel=0.05)
    assert found.figure("code_error.correlation_epochs", "GPS C1C").value < 1.0


def test_correlated_noise_shows_in_the_whole_error():
    rng = np.random.default_rng(6)
    plain = simulated(rng, level_m=1e-3, power=0.0)
    arcs = []
    for arc in plain.arcs:
        slow = np.zeros(len(arc.epoch))
        for k in range(1, len(slow)):
            slow[k] = np.exp(-1 / 8.0) * slow[k - 1] + np.sqrt(1 - np.exp(-2 / 8.0)) * 0.3 * rng.normal()
        arcs.append(arc._replace(values=arc.values + np.stack([slow, 0 * slow, 0 * slow], axis=1)))
    found = measure_gnss(plain._replace(arcs=tuple(arcs)))
    assert found.figure("code_error", "GPS C1C").value == pytest.approx(0.3, rel=0.15)
    assert found.figure("code_error.correlation_epochs", "GPS C1C").value == pytest.approx(8.0, rel=0.3)


def test_wavelengths_are_those_of_the_systems():
    assert wavelength_m("G05", "1", {}) == pytest.approx(0.190293672798)
    assert wavelength_m("E05", "7", {}) == pytest.approx(C / 1207.14e6)
    assert wavelength_m("C05", "2", {}) == pytest.approx(C / 1561.098e6)
    assert wavelength_m("R02", "1", {"R02": -4}) == pytest.approx(C / 1599.75e6)
    assert wavelength_m("R03", "1", {"R02": -4}) is None
    assert wavelength_m("G05", "7", {}) is None


def test_files_without_a_usable_signal_are_refused():
    short = simulated(np.random.default_rng(5), level_m=0.1, power=1.0, epochs=20)
    with pytest.raises(SpecError, match="has no signal with 60 epochs"):
        measure_gnss(short)


def test_the_mosaic_x5():
    found = measure_gnss(read_rinex_observations(real("gnss_static_mosaic/base.obs")))
    assert found.device == "SEPT MOSAIC-X5"
    level, power = (found.figure(f"code_noise.{name}", "GPS C1C") for name in ("at_45_dbhz", "exponent"))
    assert level.value == pytest.approx(0.0387, abs=0.001)
    assert power.low < 1.0 < power.high
    at_33 = level.value * 10.0 ** (12.0 / 20.0 * power.value)
    assert at_33 == pytest.approx(0.168, rel=0.05)
    assert found.figure("code_error", "GPS C1C").value > 5.0 * level.value

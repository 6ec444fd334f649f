"""Waves: closed forms, moments, and phases that stay exact for ever."""

from fractions import Fraction

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.corruption import Chain, Ramp, SquareWave, TriangleWave

WAVES = {"square": SquareWave, "triangle": TriangleWave, "ramp": Ramp}


def run(wave, times_ns, signal=0.0):
    times_ns = np.asarray(times_ns, np.int64)
    signals = np.full((len(times_ns), 1), float(signal))
    return wave.series(signals, times_ns=times_ns, state=wave.init((1,), seed=1))[0][:, 0]


def formula(name, amplitude, frequency_hz, phase_rad, time_s):
    angle = 2.0 * np.pi * frequency_hz * time_s + phase_rad
    if name == "square":
        return amplitude * np.where(np.sin(angle) >= 0.0, 1.0, -1.0)
    if name == "triangle":
        return 2.0 * amplitude / np.pi * np.arcsin(np.sin(angle))
    turns = frequency_hz * time_s + phase_rad / (2.0 * np.pi)
    return 2.0 * amplitude * (turns - np.floor(turns) - 0.5)


@pytest.mark.parametrize("name", WAVES)
@pytest.mark.parametrize("phase_rad", [0.0, 1.0, -2.5, 7.0])
def test_it_is_the_formula(name, phase_rad):
    times_ns = np.arange(0, 2_000_000_000, 1_234_567)
    out = run(WAVES[name](amplitude=1.5, frequency_hz=1.7, phase_rad=phase_rad), times_ns)
    np.testing.assert_allclose(out, formula(name, 1.5, 1.7, phase_rad, times_ns * 1e-9), atol=1e-12)


@pytest.mark.parametrize(("name", "rms"), [("square", 1.0), ("triangle", 3**-0.5), ("ramp", 3**-0.5)])
def test_mean_and_rms_over_a_period(name, rms):
    # n = 4096 midpoints of a period of 409.6 us: the mean square of a linear piece is short by 1 / n^2 of itself
    wave = WAVES[name](amplitude=2.0, frequency_hz=2441.40625, phase_rad=np.pi / 4096)
    out = run(wave, np.arange(4096) * 100)
    assert out.mean() == pytest.approx(0.0, abs=1e-12)
    assert np.sqrt(np.mean(out**2)) == pytest.approx(2.0 * rms, rel=2e-7)


def test_at_zero_the_sign_is_plus():
    """Zero crossings fall on samples, also where neither frequency nor time are powers of two."""
    for frequency_hz in (0.1, 1.0, 3.0, 50.0):
        half_ns = Fraction(10**9) / Fraction(repr(frequency_hz)) / 2
        crossings = [k for k in range(400) if (k * half_ns).denominator == 1]
        times_ns = np.array([int(k * half_ns) for k in crossings])
        np.testing.assert_array_equal(run(SquareWave(amplitude=1.0, frequency_hz=frequency_hz), times_ns), 1.0)
        later = run(SquareWave(amplitude=1.0, frequency_hz=frequency_hz), times_ns + 1)
        np.testing.assert_array_equal(later, np.where(np.array(crossings) % 2, -1.0, 1.0))


def test_corners():
    quarters = np.arange(5) * 250_000_000
    np.testing.assert_array_equal(run(TriangleWave(amplitude=3.0, frequency_hz=1.0), quarters), [0, 3, 0, -3, 0])
    np.testing.assert_array_equal(run(Ramp(amplitude=3.0, frequency_hz=1.0), quarters), [-3, -1.5, 0, 1.5, -3])


@pytest.mark.parametrize("frequency_hz", [0.1, 1.0 / 3.0, 7.3, 123.456789, 4e5, 1e-7])
@pytest.mark.parametrize("time_ns", [0, 1, 10**15 + 1, 1_790_000_000_123_456_789, 2**63 - 1, -(10**18) - 7, -(2**63)])
def test_the_phase_is_right_after_years(frequency_hz, time_ns):
    """Against rational arithmetic; a sine of the plain product would have lost the phase altogether."""
    turns = Fraction(repr(frequency_hz)) * time_ns / 10**9
    expected = float(2 * (turns - (turns.numerator // turns.denominator) - Fraction(1, 2)))
    out = run(Ramp(amplitude=1.0, frequency_hz=frequency_hz), [time_ns])[0]
    assert abs((out - expected + 1.0) % 2.0 - 1.0) < 1e-15


def test_it_adds_or_replaces():
    times_ns = np.arange(100) * 7_000_000
    alone = run(TriangleWave(amplitude=1.0, frequency_hz=3.0), times_ns, signal=5.0)
    added = run(TriangleWave(amplitude=1.0, frequency_hz=3.0, mode="add"), times_ns, signal=5.0)
    np.testing.assert_array_equal(added, 5.0 + alone)
    assert np.abs(alone).max() <= 1.0


def test_channels_have_their_own_numbers_and_worlds_the_same():
    wave = SquareWave(amplitude=(1.0, 2.0), frequency_hz=(1.0, 2.0), phase_rad=(0.0, np.pi))
    out, _ = wave.apply(np.zeros((70, 2)), time_ns=300_000_000, state=wave.init((70, 2), seed=1))
    np.testing.assert_array_equal(out, np.tile([1.0, 2.0], (70, 1)))


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"amplitude": -1.0, "frequency_hz": 1.0}, "amplitude is -1; it must not be negative"),
        ({"amplitude": 1.0, "frequency_hz": 0.0}, "frequency_hz is 0; it must be positive"),
        ({"amplitude": 1.0}, "frequency_hz is missing"),
        ({"amplitude": 1.0, "frequency_hz": float("nan")}, "frequency_hz"),
        ({"amplitude": 1.0, "frequency_hz": 1.0, "mode": "times"}, "mode"),
    ],
)
def test_bad_data_is_refused(fields, rule):
    for wave in WAVES.values():
        with pytest.raises(SpecError, match=rule):
            wave(**fields)


def test_it_survives_as_data():
    chain = Chain([wave(amplitude=1.0, frequency_hz=2.0, phase_rad=0.5, mode="add") for wave in WAVES.values()])
    assert Chain.model_validate(chain.model_dump()) == chain
    assert [part["kind"] for part in chain.model_dump()["parts"]] == ["square_wave", "triangle_wave", "ramp"]

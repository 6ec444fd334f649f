"""Barometer: the standard atmosphere, its inverse, and the errors of a pressure."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.corruption import Bias, GaussMarkov, Noise, Quantize, Saturate, White
from sensorium.sensors.barometer import altitude_of, pressure_at


def rising(start_m=0.0, speed=10.0, worlds=None, **options):
    path = sn.paths.Line(start=(5.0, 6.0, start_m), velocity=(1.0, 0.0, speed))
    return sn.Environment(sn.Scene(), sn.worlds.Kinematic({"drone": path}, step_s=0.02), worlds=worlds, **options)


def at_rest(spec, worlds=None, height_m=0.0, steps=1, pose=None, **options):
    env = sn.Environment(
        sn.Scene(), sn.worlds.Static({"mast": sn.Pose((0, 0, height_m))}, step_s=0.02), worlds=worlds, **options
    )
    barometer = env.attach(spec, body="mast", pose=pose)
    for _ in range(steps):
        env.step()
    return barometer


# --- the standard atmosphere ------------------------------------------------------------------------------------------


def test_reference_pressures():
    assert pressure_at(0.0) == 101325.0
    assert round(float(pressure_at(1000.0)), 1) == 89874.6  # physics.md 13
    assert pressure_at(11000.0) == pytest.approx(22632.0, abs=0.1)  # ISO 2533, the tropopause


def test_the_air_carries_its_own_weight():
    # Hydrostatics of an ideal gas whose temperature falls by 6.5 K a kilometer: dp/dh = -g p / (R T)
    height_m = np.linspace(-4999.0, 10999.0, 200)
    slope = (pressure_at(height_m + 0.5) - pressure_at(height_m - 0.5)) / 1.0
    gas, temperature_K = 287.05287, 288.15 - 0.0065 * height_m
    np.testing.assert_allclose(slope, -9.80665 * pressure_at(height_m) / (gas * temperature_K), rtol=2e-5)


@settings(deadline=None, derandomize=True)
@given(st.floats(-5000.0, 11000.0), st.floats(9e4, 1.1e5))
def test_altitude_undoes_pressure(height_m, sea_level_Pa):
    assert altitude_of(pressure_at(height_m, sea_level_Pa), sea_level_Pa) == pytest.approx(height_m, abs=1e-8)


def test_no_pressure_is_the_formula_s_end_and_not_nan():
    np.testing.assert_allclose(altitude_of([0.0, -5.0]), 44330.76, atol=0.01)


# --- the sensor -------------------------------------------------------------------------------------------------------


def test_it_reads_the_pressure_at_its_own_height():
    env = rising(start_m=100.0)
    barometer = env.attach(sn.Barometer(reference_height_m=400.0), body="drone", pose=sn.Pose((0, 0, 2.0)))
    for _ in env.run(4.0):
        pass
    reading = barometer.read()
    assert reading.pressure_Pa.shape == reading.altitude_m.shape == ()
    assert reading.pressure_Pa == pytest.approx(float(pressure_at(400.0 + 100.0 + 40.0 + 2.0)), rel=1e-14)
    assert reading.altitude_m == pytest.approx(542.0, abs=1e-8)
    assert reading.time_ns == 4_000_000_000
    assert sn.Barometer().timing.rate_hz == 50.0


def test_a_turned_body_moves_the_sensor():
    world = sn.worlds.Kinematic({"arm": sn.paths.Spin(position=(0, 0, 50.0), axis=(0, 1, 0), rate=1.0)}, step_s=0.02)
    env = sn.Environment(sn.Scene(), world)
    barometer = env.attach(sn.Barometer(), body="arm", pose=sn.Pose((3.0, 0, 0)))
    for _ in env.run(1.0):
        assert barometer.read().altitude_m == pytest.approx(50.0 - 3.0 * math.sin(env.time_s), abs=1e-6)


def test_another_sea_level_is_another_pressure_at_the_same_altitude():
    barometer = at_rest(sn.Barometer(sea_level_Pa=99000.0), height_m=1000.0)
    assert barometer.read().pressure_Pa == pytest.approx(89874.56 * 99000.0 / 101325.0, abs=0.01)
    assert barometer.read().altitude_m == pytest.approx(1000.0, abs=1e-8)


def test_an_error_of_pressure_is_one_of_altitude():
    # Near the ground 12 Pa are a meter
    barometer = at_rest(sn.Barometer(extra=(Bias(-12.013),)))
    assert barometer.read().pressure_Pa == pytest.approx(101325.0 - 12.013)
    assert barometer.read().altitude_m == pytest.approx(1.0, abs=1e-3)
    assert barometer.truth().altitude_m == pytest.approx(0.0, abs=1e-9)


def test_a_converter_gives_codes_within_its_limits():
    def read(height_m, **changes):
        return at_rest(sn.Barometer(**changes), height_m=height_m).read().pressure_Pa

    assert read(1000.0, quantization=Quantize(lsb=10.0)) == 89870.0
    limits = Saturate(min=30000.0, max=110000.0)
    assert read(10000.0, saturation=limits) == 30000.0
    code = (read(1000.0, quantization=Quantize(bits=16), saturation=limits) - 30000.0) / (80000.0 / (2**16 - 1))
    assert code == pytest.approx(round((89874.56 - 30000.0) / 80000.0 * (2**16 - 1)), abs=1e-6)


def test_drift_and_noise_have_their_laws():
    from scipy import stats

    worlds = 8192
    spec = sn.Barometer(noise=Noise(density=0.4), extra=(GaussMarkov(std=25.0, tau_s=0.1),))
    env = sn.Environment(sn.Scene(), sn.worlds.Static({"mast": sn.Pose()}, step_s=0.02), worlds=worlds, seed=6)
    barometer = env.attach(spec, body="mast")
    errors = []
    for _ in range(6):
        env.step()
        errors.append(barometer.read().pressure_Pa - 101325.0)
    white = 0.4 * math.sqrt(25.0)  # one-sided, at 50 Hz
    total = 25.0**2 + white**2
    for sample in errors:
        assert stats.kstest(sample / math.sqrt(total), "norm").pvalue > 1e-4
    correlation = np.mean(errors[0] * errors[5]) / total
    assert correlation == pytest.approx(25.0**2 / total * math.exp(-1.0), abs=4.5 / math.sqrt(worlds))


def test_a_lost_sample_is_nan_and_no_code():
    lost = sn.corruption.Fault(sn.corruption.Dropout(probability=1.0, fill="nan"))
    spec = sn.Barometer(quantization=Quantize(lsb=10.0), saturation=Saturate(min=3e4, max=1.1e5))
    spec.faults = sn.corruption.FaultSchedule(faults=(lost,))
    barometer = at_rest(spec)
    assert np.isnan(barometer.read().pressure_Pa)
    assert np.isnan(barometer.read().altitude_m)
    assert barometer.truth().pressure_Pa == 101325.0


def test_beyond_the_troposphere_is_an_error():
    with pytest.raises(SpecError, match=r"'barometer' is 11050 m; it must be from -5000 to 11000 m"):
        at_rest(sn.Barometer(reference_height_m=11000.0), height_m=50.0)
    env = rising(start_m=-4999.0, speed=-10.0)
    env.attach(sn.Barometer(), body="drone")
    with pytest.raises(SpecError, match="must be from -5000"):
        for _ in env.run(1.0):
            pass


# --- many worlds ------------------------------------------------------------------------------------------------------


def test_a_world_of_many_is_as_alone_and_axes_are_in_order():
    heights = np.array([10.0, 500.0, 2000.0, 8000.0, -30.0])
    poses = [sn.Pose((0, 0, 0.0)), sn.Pose((0, 0, 3.0)), sn.Pose((0, 0, 7.0))]
    spec = sn.Barometer(
        noise=Noise(density=1.0), extra=(GaussMarkov(std=20.0, tau_s=5.0),), quantization=Quantize(lsb=0.5)
    )

    def run(chosen, first):
        path = sn.paths.Line(start=np.stack([0 * chosen, 0 * chosen, chosen], -1), velocity=(0, 0, 1.0))
        world = sn.worlds.Kinematic({"mast": path}, step_s=0.03)
        env = sn.Environment(sn.Scene(), world, worlds=len(chosen), first_world=first, seed=8)
        barometer = env.attach(spec, body="mast", pose=poses)
        for _ in range(7):
            env.step()
        return barometer.read(), barometer.truth()

    reading, truth = run(heights, 0)
    assert reading.pressure_Pa.shape == (5, 3)
    np.testing.assert_allclose(truth.altitude_m, heights[:, None] + [0.2, 3.2, 7.2], atol=1e-6)
    for world in range(5):
        alone, ideal = run(heights[world : world + 1], world)
        np.testing.assert_array_equal(alone.pressure_Pa[0], reading.pressure_Pa[world])
        np.testing.assert_array_equal(alone.altitude_m[0], reading.altitude_m[world])
        np.testing.assert_array_equal(ideal.pressure_Pa[0], truth.pressure_Pa[world])


def test_a_reset_restarts_the_drift_of_its_world_alone():
    def run(mask):
        env = sn.Environment(sn.Scene(), sn.worlds.Static({"mast": sn.Pose()}, step_s=0.02), worlds=3, seed=4)
        barometer = env.attach(sn.Barometer(extra=(GaussMarkov(std=50.0, tau_s=1e6),)), body="mast")
        env.step()
        before = barometer.read().pressure_Pa
        env.reset(np.array(mask))
        env.step()
        return before, barometer.read().pressure_Pa

    before, after = run([False, True, False])
    np.testing.assert_array_equal(after[[0, 2]], run([False, False, False])[1][[0, 2]])
    assert abs(after[1] - before[1]) > 0.5
    assert np.abs(after - before)[[0, 2]].max() < 0.1


# --- specifications ---------------------------------------------------------------------------------------------------


def test_a_specification_survives_as_data():
    spec = sn.Barometer(reference_height_m=400.0, extra=(White(std=2.0),), quantization=Quantize(lsb=1.0))
    assert sn.Barometer.model_validate(spec.model_dump()) == spec


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"sea_level_Pa": 0.0}, r"sea_level_Pa is 0"),
        ({"reference_height_m": math.inf}, r"reference_height_m is inf"),
        ({"extra": ({"kind": "gauss_markov", "std": -1.0, "tau_s": 5.0},)}, r"std is -1; it must not be negative"),
        ({"height_m": 3.0}, r"height_m"),
    ],
)
def test_fields_that_cannot_be_are_refused(fields, message):
    with pytest.raises(SpecError, match=message):
        sn.Barometer(**fields)

"""A factor on the white noise of a running chain."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.corruption import Bias, Fault, Noise, Program, White
from sensorium.corruption.engine.base import Layout
from sensorium.corruption.engine.program import Part
from sensorium.corruption.engine.white_scale import WhiteScale


def program_of(*corruptions, width=3):
    ops = [op for corruption in corruptions for op in corruption.operations(Layout(width, 0.01))]
    return Program([Part(ops, 0, width)], columns=width, period_s=0.01)


def noise_of(program, samples=50):
    state = program.init((4, 2, program.columns), seed=7, name="s")
    out, _ = program.series(np.zeros((samples, 4, 2, program.columns)), np.arange(samples) * 10_000_000, state)
    return out


@pytest.mark.parametrize("factor", [0.0, 0.5, 3.0])
@pytest.mark.parametrize(
    "noise",
    [White(std=(0.1, 0.2, 0.3)), White(covariance=((2, 1, 0), (1, 2, 0), (0, 0, 1))), Noise(density=0.01, bias=5.0)],
    ids=["each", "covariance", "noise"],
)
def test_white_noise_is_scaled_and_nothing_else(noise, factor):
    """The same random numbers times the factor, about the same bias."""
    plain = noise_of(program_of(noise))
    scaled = program_of(noise)
    scale = WhiteScale(scaled)
    assert scale.acts
    scale.factor = factor
    bias = 5.0 if isinstance(noise, Noise) else 0.0
    np.testing.assert_allclose(noise_of(scaled) - bias, factor * (plain - bias), atol=1e-12)
    scale.factor = 1.0
    np.testing.assert_array_equal(noise_of(scaled), plain)


def test_other_errors_and_faults_are_left_alone():
    fault = Fault(White(std=1.0), start_s=0.0)
    program = program_of(Bias(1.0), fault)
    before = program.parameters.copy()
    scale = WhiteScale(program)
    assert not scale.acts
    scale.factor = 10.0
    np.testing.assert_array_equal(program.parameters, before)


@pytest.mark.parametrize("factor", [-1.0, float("nan"), float("inf")])
def test_a_factor_must_be_finite_and_not_negative(factor):
    with pytest.raises(SpecError, match="scale of white noise is"):
        WhiteScale(program_of(White(std=1.0))).factor = factor


def test_a_running_sensor_is_scaled_from_its_next_sample():
    def values(changes):
        env = sn.Environment(sn.Scene(), sn.worlds.Static(step_s=0.01), seed=3)
        imu = env.attach(sn.Gyroscope(noise=sn.corruption.Noise(std=0.1), timing=sn.Timing(rate_hz=100.0)), name="g")
        found = []
        for number, _ in enumerate(env.run(1.0)):
            found.append(imu.read().angular_velocity)
            if number in changes:
                imu.white_noise_scale = changes[number]
        return np.array(found)

    plain, changed = values({}), values({9: 4.0, 49: 0.0})
    np.testing.assert_array_equal(changed[:10], plain[:10])
    np.testing.assert_allclose(changed[10:50], 4.0 * plain[10:50], rtol=1e-12)
    assert not changed[50:].any()


def test_a_sensor_without_such_noise_says_so():
    env = sn.Environment(sn.Scene(), sn.worlds.Static(step_s=0.01))
    gyroscope = env.attach(sn.Gyroscope(timing=sn.Timing(rate_hz=100.0)), name="g")
    assert gyroscope.white_noise_scale is None
    with pytest.raises(SpecError, match="sensor 'g' has no white noise"):
        gyroscope.white_noise_scale = 2.0


def test_the_errors_of_a_lidar_are_scaled():
    scene = sn.Scene()
    scene.add(sn.shapes.sphere(10.0))

    def ranges(factor):
        env = sn.Environment(scene, sn.worlds.Static(step_s=0.1), seed=1)
        pattern = sn.patterns.Spinning(elevation_deg=(0, 10), columns=90, rate_hz=10)
        lidar = env.attach(sn.Lidar(pattern=pattern, errors=(White(std=0.1),)))
        lidar.white_noise_scale = factor
        env.run(0.1).finish()
        return lidar.read().range_m.astype(float), lidar.truth().range_m.astype(float)

    (once, truth), (twice, _) = ranges(1.0), ranges(2.0)
    np.testing.assert_allclose(twice - truth, 2.0 * (once - truth), atol=1e-5)
    assert (once - truth).std() == pytest.approx(0.1, rel=0.3)

"""The table of requirements: every test it names is there, and the requirements that no other test shows."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

import sensorium as sn
from sensorium.corruption import Chain, Noise, Quantize, Saturate

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "requirements.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)))


def test_every_requirement_has_a_row_with_a_test():
    rows = re.findall(r"^\| R(\d+) \|(.*)\|$", PAGE, re.MULTILINE)
    assert [int(number) for number, _ in rows] == list(range(1, 21))
    for _, row in rows:
        cells = [cell.strip() for cell in row.split(" | ")]
        assert len(cells) == 3
        assert all(cells)
        assert re.fullmatch(r"(`tests/[\w/]+\.py::test_\w+`\s*)+", cells[-1])


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_a_named_test_exists(file, name):
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    (found,) = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name]

    # What is skipped shows nothing
    assert not [mark for mark in found.decorator_list if "skip" in ast.unparse(mark) or "xfail" in ast.unparse(mark)]


# --- R9 ---------------------------------------------------------------------------------------------------------------


def error_of(spec, value, worlds=4000):
    """What a sensor reads beside the truth, once in each of many worlds."""
    paths = {"body": sn.paths.Fixed(sn.Pose(position=(0, 0, 10)))}
    world = sn.worlds.Kinematic(paths, {"axle": sn.paths.JointLine(velocity=1.0)})
    fields = {"sun": sn.fields.Sun(elevation_deg=90.0), "magnetic": sn.fields.UniformMagnetic((2e-5, 0, 0))}
    env = sn.Environment(sn.Scene(), world, worlds=worlds, **fields)
    sensor = env.attach(spec, body="body", joint="axle")
    while not sensor.fresh:
        env.step()
    return value(sensor.read()) - value(sensor.truth())


@pytest.mark.parametrize(
    ("sensor", "value"),
    [
        (lambda noise: sn.Imu(linear={"noise": noise}), lambda reading: reading.acceleration),
        (lambda noise: sn.Gyroscope(noise=noise), lambda reading: reading.angular_velocity),
        (lambda noise: sn.Magnetometer(noise=noise), lambda reading: reading.magnetic_field),
        (lambda noise: sn.Encoder(noise=noise), lambda reading: reading.position),
        (lambda noise: sn.Odometer(noise=noise, radius_m=0.3), lambda reading: reading.distance),
        (lambda noise: sn.Gnss(position={"noise": noise}), lambda reading: reading.position),
        (lambda noise: sn.Barometer(noise=noise), lambda reading: reading.pressure_Pa),
        (lambda noise: sn.SunSensor(noise=noise), lambda reading: reading.cosine),
    ],
    ids=["imu", "gyroscope", "magnetometer", "encoder", "odometer", "gnss", "barometer", "sun_sensor"],
)
def test_one_noise_object_serves_every_sensor(sensor, value):
    noise = Noise(std=0.01, bias=0.5)
    error = error_of(sensor(noise), value)
    assert error.std() == pytest.approx(0.01, rel=5 / np.sqrt(2 * error.size))
    assert error.mean() == pytest.approx(0.5, abs=5 * 0.01 / np.sqrt(error.size))

    # Off, it is not there
    noise.on = False
    assert not error_of(sensor(noise), value, worlds=4).any()


# --- R15 --------------------------------------------------------------------------------------------------------------


def test_the_sensor_integrates_what_its_chain_did_to_the_rate():
    # The chain on the rate alone gives the reading; the increment is the exact one with that error over its time
    parts = {
        "noise": Noise(std=0.3, bias=(0.1, 0.2, 0.3), walk=0.5),
        "quantization": Quantize(lsb=0.25),
        "saturation": Saturate(max=9.9),
    }
    spin = sn.paths.Spin(position=(0, 0, 0), axis=(0, 0, 1), rate=2.0)
    env = sn.Environment(sn.Scene(), sn.worlds.Kinematic({"body": spin}, step_s=0.01), seed=3)
    spec = sn.Imu(linear=parts, angular=None, outputs=("acceleration", "delta_velocity"))
    imu = env.attach(spec, body="body", pose=sn.Pose(position=(0.4, 0.1, 0)))
    chain = Chain(list(parts.values()))
    state = chain.init((3,), seed=3, name="imu", period_s=0.01)
    for _ in range(20):
        env.step()
        reading, truth = imu.read(), imu.truth()
        rate, state = chain.apply(truth.acceleration, time_ns=env.time_ns, state=state)
        np.testing.assert_array_equal(reading.acceleration, rate)
        error = (rate - truth.acceleration) * reading.interval_s
        np.testing.assert_allclose(reading.delta_velocity, truth.delta_velocity + error, atol=1e-15)


# --- R20 --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("changed", ["noise", "quantization", "saturation"])
def test_each_group_has_its_own_noise_discretization_and_saturation(changed):
    def run(spec):
        imu = (env := sn.Environment(sn.Scene(), seed=4)).attach(spec)
        out = []
        for _ in range(200):
            env.step()
            out.append(imu.read().values)
        return np.array(out)

    spec = sn.Imu()
    spec.linear.noise.std, spec.linear.quantization.lsb, spec.linear.saturation.max = 0.5, 0.3, 9.7
    spec.angular.noise.std, spec.angular.quantization.lsb, spec.angular.saturation.max = 0.2, 0.05, 0.1
    both = run(spec)
    np.testing.assert_allclose(both[:, :3] / 0.3, np.rint(both[:, :3] / 0.3), atol=1e-9)
    np.testing.assert_allclose(both[:, 3:] / 0.05, np.rint(both[:, 3:] / 0.05), atol=1e-9)
    assert both[:, :3].max() == pytest.approx(9.6)
    assert both[:, 3:].max() == pytest.approx(0.1)

    # A switch of one group is felt in that group alone
    getattr(spec.angular, changed).on = False
    without = run(spec)
    np.testing.assert_array_equal(without[:, :3], both[:, :3])
    assert (without[:, 3:] != both[:, 3:]).any()

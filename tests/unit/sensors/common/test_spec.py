"""What every specification of a sensor checks: faults that have something to act on."""

import dataclasses
import math
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.corruption import Bias, Fault, FaultSchedule, TimingErrors
from sensorium.sensors.common.spec import Rig, SensorSpec


class Quiet(SensorSpec[None]):
    """A sensor without channels."""

    kind: Literal["quiet_thing"] = "quiet_thing"

    def start(self, rig):
        """Not put to work here."""
        raise NotImplementedError


class Loud(Quiet):
    """One with channels."""

    targets: ClassVar[tuple[str, ...]] = ("level",)


def test_a_fault_of_a_signal_is_refused_without_channels():
    with pytest.raises(SpecError, match="a fault has a corruption; a quiet thing has no channels for it"):
        Quiet(faults=FaultSchedule(faults=(Fault(Bias(1.0)),)))
    Quiet(faults=FaultSchedule(faults=(Fault(timing=TimingErrors(loss=0.1)),)))


def test_a_fault_names_a_target_that_the_sensor_has():
    Loud(faults=FaultSchedule(faults=(Fault(Bias(1.0), target="level"),)))
    with pytest.raises(SpecError, match="a fault's target is 'sound'; it must be one of: level"):
        Loud(faults=FaultSchedule(faults=(Fault(Bias(1.0), target="sound"),)))


def raster(rate_hz):
    return sn.patterns.Raster(height=1, width=4, horizontal_fov_deg=(-5, 5), vertical_fov_deg=(0, 0), rate_hz=rate_hz)


PATTERN = raster(10)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rate_hz": 0.0}, "rate_hz"),
        ({"rate_hz": -3.0}, "rate_hz"),
        ({"rate_hz": math.inf}, "finite"),
        ({"phase_s": -1e-9}, "phase_s"),
        ({"phase_s": math.nan}, "phase_s"),
        ({"latency_s": -0.1}, "latency_s"),
        ({"latency_ms": 5}, "latency_ms"),
    ],
)
def test_what_is_refused(given, message):
    with pytest.raises(SpecError, match=message):
        sn.Timing(**given)


def test_assignment_is_checked_like_making():
    timing = sn.Timing()
    with pytest.raises(SpecError, match="latency_s"):
        timing.latency_s = -1.0
    assert timing.latency_s == 0.0
    timing.latency_s = 0.5
    assert timing.latency_s == 0.5


def test_it_is_data():
    timing = sn.Timing(phase_s=0.25, latency_s=0.03)
    assert sn.Timing.model_validate_json(timing.model_dump_json()) == timing
    assert sn.Lidar(pattern=PATTERN, timing={"latency_s": 0.03}).timing == sn.Timing(latency_s=0.03)


def test_lidars_do_not_share_their_default():
    one, other = sn.Lidar(pattern=PATTERN), sn.Lidar(pattern=PATTERN)
    one.timing.latency_s = 0.5
    assert other.timing.latency_s == 0.0
    assert sn.Lidar(pattern=PATTERN).timing.latency_s == 0.0


@pytest.mark.parametrize("rate_hz", [10.0, 3.0, 7.3])
@pytest.mark.parametrize("step_s", [0.01, 0.0333, 0.25])
def test_readings_arrive_at_the_first_step_after_capture_and_latency(rate_hz, step_s):
    """Tick k begins at phase + k / rate, is complete one period later, and arrives after the latency."""
    phase_s, latency_s, duration_s = 0.04, 0.055, 1.5
    scene = sn.Scene()
    scene.add(sn.shapes.box(1, 50, 50), pose=sn.Pose((10, 0, 0)))
    env = sn.Environment(scene, sn.worlds.Static(step_s=step_s))
    lidar = env.attach(sn.Lidar(pattern=raster(rate_hz), timing=sn.Timing(phase_s=phase_s, latency_s=latency_s)))
    seen = []
    for _ in env.run(duration_s=duration_s):
        seen += [(reading.start_ns, reading.end_ns, env.time_ns) for reading in lidar.readings()]

    step_ns, expected, k = round(step_s * 1e9), [], 0
    period = 10**9 / Fraction(str(rate_hz))
    while True:
        start = round(phase_s * 1e9) + round(k * period)
        arrives = start + period + round(latency_s * 1e9)
        at_step = math.ceil(arrives / step_ns) * step_ns
        if at_step > env.time_ns:
            break
        expected.append((start, start + period, at_step))
        k += 1
    assert len(expected) >= 2
    assert len(seen) == len(expected)
    for (start, end, arrived), (start_, end_, arrived_) in zip(seen, expected, strict=True):
        assert start == pytest.approx(start_, abs=1)
        assert end == pytest.approx(float(end_), abs=2)
        assert arrived == arrived_


def test_latency_of_several_sweeps_keeps_them_in_order():
    scene = sn.Scene()
    scene.add(sn.shapes.box(1, 50, 50), pose=sn.Pose((10, 0, 0)))
    env = sn.Environment(scene, sn.worlds.Static(step_s=0.02))
    lidar = env.attach(sn.Lidar(pattern=PATTERN, timing=sn.Timing(latency_s=0.33)))
    starts = []
    for _ in env.run(duration_s=1.0):
        starts += [reading.start_ns for reading in lidar.readings()]
    np.testing.assert_array_equal(starts, np.arange(6) * 100_000_000)


class Engine(sn.worlds.Static):
    """A world that applies a gravity of its own."""

    def __init__(self, gravity_W):
        super().__init__()
        self.gravity_W = np.array(gravity_W, np.float64)

    def state(self):
        return dataclasses.replace(super().state(), gravity_W=self.gravity_W)


def rig_of(env, monkeypatch):
    """The rig that an attached sensor gets."""
    seen = []
    made = Rig.__init__
    monkeypatch.setattr(Rig, "__init__", lambda self, **fields: (made(self, **fields), seen.append(self))[0])
    pattern = sn.patterns.Spinning(elevation_deg=(0.0,), columns=8, rate_hz=10)
    env.attach(sn.Lidar(pattern=pattern))
    return seen[0]


def environment(world=None, **fields):
    scene = sn.Scene()
    scene.add(sn.shapes.box(1, 1, 1))
    return sn.Environment(scene, world, **fields)


def test_by_default_gravity_is_standard_and_there_is_no_magnetic_field(monkeypatch):
    env = environment()
    assert env.gravity == sn.fields.UniformGravity((0, 0, -9.80665))
    assert env.magnetic is None
    rig = rig_of(env, monkeypatch)
    assert rig.magnetic is None
    np.testing.assert_array_equal(rig.gravity_at(np.zeros((2, 1, 3)), None), np.full((2, 1, 3), (0, 0, -9.80665)))


def test_fields_reach_the_sensors(monkeypatch):
    gravity = sn.fields.PointMassGravity(center=(0, 0, -6378137.0))
    magnetic = sn.fields.UniformMagnetic((20e-6, 0, -44e-6))
    env = environment(gravity=gravity, magnetic=magnetic)
    assert env.gravity is gravity
    assert env.magnetic is magnetic
    rig = rig_of(env, monkeypatch)
    assert rig.magnetic is magnetic
    p_W = np.array([[0.0, 0.0, 100.0], [3.0, 4.0, 5.0]])
    np.testing.assert_array_equal(rig.gravity_at(p_W, None), gravity.at(p_W))


def test_the_world_s_own_gravity_comes_first(monkeypatch):
    env = environment(Engine((0, 0, -1.62)), gravity=sn.fields.UniformGravity((0, 0, -3.7)))
    rig = rig_of(env, monkeypatch)
    p_W = np.ones((4, 2, 3))
    own_W = rig.history.newest.gravity_W
    g_W = rig.gravity_at(p_W, own_W)
    np.testing.assert_array_equal(g_W, np.full((4, 2, 3), (0, 0, -1.62)))
    g_W[...] = 0.0
    np.testing.assert_array_equal(rig.gravity_at(p_W[0, 0], own_W), (0, 0, -1.62))

    # Also where it is none at all
    free = rig_of(environment(Engine((0, 0, 0))), monkeypatch)
    np.testing.assert_array_equal(free.gravity_at(p_W, free.history.newest.gravity_W), np.zeros((4, 2, 3)))


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"gravity": (0, 0, -9.81)}, "gravity is a tuple; it must be a gravity field of sn.fields"),
        ({"gravity": sn.fields.UniformMagnetic((0, 0, 1))}, "gravity is a UniformMagnetic"),
        ({"magnetic": (0, 0, 1)}, "magnetic is a tuple; it must be a magnetic field of sn.fields"),
        ({"magnetic": sn.fields.UniformGravity()}, "magnetic is a UniformGravity"),
    ],
)
def test_what_is_no_field_is_refused(fields, rule):
    with pytest.raises(SpecError, match=rule):
        environment(**fields)

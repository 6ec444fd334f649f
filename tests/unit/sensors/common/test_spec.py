"""What every specification of a sensor checks: faults that have something to act on."""

import math
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.corruption import Bias, Fault, FaultSchedule, TimingErrors
from sensorium.sensors.common.spec import SensorSpec


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

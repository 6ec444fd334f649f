"""When messages leave, and that absent, slow and dead readers stop nothing."""

import os
import socket
import time

import pytest

import sensorium as sn
from sensorium.live.step import LiveStep
from sensorium.record.ros2.step_messages import StepMessages
from tests.unit.live.talkers.rig import live_threads, run_and_keep, vehicle


@pytest.mark.parametrize(("speed", "spacing_s"), [(1.0, 0.01), (0.5, 0.02), (None, 0.0)])
def test_readings_of_a_step_are_as_far_apart_as_they_were_measured(speed, spacing_s):
    env = vehicle(sensors=("imu",), step_s=0.1)
    sink, clock = sn.live.open_sink("xsens", port="udp:9"), sn.live.RunClock(speed)
    sink.open(env, clock)
    env.step()
    began_s = time.monotonic()
    due_s = [item.payload.due_s for item in sink._prepare(LiveStep(env, StepMessages()))]
    ended_s = time.monotonic()
    sink.close()
    assert len(due_s) == 10
    for k, one in enumerate(due_s):
        # One step after its arrival: the first 10 ms after the step was sent, the last 100 ms
        assert began_s + (k + 1) * spacing_s <= one + 1e-9
        assert one <= ended_s + (k + 1) * spacing_s + 1e-9


def test_messages_leave_at_their_times():
    env = vehicle(sensors=("imu",), step_s=0.2, imu_hz=50.0)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        receiver.settimeout(10.0)
        sink = sn.live.open_sink("xsens", port=f"udp:{receiver.getsockname()[1]}")
        sink.open(env, sn.live.RunClock(1.0))
        env.step()
        sent_s = time.monotonic()
        sink.send(LiveStep(env, StepMessages()))
        arrived_s = []
        for _ in range(10):
            receiver.recv(1000)
            arrived_s.append(time.monotonic() - sent_s)
        sink.close()
    # never early, whatever the machine's load: the k-th of ten at 50 Hz is due after k periods
    assert all(late >= 0.02 * (k + 1) - 0.002 for k, late in enumerate(arrived_s))


def test_a_run_without_any_reader_ends_and_counts():
    env = vehicle(imu_hz=1000.0)
    sinks = [
        sn.live.open_sink("nmea", port="pty"),
        sn.live.open_sink("vectornav", port="pty"),
        sn.live.open_sink("xsens", port="tcp:0"),
        sn.live.open_sink("ubx", port="udp:9"),
    ]
    before = len(os.listdir("/proc/self/fd"))
    with pytest.warns(RuntimeWarning, match=r"live sink vectornav: .* dropped"):
        run_and_keep(env, sinks, duration_s=2.0)
    assert sinks[1].state().dropped > 0
    assert sinks[2].state().dropped == 0  # a server without clients drops nothing
    assert not live_threads()
    assert len(os.listdir("/proc/self/fd")) == before


def test_an_interrupted_run_ends_threads_and_descriptors(tmp_path):
    env, link = vehicle(), tmp_path / "gps"
    before = len(os.listdir("/proc/self/fd"))
    run = env.run(1.0, live=[sn.live.open_sink("nmea", port=f"pty:{link}"), "xsens"])
    next(run)
    assert link.is_symlink()
    assert len(live_threads()) == 2
    run.close()
    assert not live_threads()
    assert not link.is_symlink()
    assert len(os.listdir("/proc/self/fd")) == before


def test_closing_does_not_wait_for_what_is_due_later():
    env = vehicle(sensors=("imu",), step_s=0.5, imu_hz=20.0)
    sink = sn.live.open_sink("xsens", port="udp:9")
    sink.open(env, sn.live.RunClock(0.01))  # the last reading would leave after 50 s
    env.step()
    sink.send(LiveStep(env, StepMessages()))
    began_s = time.monotonic()
    sink.close()
    assert time.monotonic() - began_s < 20.0
    assert sink.state().sent == 10
    assert not live_threads()


@pytest.mark.parametrize("name", ["nmea", "ubx", "vectornav", "xsens", "mavlink"])
def test_one_world_with_an_axis_is_sent_too(name):
    if name == "mavlink":
        pytest.importorskip("pymavlink")
    sink = sn.live.open_sink(name, port="udp:9")
    vehicle(worlds=1).run(1.0, live=[sink]).finish()
    assert sink.state().sent >= 25
    assert sink.state().error is None

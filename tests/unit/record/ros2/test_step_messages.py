"""Messages of a step: in order, made once where they are shared, and the same file with and without sharing."""

import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.record.ros2 import cdr
from sensorium.record.ros2.step_messages import StepMessage, StepMessages, share


def environment():
    scene = sn.Scene()
    scene.add(sn.shapes.box(1, 20, 20), pose=sn.Pose((10.5, 0, 0)), label="wall")
    world = sn.worlds.Kinematic({"car": sn.paths.Line(start=(0, 0, 0), velocity=(1, 0, 0))}, step_s=0.05)
    env = sn.Environment(scene, world, seed=2)
    stuck = sn.corruption.Fault(sn.corruption.Stuck(mode="present"), start_s=0.1, end_s=0.2, name="stuck")
    faults = sn.corruption.FaultSchedule(faults=(stuck,))
    env.attach(sn.Gyroscope(timing=sn.Timing(rate_hz=20.0), faults=faults), body="car", name="gyro")
    pattern = sn.patterns.Spinning(elevation_deg=tuple(range(-8, 8)), columns=180, rate_hz=10)
    env.attach(sn.Lidar(pattern=pattern), body="car")
    return env


def test_time_and_bodies_come_first_then_mounts_and_faults_then_readings():
    env, maker = environment(), StepMessages()
    topics = []
    for _ in env.run(0.3):
        topics.append([one.topic for one in maker.of(env)])
    gyro, points = "/gyro/data_raw", "/lidar/points"
    assert topics[0] == ["/clock", "/tf", "/tf_static", "/tf_static", gyro]
    assert topics[1] == ["/clock", "/tf", "/diagnostics", gyro, points]
    assert topics[2] == ["/clock", "/tf", gyro]
    assert topics[3] == ["/clock", "/tf", "/diagnostics", gyro, points]


def test_shared_messages_are_the_same_objects_and_others_are_not():
    env, one, other = environment(), StepMessages(), StepMessages()
    for on in (True, False):
        share(env, on)
        for _ in env.run(0.2):
            pairs = zip(one.of(env), other.of(env), strict=True)
            same = {mine.topic: mine is its for mine, its in pairs}
            assert same["/tf"] is on
            assert same["/gyro/data_raw"] is on
            assert same.get("/lidar/points", on) is on
            assert not same["/clock"]


def test_shared_messages_of_a_step_are_not_those_of_the_step_before():
    env, one, other = environment(), StepMessages(), StepMessages()
    share(env, True)
    before = set()
    for _ in env.run(0.5):
        messages = one.of(env)
        other.of(env)
        assert not before & {id(each.message) for each in messages}
        assert all(each.log_ns == env.time_ns for each in messages if each.topic in ("/tf", "/gyro/data_raw"))
        kept = messages  # or their numbers could be given to new objects
        before |= {id(each.message) for each in kept}
        before = {id(each.message) for each in kept}
    assert before


def test_a_file_is_the_same_with_live_sinks_beside_it(tmp_path):
    class Listening(sn.live.QueuedSink):
        name = "listening"

        def _open(self, env, clock):
            pass

        def _prepare(self, step):
            return [sn.live.Item(one) for one in step.messages]

        def _deliver(self, one):
            one.cdr()
            return 1

        def _close(self):
            pass

    files = []
    for number, live in enumerate([[], [Listening()], [Listening(), Listening()]]):
        env = environment()
        with sn.record.McapRecorder(tmp_path / f"{number}.mcap", clouds_every=2) as recorder:
            for _ in env.run(1.0, live=live):
                recorder.record(env)
        files.append(recorder.path.read_bytes())
    assert files[0] == files[1] == files[2]


def test_a_message_is_encoded_once(monkeypatch):
    calls = []
    monkeypatch.setattr(cdr, "encoded", lambda message: calls.append(message) or b"bytes")
    one = StepMessage("/a", None, 0)
    assert one.cdr() is one.cdr()
    assert calls == [None]


def test_every_n_th_cloud_and_all_else():
    env, maker = environment(), StepMessages(clouds_every=3)
    topics = []
    for _ in env.run(1.0):
        topics += [one.topic for one in maker.of(env)]
    assert topics.count("/lidar/points") == 4
    assert topics.count("/gyro/data_raw") == 20


def test_two_sensors_of_one_topic_are_refused():
    env = environment()
    env.attach(sn.Gyroscope(timing=sn.Timing(rate_hz=20.0)), name="a b")
    env.attach(sn.Gyroscope(timing=sn.Timing(rate_hz=20.0)), name="a_b")
    with pytest.raises(SpecError, match="would both be recorded as"):
        env.step() or StepMessages().of(env)

"""ROS 2 over DDS, as processes of Cyclone DDS see it that come, go, freeze and die."""

import os
import random
import signal
from contextlib import ExitStack

import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.live.ros2.graph_names import LATCHED, Qos
from sensorium.record.ros2 import cdr
from sensorium.record.ros2.message import Message, vector
from tests.system.live.ros2_runs import Counting, Running, car, eventually, live_threads, open_sockets

pytest.importorskip("cyclonedds")

from sensorium.live.ros2.dds import dds_qos, dds_topic, open_participant, open_reader, taken
from sensorium.live.ros2.dds_types import topic_type
from sensorium.live.ros2.dds_writing import BytesWriter

pytestmark = pytest.mark.slow

IMU = "rt/imu/data_raw"


@pytest.fixture
def domain():
    """A domain of its own; threads and sockets that a test began have ended after it."""
    sockets = open_sockets()
    yield random.SystemRandom().randint(60, 99)
    eventually(lambda: not live_threads())
    eventually(lambda: open_sockets() <= sockets)


def test_another_process_decodes_the_samples_and_may_die(domain):
    env, sink = car(), sn.live.open_sink("dds", domain=domain)
    with ExitStack() as stack, Running(env, sink) as run:
        eventually(lambda: env.time_ns > 0)
        first, second = (Counting(stack, "dds_receiver.py", domain, IMU) for _ in range(2))
        eventually(lambda: first.count > 20 and second.count > 20, 30.0)
        first.process.kill()
        at = second.count
        eventually(lambda: second.count > at + 50)
        third = Counting(stack, "dds_receiver.py", domain, IMU)
        eventually(lambda: third.count > 20, 30.0)
        assert sink.state().receivers >= 2

        # One that takes nothing any more
        os.kill(second.process.pid, signal.SIGSTOP)
        at = third.count
        assert not run.stands_still(3.0)
        eventually(lambda: third.count > at + 20, 30.0)
        assert run.stops_within(3.0)
        os.kill(second.process.pid, signal.SIGCONT)


def test_late_readers_get_the_mounts_and_commands_arrive(domain):
    env, sink = car(), sn.live.open_sink("dds", domain=domain, namespace="robot1", frame_prefix="r1/")
    with Running(env, sink):
        eventually(lambda: env.time_ns > 100_000_000)
        _settings, participant = open_participant(domain, "127.0.0.1")
        mounts = open_reader(participant, "/tf_static", "tf2_msgs/msg/TFMessage", LATCHED)
        (frames,) = [
            [one.child_frame_id for one in cdr.decoded("tf2_msgs/msg/TFMessage", data).transforms]
            for data in eventually(lambda: taken(mounts))[-1:]
        ]
        assert frames == ["r1/flat", "r1/imu", "r1/ray"]
        kind = "geometry_msgs/msg/Twist"
        writer = BytesWriter(participant, dds_topic("/robot1/cmd_vel"), topic_type(kind), dds_qos(Qos()))
        eventually(lambda: writer.readers() == 1)
        twist = {"linear": vector((2.0, 0.0, 0.0)), "angular": vector((0.0, 0.0, 0.0))}
        writer.write(cdr.encoded(Message(kind, 0, twist)))
        eventually(lambda: env.state.X_WB.position[0, 0, 0] > 0.1)
        say = BytesWriter(
            participant, dds_topic("/robot1/sensorium/control"), topic_type("std_msgs/msg/String"), dds_qos(Qos())
        )
        eventually(lambda: say.readers() == 1)
        say.write(cdr.encoded(Message("std_msgs/msg/String", 0, {"data": "reset"})))
        eventually(lambda: env.state.X_WB.position[0, 0, 0] < 0.1)
    assert sink.state().error is None


def test_large_clouds_arrive_whole(domain):
    scene = sn.Scene()
    scene.add(sn.shapes.box(80.0, 60.0, 20.0))
    env = sn.Environment(scene, sn.worlds.Static({"car": sn.Pose()}, step_s=0.1))
    elevation = tuple(20.0 - k * 0.3 for k in range(128))
    pattern = sn.patterns.Spinning(elevation_deg=elevation, columns=1024, rate_hz=10.0)
    env.attach(sn.Lidar(pattern=pattern), body="car", name="top")
    with Running(env, sn.live.open_sink("dds", domain=domain)):
        _settings, participant = open_participant(domain, "127.0.0.1")
        reader = open_reader(participant, "/top/points", "sensor_msgs/msg/PointCloud2", Qos())
        (data, *_) = eventually(lambda: taken(reader), 30.0)
    cloud = cdr.decoded("sensor_msgs/msg/PointCloud2", data)
    assert cloud.width == 128 * 1024
    assert cloud.data.size == cloud.width * cloud.point_step


@pytest.mark.parametrize("interface", ["203.0.113.7", "no address"])
def test_an_interface_that_is_not_there_is_refused(domain, interface):
    with pytest.raises(SpecError, match=f"interface is '{interface}'"):
        car().run(1.0, live=[sn.live.open_sink("dds", domain=domain, interface=interface)]).finish()


def test_two_participants_of_a_process_share_a_domain(domain):
    kept = [open_participant(domain, "127.0.0.1") for _ in range(2)]
    assert [settings is None for settings, _ in kept] == [False, True]

"""Messages in one line, whatever the bytes are."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.live.listen.message_lines import message_line
from sensorium.record.ros2 import cdr
from sensorium.record.ros2.message import image
from sensorium.record.ros2.run_topics import clock
from sensorium.record.ros2.step_messages import StepMessages


def test_numbers_clouds_and_images():
    assert message_line("rosgraph_msgs/msg/Clock", cdr.encoded(clock(1_500_000_000))) == (
        "clock.sec 1, clock.nanosec 500000000"
    )
    picture = image(np.zeros((3, 4), np.uint8), "mono8", stamp_ns=0, frame_id="eye")
    assert message_line(picture.kind, cdr.encoded(picture)) == "4 x 3 mono8 in eye"
    scene = sn.Scene()
    scene.add(sn.shapes.sphere(5.0))
    env = sn.Environment(scene, sn.worlds.Static(step_s=0.1))
    env.attach(sn.Lidar(pattern=sn.patterns.Spinning(elevation_deg=(0, 1), columns=30, rate_hz=10)))
    env.step()
    (cloud,) = [one for one in StepMessages().of(env) if one.topic == "/lidar/points"]
    assert message_line(cloud.message.kind, cloud.cdr()) == "60 points in lidar"


@pytest.mark.parametrize("seed", range(20))
def test_bytes_that_are_no_message_are_said_to_be_none(seed):
    rng = np.random.default_rng(seed)
    kinds = ["sensor_msgs/msg/Imu", "sensor_msgs/msg/PointCloud2", "tf2_msgs/msg/TFMessage", "sensor_msgs/msg/Image"]
    line = message_line(kinds[seed % 4], rng.bytes(int(rng.integers(0, 30))))
    assert "bytes are no" in line
    assert "\n" not in line


def test_an_unknown_type_is_named():
    assert message_line("acme_msgs/msg/Sonar", b"") == "message type 'acme_msgs/msg/Sonar' is not known"

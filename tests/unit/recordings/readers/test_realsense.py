"""RealSense bags: frames, intrinsics and baseline as written; what is missing is named."""

import numpy as np
import pytest
from rosbags.rosbag1 import Writer
from rosbags.typesys import Stores, get_typestore

from sensorium.core.errors import SpecError
from sensorium.recordings.readers.realsense import read_realsense
from tests.unit.recordings.real import real

STORE = get_typestore(Stores.ROS1_NOETIC)
STAMP = STORE.types["builtin_interfaces/msg/Time"](0, 0)
HEADER = STORE.types["std_msgs/msg/Header"](0, STAMP, "depth")


def write_realsense(path, frames, *, unit_m=0.001, baseline_mm=50.0, focal_px=390.0, left_out="", encoding="mono16"):
    """A bag as the RealSense SDK writes it."""
    height, width = frames[0].shape
    kinds = STORE.types
    region = kinds["sensor_msgs/msg/RegionOfInterest"](0, 0, 0, 0, False)
    K = np.array([focal_px, 0, width / 2, 0, focal_px, height / 2, 0, 0, 1.0])
    info = kinds["sensor_msgs/msg/CameraInfo"](
        HEADER, height, width, "Brown Conrady", np.zeros(5), K, np.zeros(9), np.zeros(12), 0, 0, region
    )
    messages = [
        ("/device_0/sensor_0/Depth_0/info/camera_info", "sensor_msgs/msg/CameraInfo", info),
        ("/device_0/sensor_0/option/Depth Units/value", "std_msgs/msg/Float32", kinds["std_msgs/msg/Float32"](unit_m)),
        (
            "/device_0/sensor_0/option/Stereo Baseline/value",
            "std_msgs/msg/Float32",
            kinds["std_msgs/msg/Float32"](baseline_mm),
        ),
        (
            "/device_0/info",
            "diagnostic_msgs/msg/KeyValue",
            kinds["diagnostic_msgs/msg/KeyValue"]("Name", "Intel RealSense D435"),
        ),
    ]
    for frame in frames:
        data = np.ascontiguousarray(frame, "<u2").view(np.uint8).reshape(-1)
        image = kinds["sensor_msgs/msg/Image"](HEADER, height, width, encoding, 0, 2 * width, data)
        messages.append(("/device_0/sensor_0/Depth_0/image/data", "sensor_msgs/msg/Image", image))
    with Writer(path) as writer:
        connections = {}
        for k, (topic, kind, message) in enumerate(messages):
            if left_out and left_out in topic:
                continue
            if topic not in connections:
                connections[topic] = writer.add_connection(topic, kind, typestore=STORE)
            writer.write(connections[topic], 1000 * k, STORE.serialize_ros1(message, kind))
    return path


def frames(count=2):
    return np.random.default_rng(3).integers(0, 4000, (count, 6, 8)).astype(np.uint16)


def test_frames_come_as_they_were_written(tmp_path):
    found = read_realsense(write_realsense(tmp_path / "a.bag", frames()))
    np.testing.assert_array_equal(found.codes, frames())
    assert (found.device, found.focal_px) == ("Intel RealSense D435", 390.0)
    assert found.unit_m == pytest.approx(0.001)
    assert found.baseline_m == pytest.approx(0.05)
    assert found.disparity_of_m == pytest.approx(19.5)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"left_out": "image/data"}, "has no depth frame"),
        ({"left_out": "camera_info"}, "focal length of 'a.bag' is None"),
        ({"left_out": "Baseline"}, "baseline of 'a.bag' is None"),
        ({"left_out": "Units"}, "depth unit of 'a.bag' is None"),
        ({"unit_m": -1.0}, "depth unit of 'a.bag' is -1.0"),
        ({"focal_px": np.nan}, "focal length of 'a.bag' is nan"),
        ({"encoding": "rgb8"}, "has the encoding 'rgb8'"),
    ],
)
def test_what_is_missing_is_named(tmp_path, changes, says):
    with pytest.raises(SpecError, match=says):
        read_realsense(write_realsense(tmp_path / "a.bag", frames(), **changes))


def test_the_d435_of_the_recording():
    found = read_realsense(real("depth_realsense_d435/single_depth_color_640x480.bag"))
    assert (found.device, found.firmware) == ("Intel RealSense D435", "05.09.14.00")
    assert found.codes.shape == (2, 480, 640)
    assert found.baseline_m == pytest.approx(0.0501707, abs=1e-7)
    assert found.focal_px == pytest.approx(390.43146, abs=1e-4)

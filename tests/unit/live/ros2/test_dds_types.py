"""Types for Cyclone DDS: what it encodes of a type, rosbags decodes, and the reverse."""

import pytest

pytest.importorskip("cyclonedds")

from cyclonedds.idl import IdlStruct
from rosbags.typesys import Stores, get_typestore

from sensorium.core.errors import SpecError
from sensorium.live.ros2.dds_types import ReadyBytes, topic_type
from sensorium.record.ros2 import cdr
from sensorium.record.ros2.message import Message, header, quaternion, vector

SENT = [
    "sensor_msgs/msg/PointCloud2",
    "sensor_msgs/msg/Imu",
    "sensor_msgs/msg/MagneticField",
    "sensor_msgs/msg/JointState",
    "nav_msgs/msg/Odometry",
    "sensor_msgs/msg/NavSatFix",
    "geometry_msgs/msg/TwistStamped",
    "sensor_msgs/msg/FluidPressure",
    "std_msgs/msg/Float64",
    "sensor_msgs/msg/Range",
    "sensor_msgs/msg/Image",
    "sensor_msgs/msg/CameraInfo",
    "tf2_msgs/msg/TFMessage",
    "rosgraph_msgs/msg/Clock",
    "diagnostic_msgs/msg/DiagnosticArray",
    "sensor_msgs/msg/LaserScan",
    "std_msgs/msg/String",
    "geometry_msgs/msg/Twist",
    "std_msgs/msg/Float64MultiArray",
    "std_msgs/msg/Empty",
]


@pytest.mark.parametrize("kind", SENT)
def test_every_type_that_is_sent_has_a_class_by_its_name_in_dds(kind):
    made = topic_type(kind)
    package, _, name = kind.split("/")
    assert made.__idl_typename__.replace(".", "::") == f"{package}::msg::dds_::{name}_"
    made.__idl__.populate()
    assert topic_type(kind) is made


def test_cyclone_decodes_what_is_sent():
    transform = {"translation": vector((1.0, 2.0, 3.0)), "rotation": quaternion((1.0, 0.0, 0.0, 0.0))}
    stamped = {"header": header(7_000_000_005, "world"), "child_frame_id": "car", "transform": transform}
    message = Message("tf2_msgs/msg/TFMessage", 0, {"transforms": [stamped, stamped]})
    data = cdr.encoded(message)
    read = IdlStruct.deserialize.__func__(topic_type(message.kind), data + bytes(-len(data) % 4))
    assert len(read.transforms) == 2
    one = read.transforms[1]
    assert (one.header.stamp.sec, one.header.stamp.nanosec, one.child_frame_id) == (7, 5, "car")
    assert one.transform.translation.z == 3.0
    assert one.transform.rotation.w == 1.0


def test_rosbags_decodes_what_cyclone_encodes():
    kind = "geometry_msgs/msg/Twist"
    made = topic_type(kind)
    vector_type = made.__annotations__["linear"]
    sample = made(linear=vector_type(1.0, 2.0, 3.0), angular=vector_type(4.0, 5.0, 6.0))
    read = get_typestore(Stores.ROS2_JAZZY).deserialize_cdr(sample.serialize(use_version_2=False), kind)
    assert (read.linear.y, read.angular.z) == (2.0, 6.0)


def test_a_reader_gives_bytes():
    assert topic_type("std_msgs/msg/String").deserialize(b"abc", use_version_2=False).data == b"abc"
    assert ReadyBytes(b"x").sample_info is None


def test_unknown_types_are_refused():
    with pytest.raises(SpecError, match="'acme_msgs/msg/Odd' is not known"):
        topic_type("acme_msgs/msg/Odd")

"""Hashes of types against published ones, and messages of later distributions."""

import pytest
from rosbags.interfaces import Nodetype
from rosbags.typesys import Stores, get_typestore

from sensorium.live.ros2 import message_types as types
from sensorium.record.ros2 import cdr
from sensorium.record.ros2.message import Message, header

# Of rmw_zenoh's design document
STRING = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"
ADD_TWO_INTS = "RIHS01_e118de6bf5eeb66a2491b5bda11202e7b68f198d6f67922cf30364858239c81a"

RANGE = "sensor_msgs/msg/Range"


def test_hashes_are_the_published_ones():
    assert types.type_hash("std_msgs/msg/String", "jazzy") == STRING
    integer = (Nodetype.BASE, ("int64", 0))
    found = types.service_hash(
        "example_interfaces/srv/AddTwoInts", [("a", integer), ("b", integer)], [("sum", integer)]
    )
    assert found == ADD_TWO_INTS


def test_the_trigger_service_has_the_hash_that_another_implementation_finds():
    # By zenoh-ros2-sdk 0.1.8
    assert types.trigger_hash("jazzy") == "RIHS01_eeff2cd6fa5ad9d27cdf4dec64818317839b62f212a91e6b5304b634b2062c5f"


def test_humble_has_no_hashes():
    assert types.type_hash("std_msgs/msg/String", "humble") == types.trigger_hash("humble") == "TypeHashNotSupported"


@pytest.mark.parametrize("kind", ["sensor_msgs/msg/PointCloud2", "sensor_msgs/msg/Imu", "tf2_msgs/msg/TFMessage"])
def test_types_are_the_same_in_all_later_distributions(kind):
    later = {get_typestore(store).hash_rihs01(kind) for store in (Stores.ROS2_JAZZY, Stores.ROS2_KILTED)}
    assert later == {types.type_hash(kind, "jazzy")}


def test_a_range_gets_its_variance_for_later_distributions():
    fields = {
        "header": header(5, "ray"),
        "radiation_type": 1,
        "field_of_view": 0.0,
        "min_range": 0.1,
        "max_range": 9.0,
        "range": 2.5,
    }
    data = cdr.encoded(Message(RANGE, 5, fields))
    assert types.payload(RANGE, data, "humble") == data
    later = types.payload(RANGE, data, "jazzy")
    read = get_typestore(Stores.ROS2_JAZZY).deserialize_cdr(later, RANGE)
    assert (read.range, read.variance, read.header.frame_id) == (2.5, 0.0, "ray")
    assert types.as_recorded(RANGE, later, types.type_hash(RANGE, "jazzy")) == data
    assert types.as_recorded(RANGE, data, "TypeHashNotSupported") == data


def test_added_types_have_hashes_too():
    cdr.add_types({"acme_msgs/msg/Sonar": "float64 depth\n"})
    assert types.type_hash("acme_msgs/msg/Sonar", "jazzy").startswith("RIHS01_")

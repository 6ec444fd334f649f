"""Names of rmw_zenoh: examples from its design document, and round trips of random names."""

import random
import string
import struct

import pytest

from sensorium.core.errors import SpecError
from sensorium.live.ros2.graph_names import (
    LATCHED,
    PUBLISHER,
    SUBSCRIPTION,
    Endpoint,
    Node,
    Qos,
    attachment,
    checked_name,
    dds_type_name,
    publisher_gid,
    read_attachment,
    ros_type_name,
    topic_key,
)

STRING_HASH = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"


def test_the_key_of_a_topic_is_that_of_the_design_document():
    key = topic_key(0, "/chatter", dds_type_name("std_msgs/msg/String"), STRING_HASH)
    assert key == f"0/chatter/std_msgs::msg::dds_::String_/{STRING_HASH}"
    deep = topic_key(2, "/robot1/chatter", dds_type_name("std_msgs/msg/String"), STRING_HASH)
    assert deep == f"2/robot1/chatter/std_msgs::msg::dds_::String_/{STRING_HASH}"


def test_tokens_are_those_of_the_design_document():
    node = Node(2, "aac3178e146ba6f1fc6e6a4085e77f21", "listener")
    assert node.token == "@ros2_lv/2/aac3178e146ba6f1fc6e6a4085e77f21/0/0/NN/%/%/listener"
    type_name = dds_type_name("std_msgs/msg/String")
    token = node.endpoint_token(10, SUBSCRIPTION, "/chatter", type_name, STRING_HASH, Qos())
    assert token == (
        "@ros2_lv/2/aac3178e146ba6f1fc6e6a4085e77f21/0/10/MS/%/%/listener/%chatter/std_msgs::msg::dds_::String_/"
        f"{STRING_HASH}/::,10:,:,:,,"
    )


def test_a_namespace_is_one_part_of_a_token():
    node = Node(0, "ab", "talker", "fleet/robot1")
    assert node.token == "@ros2_lv/0/ab/0/0/NN/%/%fleet%robot1/talker"


@pytest.mark.parametrize(
    ("qos", "key"),
    [
        (Qos(), "::,10:,:,:,,"),
        (Qos(reliability="best_effort", depth=5), "2::,5:,:,:,,"),
        (LATCHED, ":1:,1:,:,:,,"),
        (Qos(reliability="best_effort", durability="transient_local", depth=100), "2:1:,100:,:,:,,"),
    ],
)
def test_qos_has_the_numbers_of_rmw(qos, key):
    assert qos.key == key
    assert Qos.from_key(key) == qos


def test_a_depth_that_is_left_out_is_rmw_zenohs_default():
    assert Qos.from_key("::,:,:,:,,").depth == 42


def test_endpoints_are_read_back_from_their_tokens():
    pick = random.Random(3)

    def word() -> str:
        return pick.choice(string.ascii_letters) + "".join(pick.choices(string.ascii_letters + "_09", k=5))

    for _ in range(200):
        topic = "".join(f"/{word()}" for _ in range(pick.randint(1, 4)))
        node = Node(pick.randint(0, 232), f"{pick.getrandbits(64):x}", word(), pick.choice(["", word(), "a/b"]))
        qos = Qos(
            reliability=pick.choice(["reliable", "best_effort"]),
            durability=pick.choice(["volatile", "transient_local"]),
            depth=pick.randint(1, 1000),
        )
        kind = f"{word()}/msg/{word()}"
        token = node.endpoint_token(5, PUBLISHER, topic, dds_type_name(kind), STRING_HASH, qos)
        assert "//" not in token
        found = Endpoint.from_token(token)
        assert found == Endpoint(PUBLISHER, node.name, topic, dds_type_name(kind), STRING_HASH, qos)
        assert ros_type_name(found.type_name) == kind
        assert Endpoint.from_token(node.token) is None


@pytest.mark.parametrize("token", ["", "@ros2_lv/0", "a/" * 12 + "b", "@ros2_lv/" + "x/" * 11 + "no qos"])
def test_other_keys_are_no_endpoints(token):
    assert Endpoint.from_token(token) is None


def test_an_attachment_has_the_bytes_that_rmw_zenoh_reads():
    gid = publisher_gid("@ros2_lv/0/ab")
    data = attachment(7, 1_700_000_000_123_456_789, gid)
    assert len(gid) == 16
    assert data == struct.pack("<q", 7) + struct.pack("<q", 1_700_000_000_123_456_789) + b"\x10" + gid
    assert read_attachment(data) == (7, 1_700_000_000_123_456_789, gid)


def test_publishers_have_different_ids():
    assert publisher_gid("a") != publisher_gid("b")


@pytest.mark.parametrize("data", [b"", bytes(32), bytes(34), bytes(33)])
def test_other_attachments_are_refused(data):
    with pytest.raises(SpecError, match="attachment has"):
        read_attachment(data)


def test_names_lose_their_outer_slashes():
    assert checked_name("namespace", "/fleet/robot1/") == "fleet/robot1"
    assert checked_name("namespace", "") == ""
    for wrong in ("a b", "1st", "a//b", "a-b", "*"):
        with pytest.raises(SpecError, match="namespace is"):
            checked_name("namespace", wrong)


@pytest.mark.parametrize("wrong", [{"reliability": "maybe"}, {"durability": "no"}, {"depth": 0}, {"depth": 1.5}])
def test_other_qos_is_refused(wrong):
    with pytest.raises(SpecError, match=next(iter(wrong))):
        Qos(**wrong)

"""std_srvs/Trigger in CDR, against the encoder of rosbags."""

from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from sensorium.live.ros2.trigger import REQUEST, read_reply, trigger_reply


def test_replies_are_those_that_rosbags_encodes():
    store = get_typestore(Stores.EMPTY)
    store.register(get_types_from_msg("bool success\nstring message\n", "x/msg/Reply"))
    for success, message in ((True, ""), (False, "no"), (True, "the run pauses after this step"), (True, "ä")):
        data = trigger_reply(success, message)
        encoded = bytes(
            store.serialize_cdr(store.types["x/msg/Reply"](success=success, message=message), "x/msg/Reply")
        )
        assert data == encoded
        assert read_reply(data) == (success, message)


def test_a_request_has_one_byte():
    store = get_typestore(Stores.EMPTY)
    store.register(get_types_from_msg("uint8 structure_needs_at_least_one_member\n", "x/msg/Request"))
    assert bytes(store.serialize_cdr(store.types["x/msg/Request"](0), "x/msg/Request")) == REQUEST

"""MCAP files as others may hand them to us."""

import json
import struct

import pytest
from mcap.writer import Writer

from sensorium.core.errors import SpecError
from sensorium.files.mcap_messages import open_mcap

OWN = b"\n".join([b"float64 x", b"Other[] others", b"=" * 80, b"MSG: own_msgs/Other", b"int32 y", b""])


def write(path, messages):
    """Messages as (topic, encoding, schema name, schema text, bytes), a nanosecond apart."""
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start()
        channels = {}
        for log_ns, (topic, encoding, name, text, data) in enumerate(messages):
            if topic not in channels:
                schema = writer.register_schema(name, "ros2msg", text) if name else 0
                channels[topic] = writer.register_channel(topic, encoding, schema)
            writer.add_message(channels[topic], log_ns, data, log_ns)
        writer.finish()
    return path


def test_messages_come_in_order_with_the_files_own_definitions(tmp_path):
    own = b"\x00\x01\x00\x00" + struct.pack("<dIi", 1.5, 1, -7)
    path = write(
        tmp_path / "log.mcap",
        [
            ("/own", "cdr", "own_msgs/msg/Own", OWN, own),
            ("/text", "json", None, b"", json.dumps({"x": 2}).encode()),
            ("/own", "cdr", "own_msgs/msg/Own", OWN, own),
        ],
    )
    with open_mcap(path) as file:
        assert file.topics_of("own_msgs/msg/Own") == ["/own"]
        assert (file.count("/own"), file.count("/text")) == (2, 1)
        decoders = {topic: file.decoder(topic) for topic in file.channels}
        found = [(m.topic, m.log_ns, decoders[m.topic](m.data)) for m in file.messages(["/own", "/text"])]
        assert list(file.messages([])) == []
    assert [(topic, log_ns) for topic, log_ns, _ in found] == [("/own", 0), ("/text", 1), ("/own", 2)]
    assert (found[0][2].x, found[0][2].others[0].y) == (1.5, -7)
    assert found[1][2] == {"x": 2}


def test_what_is_wrong_is_told_in_one_line(tmp_path):
    path = write(
        tmp_path / "log.mcap",
        [("/text", "json", None, b"", b"{}"), ("/text", "json", None, b"", b"{"), ("/raw", "protobuf", None, b"", b"")],
    )
    with open_mcap(path) as file:
        decode = file.decoder("/text")
        decode(b"{}")
        with pytest.raises(SpecError, match=r"message 1 of '/text' in 'log\.mcap' cannot be decoded: JSONDecodeError"):
            decode(b"{")
        with pytest.raises(SpecError, match=r"messages of '/raw' in 'log\.mcap' are 'protobuf'; it must be cdr with"):
            file.decoder("/raw")
    with (
        pytest.raises(SpecError, match=r"'log\.mcap' is not a whole MCAP file \(ValueError of two lines\); try"),
        open_mcap(path),
    ):
        raise ValueError("of\ntwo lines")
    with (
        pytest.raises(SpecError, match=r"'gone\.mcap' cannot be read: No such file"),
        open_mcap(tmp_path / "gone.mcap"),
    ):
        pass

"""Received messages in a file that a reader of MCAP opens."""

import pytest
from mcap.reader import make_reader

from sensorium.core.errors import RecordError
from sensorium.live.listen.received_mcap import Encoding, received_mcap
from sensorium.live.listen.receiver import Received


def test_messages_times_and_schemas_come_back(tmp_path):
    sent = [Received(f"/t{k % 2}", f"a/msg/K{k % 2}", bytes([k]) * k, 1000 + k, "") for k in range(50)]
    asked = []

    def encoding_of(received):
        asked.append(received.source)
        return Encoding("cdr", "ros2msg", f"uint8 {received.source[1:]}".encode())

    with received_mcap(tmp_path / "x.mcap", encoding_of) as write:
        for received in sent:
            write(received)
    with (tmp_path / "x.mcap").open("rb") as file:
        found = [(c.topic, s.name, m.data, m.log_time, s.data) for s, c, m in make_reader(file).iter_messages()]
    assert found == [(r.source, r.kind, r.payload, r.time_ns, f"uint8 {r.source[1:]}".encode()) for r in sent]
    assert asked == ["/t0", "/t1"]


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(RecordError, match="cannot be written"), received_mcap(tmp_path / "no" / "x.mcap", None):
        pass

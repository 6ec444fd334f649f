"""Captures as the reader of captures reads them."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.live.lidar_udp.pcap_file import PcapFile
from sensorium.recordings.readers.pcap import read_pcap


def test_datagrams_are_read_again(tmp_path):
    file = PcapFile(tmp_path / "a.pcap")
    rows = [np.arange(size, dtype=np.uint8) for size in (1, 48, 1206)] + [np.zeros(24832, np.uint8)]
    for k, row in enumerate(rows):
        file.write(946_684_800_000_000_000 + k, row, ("127.0.0.2", 7502), ("127.0.0.1", 7000 + k % 2))
    file.close()
    found = read_pcap(tmp_path / "a.pcap")
    assert [bytes(payload) for payload in found.payloads] == [row.tobytes() for row in rows]
    assert found.time_ns.tolist() == [946_684_800_000_000_000 + k for k in range(4)]
    assert found.streams == ("127.0.0.2:7502 to 7000", "127.0.0.2:7502 to 7001")


def test_a_folder_that_is_missing_is_refused(tmp_path):
    with pytest.raises(SpecError, match="cannot be written: No such file"):
        PcapFile(tmp_path / "no" / "a.pcap")

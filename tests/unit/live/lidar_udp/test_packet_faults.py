"""Lost, doubled and late packets: their shares, and that draws do not depend on batches."""

import numpy as np

from sensorium.live.lidar_udp.options import PacketFaults
from sensorium.live.lidar_udp.packet_faults import FaultyNetwork
from sensorium.live.lidar_udp.packets import PacketBatch

N = 20000


def batch(first=0, count=N):
    numbers = np.arange(first, first + count, dtype=np.uint32)
    return PacketBatch("lidar", numbers.view(np.uint8).reshape(-1, 4), 1000 * numbers.astype(np.int64))


def numbers_of(found):
    return found.payload.copy().view(np.uint32)[:, 0]


def test_shares_of_packets_are_lost_doubled_and_late():
    network = FaultyNetwork(PacketFaults(dropped=0.1, doubled=0.2, late=0.3, late_s=0.004), seed=5, name="top/lidar")
    found = network.carried(batch())
    numbers, times = np.unique(numbers_of(found), return_counts=True)
    spread = 5.0 * 0.5 / np.sqrt(N)
    assert abs(len(numbers) / N - 0.9) < spread
    assert network.dropped == N - len(numbers)
    assert set(times.tolist()) == {1, 2}
    assert abs((times == 2).mean() - 0.2) < spread
    late = found.fired_ns - 1000 * numbers_of(found).astype(np.int64)
    assert set(late.tolist()) == {0, 4_000_000}
    assert abs((late > 0).mean() - 0.3) < spread


def test_draws_depend_on_the_number_of_the_packet_alone():
    faults = PacketFaults(dropped=0.2, doubled=0.1, late=0.1)
    whole = FaultyNetwork(faults, seed=5, name="a").carried(batch(count=300))
    pieces = FaultyNetwork(faults, seed=5, name="a")
    parts = [pieces.carried(batch(first, 100)) for first in (0, 100, 200)]
    np.testing.assert_array_equal(numbers_of(whole), np.concatenate([numbers_of(part) for part in parts]))
    np.testing.assert_array_equal(whole.fired_ns, np.concatenate([part.fired_ns for part in parts]))
    other = FaultyNetwork(faults, seed=6, name="a").carried(batch(count=300))
    assert numbers_of(other).tolist() != numbers_of(whole).tolist()


def test_without_faults_the_packets_are_untouched():
    given = batch(count=10)
    assert FaultyNetwork(PacketFaults(), seed=1, name="a").carried(given) is given

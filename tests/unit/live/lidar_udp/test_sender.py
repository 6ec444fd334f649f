"""Datagrams at their times, by the kernel and by Python."""

import socket
import threading
import time

import numpy as np
import pytest

from sensorium.live.lidar_udp.addresses import connected_socket
from sensorium.live.lidar_udp.sender import PacketSender


def listener():
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    one.bind(("127.0.0.1", 0))
    one.settimeout(5.0)
    return one


@pytest.fixture(params=[True, False], ids=["kernel", "python"])
def in_kernel(request):
    return request.param


def numbered(count, first=0):
    """Datagrams that have a number each."""
    return np.arange(first, first + count, dtype=np.uint32).view(np.uint8).reshape(count, 4)


def test_datagrams_leave_in_the_order_of_their_times_and_not_before(in_kernel):
    with listener() as here, connected_socket(here.getsockname(), None) as out:
        sender = PacketSender([out], in_kernel=in_kernel)
        rng, begin_ns = np.random.default_rng(1), time.monotonic_ns() + 50_000_000
        due_ns = begin_ns + rng.permutation(60) * 2_000_000
        for part in range(3):
            sender.submit(numbered(20, 20 * part), due_ns[20 * part : 20 * part + 20], 0)
        received, arrived_ns = [], []
        for _ in range(60):
            received.append(int(np.frombuffer(here.recv(100), np.uint32)[0]))
            arrived_ns.append(time.monotonic_ns())
        sender.close()
    assert received == np.argsort(due_ns).tolist()
    assert (np.array(arrived_ns) >= np.sort(due_ns)).all()
    assert (sender.counts().sent, sender.counts().dropped, sender.counts().late) == (60, 0, 0)
    assert sender.deviations_s().shape == (60,)
    assert (sender.deviations_s() >= 0.0).all()


def test_a_receiver_may_end_and_begin_again(in_kernel):
    with listener() as here:
        address = here.getsockname()
        with connected_socket(address, None) as out:
            sender = PacketSender([out], in_kernel=in_kernel)

            def sent(first, count):
                sender.submit(numbered(count, first), np.full(count, time.monotonic_ns()), 0)
                until = time.monotonic() + 5.0
                while sender.counts().sent < first + count and time.monotonic() < until:
                    time.sleep(0.005)

            sent(0, 5)
            assert [int(np.frombuffer(here.recv(100), np.uint32)[0]) for _ in range(5)] == [0, 1, 2, 3, 4]
            assert sender.reachable() == 1
            here.close()
            sent(5, 5)
            sent(10, 5)
            assert sender.reachable() == 0
            again = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            again.bind(address)
            again.settimeout(5.0)
            sent(15, 5)
            assert [int(np.frombuffer(again.recv(100), np.uint32)[0]) for _ in range(5)] == [15, 16, 17, 18, 19]
            again.close()
            sender.close()
    assert sender.counts().dropped == 0


def test_more_than_fit_are_dropped_and_counted_and_the_thread_ends(in_kernel):
    before = threading.active_count()
    with listener() as here, connected_socket(here.getsockname(), None) as out:
        sender = PacketSender([out], most=16, in_kernel=in_kernel)
        far_ns = np.full(20, time.monotonic_ns() + 3_600_000_000_000)
        sender.submit(numbered(20), far_ns, 0)
        assert sender.counts().dropped == 4
        assert sender.pending_until_ns() == far_ns[0]
        begun = time.monotonic()
        sender.close()
        sender.close()
        assert time.monotonic() - begun < 1.0
    assert sender.counts().dropped == 20
    assert sender.counts().sent == 0
    assert threading.active_count() == before


def test_slots_are_used_again(in_kernel):
    with listener() as here, connected_socket(here.getsockname(), None) as out:
        sender = PacketSender([out], most=16, in_kernel=in_kernel)
        for part in range(10):
            sender.submit(numbered(10, 10 * part), np.full(10, time.monotonic_ns()), 0)
            for k in range(10):
                assert int(np.frombuffer(here.recv(100), np.uint32)[0]) == 10 * part + k
            until = time.monotonic() + 5.0
            while sender.counts().sent < 10 * part + 10 and time.monotonic() < until:
                time.sleep(0.001)
        sender.close()
    assert sender.counts().sent == 100

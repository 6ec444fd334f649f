"""The queue of a sink: bounds, drops, errors, the end of its thread."""

import threading
import time

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.live import Item, QueuedSink, RunClock


class Sink(QueuedSink):
    """Sends what it is told to, through a gate that a test opens."""

    name = "test"

    def __init__(self, **bounds):
        super().__init__(**bounds)
        self.gate = threading.Event()
        self.delivered, self.closed, self.fails_on = [], 0, set()

    def _open(self, env, clock):
        pass

    def _prepare(self, step):
        return step

    def _deliver(self, payload):
        self.gate.wait()
        if payload in self.fails_on:
            raise OSError(f"no route for {payload}")
        self.delivered.append(payload)
        return 1

    def _close(self):
        self.closed += 1


def threads():
    return {thread for thread in threading.enumerate() if thread.name.startswith("sensorium-live")}


def opened(**bounds):
    sink = Sink(**bounds)
    sink.open(None, RunClock())
    return sink


def settled(sink, condition):
    ends_s = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < ends_s, sink.state()
        time.sleep(0.001)


@pytest.mark.parametrize("seed", range(6))
def test_the_oldest_droppable_items_go_and_all_else_stays_in_order(seed):
    """Against a list: while items are too many or too large, the oldest droppable one but the newest goes."""
    rng = np.random.default_rng(seed)
    most, most_bytes = int(rng.integers(1, 12)), int(rng.integers(50, 400))
    sink = opened(queue_items=most, queue_bytes=most_bytes)
    sink.send([Item("first")])
    settled(sink, lambda: not sink._queue)  # it waits at the gate, outside the queue
    expected, dropped = [], 0
    for number in range(100):
        new = [
            Item((number, k), int(rng.integers(0, 60)), droppable=bool(rng.random() < 0.8))
            for k in range(rng.integers(1, 4))
        ]
        sink.send(new)
        expected += new
        while len(expected) > most or sum(item.nbytes for item in expected) > most_bytes:
            oldest = next((item for item in expected[:-1] if item.droppable), None)
            if oldest is None:
                break
            expected.remove(oldest)
            dropped += 1
    assert list(sink._queue) == expected
    assert sink.state().dropped == dropped
    assert sink._bytes == sum(item.nbytes for item in expected)
    sink.gate.set()
    sink.close()
    assert sink.delivered == ["first", *(item.payload for item in expected)]
    assert sink.state().sent == 1 + len(expected)


def test_a_receiver_that_never_reads_does_not_hold_the_run_up_and_ends_with_it():
    sink = opened(queue_items=4)
    for number in range(1000):
        sink.send([Item(number)])  # returns, though nothing is delivered
    began_s = time.monotonic()
    releases = threading.Timer(0.2, sink.gate.set)
    releases.start()
    sink.close()
    assert time.monotonic() - began_s < 2.0
    state = sink.state()
    assert state.sent + state.dropped == 1000
    assert state.sent <= 5
    assert not threads()


def test_an_error_drops_the_item_and_the_next_is_tried():
    sink = opened()
    sink.fails_on = {1, 3}
    sink.gate.set()
    sink.send([Item(number) for number in range(5)])
    sink.close()
    assert sink.delivered == [0, 2, 4]
    assert sink.state() == sn.live.SinkState("test", 3, 2, None, "OSError no route for 3")
    assert "3 sent, 2 dropped (OSError no route for 3)" in str(sink.state())


def test_it_is_closed_once_and_opened_once():
    sink = opened()
    sink.close()
    sink.close()
    assert sink.closed == 1
    with pytest.raises(SpecError, match="live sink 'test' was opened before"):
        sink.open(None, RunClock())


def test_a_sink_that_cannot_be_opened_is_closed():
    class Broken(Sink):
        def _open(self, env, clock):
            raise SpecError("port 1 is taken")

    sink = Broken()
    with pytest.raises(SpecError, match="port 1"):
        sink.open(None, RunClock())
    assert sink.closed == 1
    assert not threads()


def test_bounds_are_positive():
    with pytest.raises(SpecError, match="queue_items is 0"):
        Sink(queue_items=0)

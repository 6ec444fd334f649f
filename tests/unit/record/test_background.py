"""The thread that writes: order, bounds and errors."""

import threading

import pytest

from sensorium.record.background import Background


class Slow:
    """Work that waits to be let go."""

    def __init__(self):
        self.done, self.gate, self.begun = [], threading.Semaphore(0), threading.Semaphore(0)

    def __call__(self, batch):
        self.begun.release()
        self.gate.acquire()
        self.done.append(batch)


def waits(call) -> threading.Thread | None:
    """The thread in which a call still waits after a while, None if it came back."""
    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(0.2)
    return thread if thread.is_alive() else None


def test_all_is_done_in_order():
    done = []
    background = Background(done.extend, limit=3)
    for k in range(1000):
        background.put(k, large=k % 7 == 0)
    background.finish()
    assert done == list(range(1000))


def test_small_items_do_not_wait_for_a_large_one_but_large_ones_do():
    work = Slow()
    background = Background(work, limit=10)
    background.put("sweep 1", large=True)
    work.begun.acquire()
    assert not waits(lambda: [background.put(f"step {k}", large=False) for k in range(5)])
    waiting = waits(lambda: background.put("sweep 2", large=True))
    assert waiting
    work.gate.release(3)
    waiting.join(10.0)
    background.finish()
    assert work.done[0] == ["sweep 1"]
    assert [item for batch in work.done[1:] for item in batch] == [*(f"step {k}" for k in range(5)), "sweep 2"]


def test_no_more_than_the_limit_waits():
    work = Slow()
    background = Background(work, limit=4)
    background.put(0, large=False)
    work.begun.acquire()
    assert not waits(lambda: [background.put(k, large=False) for k in range(1, 5)])
    waiting = waits(lambda: background.put(5, large=False))
    assert waiting
    work.gate.release(3)
    waiting.join(10.0)
    background.finish()
    assert [item for batch in work.done for item in batch] == list(range(6))


def test_an_error_is_raised_where_the_next_item_is_given():
    def fail(_):
        raise OSError("no space left")

    background = Background(fail, limit=4)
    background.put(0, large=True)
    for call in (lambda: background.put(1, large=True), background.join, background.finish):
        with pytest.raises(OSError, match="no space left"):
            call()

"""The thread that writes: order, waiting and errors."""

import threading

import pytest

from sensorium.record.background import Background


class Slow:
    """Work that waits to be let go."""

    def __init__(self):
        self.done, self.gate = [], threading.Semaphore(0)

    def __call__(self, item):
        self.gate.acquire()
        self.done.append(item)


def waits(call) -> threading.Thread | None:
    """The thread in which a call still waits after a while, None if it came back."""
    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(0.2)
    return thread if thread.is_alive() else None


def test_all_is_done_in_order():
    done = []
    background = Background(done.append)
    for k in range(1000):
        background.put(k)
    background.finish()
    assert done == list(range(1000))


def test_one_item_is_under_way_and_the_next_waits():
    work = Slow()
    background = Background(work)
    assert not waits(lambda: background.put("sweep 1"))
    waiting = waits(lambda: background.put("sweep 2"))
    assert waiting
    assert waits(background.join)
    work.gate.release(2)
    waiting.join(10.0)
    background.finish()
    assert work.done == ["sweep 1", "sweep 2"]


def test_an_error_is_raised_where_the_next_item_is_given():
    def fail(_):
        raise OSError("no space left")

    background = Background(fail)
    background.put(0)
    for call in (lambda: background.put(1), background.join, background.finish, background.raise_error):
        with pytest.raises(OSError, match="no space left"):
            call()

"""The watch over readers sees each way to break a promise, and lets pass what keeps it."""

import resource
import signal
import warnings

import numpy as np
import pytest

from fuzz import promise
from fuzz.promise import BrokenPromise, check
from fuzz.reader import Reader, must_be_finite
from sensorium.core.errors import SceneError, SpecError


def reader(read, **more):
    return Reader("a reader", ".bin", read, (SpecError,), lambda folder: [b""], (), **more)


def wrong(path):
    raise SpecError("size is 3; it must be 4")


def test_data_and_documented_errors_pass(folder):
    assert check(reader(lambda path: must_be_finite(x=path.read_bytes())), b"1", folder)
    assert not check(reader(wrong), b"", folder)


def of_another_kind(path):
    raise SceneError("of another reader")


def too_deep(path):
    too_deep(path)


def of_memory(path):
    np.ones(1 << 27).sum()


def of_memory_told_otherwise(path):
    try:
        of_memory(path)
    except MemoryError as error:
        raise SpecError("it cannot be read") from error


def hidden(path):
    try:
        of_memory(path)
    except MemoryError:
        raise SpecError("it cannot be read") from None


def warned(path):
    np.float32(1e38) * np.array([1e38], np.float32)


def not_a_number(path):
    must_be_finite(position=[0.0, float("nan")])


def two_lines(path):
    raise SpecError("one\ntwo")


def too_slow(path):
    try:
        while True:
            sum(range(1000))
    except Exception:  # as readers do that turn every error into one of their own
        return


@pytest.mark.parametrize(
    ("read", "says"),
    [
        (of_another_kind, "raised SceneError, not an error of its own"),
        (too_deep, "raised RecursionError"),
        (of_memory, "raised .*MemoryError"),
        (of_memory_told_otherwise, "wanted more than 536870912 bytes of memory"),
        (hidden, "wanted more than 536870912 bytes of memory"),
        (warned, "warned at test_promise.py.*RuntimeWarning: overflow"),
        (not_a_number, "position came out as a number that is not finite"),
        (two_lines, "said more than one line"),
        (too_slow, "took more than 0.2 s"),
    ],
)
def test_what_breaks_the_promise_is_told(folder, monkeypatch, read, says):
    monkeypatch.setattr(promise, "SECONDS", 0.2)
    with pytest.raises(BrokenPromise, match=f"(?s)a reader.*{says}"):
        check(reader(read), b"", folder)


def test_mistakes_in_several_places_may_take_several_lines(folder):
    assert not check(reader(two_lines, says_lines=True), b"", folder)


def test_nothing_of_the_watch_is_left_behind(folder):
    before = resource.getrlimit(resource.RLIMIT_AS), signal.getsignal(signal.SIGVTALRM), warnings.filters[:]
    for read in (lambda path: None, wrong):
        check(reader(read), b"", folder)
        assert (
            resource.getrlimit(resource.RLIMIT_AS),
            signal.getsignal(signal.SIGVTALRM),
            warnings.filters[:],
        ) == before
        assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)

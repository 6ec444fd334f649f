"""Waiting for answers: the first that is there, none after a while, and never for a head that is gone."""

import socket
import time
from types import SimpleNamespace

import pytest

from sensorium.core.errors import BackendError
from sensorium.runtime.cluster import answers, head


def fake_ray(done_after, address):
    """Ray as far as it is asked here: references that are done after so many looks."""
    looks = []

    def wait(asked, num_returns, timeout):
        looks.append(timeout)
        time.sleep(0.01)
        return ([asked[-1]], asked[:-1]) if len(looks) > done_after else ([], asked)

    context = SimpleNamespace(gcs_address=address)
    return SimpleNamespace(wait=wait, get_runtime_context=lambda: context, get=lambda asked: asked), looks


@pytest.fixture
def address():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def test_the_first_that_is_done_is_told(address):
    ray, looks = fake_ray(3, address)
    assert answers.first_done(ray, ["a", "b"]) == "b"
    assert len(looks) == 4
    assert answers.answer(ray, "c") == "c"


def test_none_is_told_after_the_wait(address):
    ray, looks = fake_ray(10**6, address)
    began_s = time.monotonic()
    assert answers.first_done(ray, ["a"], within_s=0.1) is None
    assert 0.1 <= time.monotonic() - began_s < 5.0
    assert max(looks) <= 0.1


def test_a_head_that_is_gone_ends_the_wait(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    monkeypatch.setattr(head, "_SILENT_S", 0.2)
    ray, _ = fake_ray(10**6, address)
    with pytest.raises(BackendError, match=rf"the head of the cluster, {address}, has not answered for 0.2 s"):
        answers.first_done(ray, ["a"])
    assert head.is_lost()
    head.forget()
    assert not head.is_lost()


def test_causes_are_one_line_of_some_length():
    assert answers.reason(RuntimeError("a\n  b")) == "a b"
    assert answers.reason(RuntimeError()) == "RuntimeError"
    assert len(answers.reason(RuntimeError("x" * 1000))) == 300

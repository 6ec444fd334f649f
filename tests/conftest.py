"""What all tests share."""

import contextlib
import gc
import importlib.util
import signal

import pytest
from hypothesis import settings

from sensorium.core.errors import MissingExtraError
from sensorium.corruption.engine import op

# No test depends on how fast the machine is, nor on whether a function is compiled at its first call
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

# A shell that starts tests in the background has Ctrl-C ignored, by them and by every program that they start
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _operations_as_before(monkeypatch):
    """Operations that a test registers, such as an example of the docs does, are those of no other test."""
    monkeypatch.setattr(op, "_registered", dict(op._registered))


# The cluster of the tests that follow on each other
_joined = contextlib.ExitStack()


@pytest.fixture(scope="session")
def local_cluster():
    """A Ray cluster of two cores on this machine, which this process has joined."""
    from sensorium.runtime import cluster

    try:
        return cluster.running()
    except MissingExtraError as error:
        pytest.skip(str(error))


def _needs_cluster(item):
    return "local_cluster" in getattr(item, "fixturenames", ())


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """The first test that needs the cluster starts it."""
    if _needs_cluster(item) and importlib.util.find_spec("ray") is not None:
        from sensorium.runtime import cluster

        _joined.enter_context(cluster.joined(cpus=2))  # where it runs, nothing


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item, nextitem):
    """After the last one it ends: its dozen processes would go on asking each other how they are."""
    try:
        return (yield)
    finally:
        if not _needs_cluster(nextitem):
            _joined.close()


def pytest_collection_finish():
    """What was imported and collected stays to the end: the collection of garbage need not look through it again."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items):
    """Tests of the cluster come first, so that one worker of several has them all and starts one cluster.

    Those of waveforms come next: it has compiled most functions of their kernel for waveforms in parts.
    """
    items.sort(key=lambda item: (not _needs_cluster(item), "waveform" not in item.nodeid.split("::")[0]))

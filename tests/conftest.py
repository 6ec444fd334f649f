"""What all tests share."""

import signal

import pytest
from hypothesis import settings

# No test depends on how fast the machine is, nor on whether a function is compiled at its first call
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

# A shell that starts tests in the background has Ctrl-C ignored, by them and by every program that they start
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def local_cluster():
    """A Ray cluster of two cores on this machine, which this process has joined."""
    from sensorium import cluster

    try:
        cluster.installed()
    except ImportError as error:
        pytest.skip(str(error))
    with cluster.joined(cpus=2):
        yield cluster.running()


def pytest_collection_modifyitems(items):
    """Tests of the cluster come first, so that one worker of several has them all and starts one cluster."""
    items.sort(key=lambda item: "local_cluster" not in getattr(item, "fixturenames", ()))

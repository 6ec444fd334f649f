"""Tasks on nodes: each done once, those that die begun again, and an end where none can do them."""

import os

import pytest

from sensorium.app.node_check import Checked
from sensorium.app.scenario import run_distribution
from sensorium.app.scenario.run_distribution import deal
from sensorium.core.errors import BackendError, SpecError
from sensorium.files.owned_folders import HeldError
from sensorium.runtime.cluster import nodes


def work(key, folder):
    """Die, or find a folder held, as often as a key says; then answer."""
    path = f"{folder}/{key}"
    with open(path, "a") as file:
        file.write("x")
    tries = os.path.getsize(path)
    if key.startswith("die") and tries <= int(key[3:]):
        os._exit(1)
    if key.startswith("held") and tries <= 3:
        if tries == 1:
            os._exit(1)
        raise HeldError("--out is busy")
    if key.startswith("wrong"):
        raise SpecError("speed is -1")
    return tries


@pytest.fixture
def dealt(local_cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(run_distribution, "_HELD_EVERY_S", 0.01)

    def of(*keys, cores=1, places=None):
        task = local_cluster.remote(work).options(max_retries=0, num_cpus=cores)
        return dict(
            deal(
                local_cluster,
                keys,
                [Checked(node, "") for node in nodes.used(local_cluster)] if places is None else places,
                cores,
                start=lambda key, place: task.remote(key, str(tmp_path)),
                finish=lambda each, tries: (each.key, tries),
                blame=lambda error, place: type(error)(f"on {place.node.host}: {error}"),
            )
        )

    return of


def test_each_is_done_once(dealt):
    assert dealt(*"abcdefg") == {key: (key, 1) for key in "abcdefg"}


@pytest.mark.slow
def test_what_dies_is_begun_again(dealt):
    assert dealt("a", "die2", "held", "b") == {"a": ("a", 1), "die2": ("die2", 3), "held": ("held", 4), "b": ("b", 1)}


def test_what_dies_too_often_is_told(dealt, monkeypatch):
    monkeypatch.setattr(run_distribution, "_RETRIES", 1)
    with pytest.raises(BackendError, match=r"the run 'die9' died 2 times, at last on \S+ \(127.0.0.1\): "):
        dealt("die9")


def test_a_mistake_is_told_at_once_with_its_machine(dealt):
    with pytest.raises(SpecError, match=r"on \S+: speed is -1"):
        dealt("wrong")


def test_where_nothing_can_run_that_is_told(dealt):
    with pytest.raises(BackendError, match=r"no node is left for the runs, of 3 cores each; .* with 2 cores"):
        dealt("a", cores=3)
    with pytest.raises(BackendError, match="there are: none"):
        dealt("a", places=[])

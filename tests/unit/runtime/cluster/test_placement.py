"""Parts on nodes: a node each where that is possible, room always, and an end to waiting."""

import itertools
import time

import numpy as np
import pytest

from sensorium.core.errors import BackendError
from sensorium.runtime.cluster.nodes import Node
from sensorium.runtime.cluster.placement import assigned, assigned_within


def ways(needs, rooms):
    """All ways to place parts, by trying each."""
    for chosen in itertools.product(rooms, repeat=len(needs)):
        loads = {node: sum(need for need, at in zip(needs, chosen, strict=True) if at == node) for node in rooms}
        if all(loads[node] <= rooms[node] for node in rooms):
            yield chosen


def test_parts_fit_where_they_can_and_spread_where_they_can():
    rng, refused, spread = np.random.default_rng(0), 0, 0
    for _ in range(400):
        needs = rng.integers(1, 10, rng.integers(1, 5)).tolist()
        rooms = {f"n{k}": int(room) for k, room in enumerate(rng.integers(1, 16, rng.integers(1, 5)))}
        chosen, possible = assigned(needs, rooms), list(ways(needs, rooms))
        assert (chosen is None) == (not possible)
        if chosen is None:
            refused += 1
            continue
        assert tuple(chosen) in possible
        apart = any(len(set(way)) == len(needs) for way in possible)
        assert (len(set(chosen)) == len(needs)) == apart
        spread += apart
    assert refused > 50
    assert spread > 50


def test_one_part_goes_to_the_node_with_most_room():
    assert assigned([3], {"a": 5, "b": 9, "c": 8}) == ["b"]


def test_many_parts_on_full_nodes_are_refused_in_time():
    began_s = time.monotonic()
    assert assigned([7] * 40, {f"n{k}": 20 for k in range(19)}) is None
    assert time.monotonic() - began_s < 20


NODES = [Node("a", "one", "10.0.0.1", 2, 4_000_000_000, False), Node("b", "two", "10.0.0.2", 2, 2_000_000_000, False)]


def test_what_does_not_fit_is_told_after_the_wait():
    rooms = {"a": 1_500_000_000, "b": 2_000_000_000}
    began_s = time.monotonic()
    with pytest.raises(BackendError) as told:
        assigned_within(0.6, [3_000_000_000, 500_000_000], lambda: rooms, lambda: NODES)
    assert 0.6 <= time.monotonic() - began_s < 10
    assert str(told.value) == (
        "2 parts need 3.00, 0.50 GB of memory, which was not free within 0.6 s: one (10.0.0.1) has 1.50 of 4.00 GB "
        "free; two (10.0.0.2) has 2.00 of 2.00 GB free; split the scene into more parts, add nodes, or start them "
        "with a larger --memory"
    )


def test_room_that_becomes_free_is_taken():
    rooms = iter([{"a": 0, "b": 0}, {"a": 0, "b": 0}, {"a": 0, "b": 9}, {"a": 0, "b": 9}])
    assert assigned_within(60.0, [5], lambda: next(rooms), lambda: NODES) == [NODES[1]]
    assert len(list(rooms)) == 1


def test_a_node_that_is_gone_is_not_taken():
    assert assigned_within(0.0, [5], lambda: {"a": 7, "gone": 99}, lambda: NODES) == [NODES[0]]

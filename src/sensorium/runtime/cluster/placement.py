"""Assigns parts to nodes: a node for each part if there are enough, and always one with room for it."""

import time
from collections.abc import Callable, Mapping, Sequence

from sensorium.core.errors import BackendError
from sensorium.runtime.cluster.nodes import Node

# Most assignments tried before parts are said not to fit; this many exist only if nodes are almost full
_MOST_STEPS = 100_000

# Interval at which free memory is checked [s]
_POLL_S = 0.5


def assigned(needs: Sequence[int], rooms: Mapping[str, int]) -> list[str] | None:
    """The node of each part, or None where they do not fit.

    The largest part chooses first, and each takes, of the nodes with room for it, one of those with the fewest parts,
    and of these the one with most room. So each part has a node of its own wherever that is possible at all: then the
    n-th largest part fits the n-th largest room. Where a choice leaves no room for a later part, another is tried.

    Args:
        needs: Memory that each part needs [bytes].
        rooms: Memory that is free on each node [bytes].
    """
    order = sorted(range(len(needs)), key=lambda part: (-needs[part], part))
    free, held = dict(rooms), dict.fromkeys(rooms, 0)
    chosen = [""] * len(needs)
    steps = 0

    def place(turn: int) -> bool:
        nonlocal steps
        if turn == len(order):
            return True
        part = order[turn]
        for node in sorted(free, key=lambda node: (held[node], -free[node], node)):
            steps += 1
            if needs[part] > free[node]:
                continue
            if steps > _MOST_STEPS:
                return False
            chosen[part] = node
            free[node] -= needs[part]
            held[node] += 1
            if place(turn + 1):
                return True
            free[node] += needs[part]
            held[node] -= 1
        return False

    return chosen if place(0) else None


def assigned_within(
    wait_s: float, needs: Sequence[int], rooms: Callable[[], Mapping[str, int]], nodes: Callable[[], Sequence[Node]]
) -> list[Node]:
    """The node of each part, once there is room.

    Args:
        wait_s: How long room may take to become free [s].
        needs: Memory that each part needs [bytes].
        rooms: Returns the free memory of each node [bytes].
        nodes: Returns the present nodes.

    Raises:
        BackendError: There was no room so long.
    """
    end_s = time.monotonic() + wait_s
    while True:
        there = {node.id: node for node in nodes()}
        free = {id: room for id, room in rooms().items() if id in there}
        chosen = assigned(needs, free)
        if chosen is not None:
            return [there[id] for id in chosen]
        if time.monotonic() >= end_s:
            raise BackendError(no_room(wait_s, needs, free, there))
        time.sleep(min(_POLL_S, max(0.0, end_s - time.monotonic())))


def no_room(wait_s: float, needs: Sequence[int], free: Mapping[str, int], there: Mapping[str, Node]) -> str:
    """One line: the parts that do not fit, the memory of each node, and the remedy."""
    wanted = ", ".join(f"{need / 1e9:.2f}" for need in needs)
    having = "; ".join(
        f"{node.name} has {free.get(id, 0) / 1e9:.2f} of {node.memory_bytes / 1e9:.2f} GB free"
        for id, node in there.items()
    )
    what = f"{len(needs)} parts need {wanted} GB" if len(needs) > 1 else f"a part needs {wanted} GB"
    return (
        f"{what} of memory, which was not free within {wait_s:g} s: {having or 'there is no node'}; split the scene "
        "into more parts, add nodes, or start them with a larger --memory"
    )

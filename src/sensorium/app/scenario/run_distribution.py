"""Distributes tasks to the nodes of a cluster, one for each share of cores; tasks of a lost node go to another."""

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sensorium.app.node_check import Checked
from sensorium.core.errors import BackendError
from sensorium.files.owned_folders import HeldError
from sensorium.runtime.cluster import answers, head, nodes

T = TypeVar("T")

# Retries of a task whose process or node is lost
_RETRIES = 5

# A disconnected node continues to write until it notices: its folders stay locked for this time [s], with retries
_HELD_S, _HELD_EVERY_S = 180.0, 3.0

# Interval at which the present nodes are polled [s]
_LOOK_EVERY_S = 2.0


@dataclass(frozen=True)
class Dealt:
    """An active task."""

    key: str
    place: Checked


def deal(
    ray: Any,
    keys: Sequence[str],
    places: Sequence[Checked],
    cores: int,
    *,
    start: Callable[[str, Checked], Any],
    finish: Callable[[Dealt, Any], T],
    blame: Callable[[BaseException, Checked], BaseException],
) -> Iterator[tuple[str, T]]:
    """Do all tasks, and yield each result when it is done; active tasks are canceled with the loop.

    Args:
        ray: The module, in a cluster.
        keys: The tasks.
        places: Nodes that may do them.
        cores: How many cores of a node each takes.
        start: Begins a task on a node, without retries of Ray's own; returns the reference to its answer.
        finish: Makes the result of an answer; an answer that is lost with its node is requested again.
        blame: Adds the place where it arose to a task's error.
    """
    waiting, under_way = deque(keys), dict[Any, Dealt]()
    lost, since_s = Counter[str](), dict[str, float]()

    def again(dealt: Dealt, error: BaseException | None) -> None:
        lost[dealt.key] += 1
        if lost[dealt.key] > _RETRIES:
            why = "its node was lost" if error is None else answers.reason(error)
            what = f"the run {dealt.key!r}" if dealt.key else "the run"
            raise BackendError(f"{what} died {_RETRIES + 1} times, at last on {dealt.place.node.name}: {why}")
        waiting.appendleft(dealt.key)

    try:
        while waiting or under_way:
            alive = {node.id for node in nodes.alive(ray)}
            for each, dealt in list(under_way.items()):
                if dealt.place.node.id not in alive:
                    del under_way[each]
                    again(dealt, None)
            _fill(waiting, under_way, [place for place in places if place.node.id in alive], cores, start)
            done = answers.first_done(ray, list(under_way), within_s=_LOOK_EVERY_S)
            if done is None:
                continue
            dealt = under_way.pop(done)
            try:
                result = finish(dealt, ray.get(done))
            except ray.exceptions.RayTaskError as error:
                began_s = since_s.setdefault(dealt.key, time.monotonic())
                held = isinstance(error.cause, HeldError) and lost[dealt.key]
                if not held or time.monotonic() - began_s > _HELD_S:
                    raise blame(error.cause, dealt.place) from None
                time.sleep(_HELD_EVERY_S)
                waiting.append(dealt.key)
            except ray.exceptions.RayError as error:
                again(dealt, error)
            else:
                yield dealt.key, result
    finally:
        for left in () if head.is_lost() else under_way:
            ray.cancel(left, force=True)


def _fill(
    waiting: deque[str],
    under_way: dict[Any, Dealt],
    places: Sequence[Checked],
    cores: int,
    start: Callable[[str, Checked], Any],
) -> None:
    """Begin as many tasks as there are cores for, on the nodes with most cores left."""
    taken = Counter(dealt.place.node.id for dealt in under_way.values())
    free = {place: place.node.cpus // cores - taken[place.node.id] for place in places}
    if not under_way and max(free.values(), default=0) < 1:
        listed = ", ".join(f"{place.node.name} with {place.node.cpus} cores" for place in places) or "none"
        raise BackendError(f"no node is left for the runs, of {cores} cores each; there are: {listed}")
    while waiting and max(free.values(), default=0) > 0:
        place = max(free, key=lambda each: free[each])
        key = waiting.popleft()
        under_way[start(key, place)] = Dealt(key, place)
        free[place] -= 1

"""Volumes that contain paths: a stack per path on top of the atmosphere, pushed on entry and removed on exit."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import jit


class Stacks(NamedTuple):
    """Volumes that contain each of some paths; level 0 is the atmosphere, level i the i-th volume."""

    held: NDArray[np.int32]  # (paths,) how many volumes
    column: NDArray[np.int32]  # (levels, paths) their objects
    traveled: NDArray[np.float32]  # (levels + 1, paths) path in that medium since it was entered [m]
    visit: NDArray[np.int32]  # (levels + 1, paths) number of the visit, whose random number it has


@jit.function
def new_stacks(paths, levels):
    """Arrays for the stacks of this many paths; empty if a scene has no volumes."""
    paths = paths if levels > 0 else 0
    return Stacks(
        jit.zeros(paths, np.int32),
        jit.zeros((levels, paths), np.int32),
        jit.zeros((levels + 1, paths), np.float32),
        jit.zeros((levels + 1, paths), np.int32),
    )


@jit.inlined
def copy_stack(source, i, target, j):
    """Copy stack i of some into stack j of others."""
    held = source.held[i]
    target.held[j] = held
    target.traveled[0, j], target.visit[0, j] = source.traveled[0, i], source.visit[0, i]
    for level in range(held):
        target.column[level, j] = source.column[level, i]
        target.traveled[level + 1, j] = source.traveled[level + 1, i]
        target.visit[level + 1, j] = source.visit[level + 1, i]


@jit.inlined
def insert(stacks, rank, missing, k, column, above, visit):
    """Push a volume onto stack k among those from level `above` on, behind all larger ones."""
    held = stacks.held[k]
    if held >= stacks.column.shape[0]:
        missing[1] = max(missing[1], held + np.int32(1))
        return
    place = held
    while place > above and rank[stacks.column[place - 1, k]] > rank[column]:
        stacks.column[place, k] = stacks.column[place - 1, k]
        stacks.traveled[place + 1, k], stacks.visit[place + 1, k] = stacks.traveled[place, k], stacks.visit[place, k]
        place -= 1
    stacks.column[place, k], stacks.traveled[place + 1, k] = column, np.float32(0.0)
    stacks.visit[place + 1, k] = visit
    stacks.held[k] = held + np.int32(1)


@jit.inlined
def remove(stacks, k, column):
    """Remove the topmost entry of a volume from stack k, if it has one."""
    held = stacks.held[k]
    level = held - 1
    while level >= 0 and stacks.column[level, k] != column:
        level -= 1
    if level < 0:
        return
    for above in range(level, held - 1):
        stacks.column[above, k] = stacks.column[above + 1, k]
        stacks.traveled[above + 1, k] = stacks.traveled[above + 2, k]
        stacks.visit[above + 1, k] = stacks.visit[above + 2, k]
    stacks.held[k] = held - np.int32(1)


@jit.inlined
def holds(stacks, k, column):
    """Number of entries of a volume on stack k."""
    times = 0
    for level in range(stacks.held[k]):
        times += stacks.column[level, k] == column
    return times


@jit.inlined
def draw_first(stacks, k):
    """Number the visit of ray k's first medium 0, whose draw each ray already has."""
    held = stacks.held[k]
    stacks.visit[0, k], stacks.visit[held, k] = stacks.visit[held, k], 0


@jit.inlined
def keep_traveled(stacks, beyond, k):
    """How far the path has come in the medium before an event, for those behind it that still hold that medium."""
    level, visit = stacks.held[k], stacks.visit[stacks.held[k], k]
    for other in range(beyond.held[k] + 1):
        if beyond.visit[other, k] == visit:
            beyond.traveled[other, k] = stacks.traveled[level, k]

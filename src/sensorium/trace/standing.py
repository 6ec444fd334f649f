"""Objects at an instant, for images that are drawn: transforms written by whoever draws a world, just before.

To trace from the top of a scene everything is placed and committed first. Who draws needs no commit, and whichever
thread takes a world reads its poses from the history and has its transforms in the cache at once.
"""

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from sensorium import jit
from sensorium.jit import pointer_from_address
from sensorium.trace.motion import AFFINE_WORDS, FIXED, MountTables, write_affine
from sensorium.worlds.interpolation import body_pose


class Standing(NamedTuple):
    """Where objects stand at an instant."""

    unwritten: bool  # whether transforms are still to be written; not where scenes were placed for this instant
    states: NDArray[np.int64]  # table of `History.span` around the instant
    time_ns: int
    bodies: int  # of a world
    mounts: MountTables
    anchor_before: NDArray[np.float64]  # (worlds, 3) what fixed objects were last written for [m], infinite for never


@jit.function
def new_stand():
    """Scratch for `stand`."""
    return jit.zeros((5, 9), np.float64)


@jit.function
def stand(standing, arrays, anchor, world, scratch):
    """Write the transforms of a world's objects, of fixed ones only where the anchor is another than before.

    Threads that draw parts of one image write the same numbers into the same places.

    Args:
        standing: `Standing`; arrays: `InstanceTables` of objects that all stand still.
        anchor: Of each world [m], float64 (worlds, 3).
        world: Which one.
        scratch: Of `new_stand`.
    """
    mounts, row = standing.mounts, world if standing.mounts.position.shape[0] > 1 else 0
    p, q = scratch[3], scratch[4]
    moved = False
    for k in range(3):
        moved = moved or anchor[world, k] != standing.anchor_before[world, k]
    every, after = anchor.shape[0] * standing.bodies, standing.states.shape[1] - 1
    for array in range(arrays.first[world], arrays.first[world + 1]):
        if arrays.kind[array] == FIXED and not moved:
            continue
        items = arrays.column_count[array]
        buffer = numba.carray(pointer_from_address(arrays.buffer[array]), items * AFFINE_WORDS, np.float32)
        for item in range(items):
            column = arrays.columns[arrays.column_first[array] + item]
            body = mounts.body[column]
            if body < 0:
                p[0], p[1], p[2] = 0.0, 0.0, 0.0
                q[0], q[1], q[2], q[3] = 1.0, 0.0, 0.0, 0.0
            else:
                body_pose(standing.states, after, standing.time_ns, every, world * standing.bodies + body, p, q)
            mount_p, mount_q = mounts.position[row, column], mounts.quaternion[row, column]
            write_affine(p, q, mount_p, mount_q, anchor[world], buffer, item * AFFINE_WORDS, scratch)

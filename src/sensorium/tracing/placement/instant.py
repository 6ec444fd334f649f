"""Cameras and objects at an instant, for rasterized images: the kernel places a world just before it draws it.

Rays traced through the top-level scene need everything placed and committed first. Rasterizing needs no commit: the
thread that draws a world reads its poses from the history, and then has its transforms in the cache. Threads that draw
parts of one image write the same numbers into the same places.
"""

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import jit
from sensorium.runtime.jit import pointer_from_address
from sensorium.tracing.placement import mounting
from sensorium.tracing.placement.motion import AFFINE_WORDS, FIXED, write_affine
from sensorium.tracing.placement.mounting import copy_pose, mounted, write_anchor, write_matrix
from sensorium.worlds.interpolation import AFTER, body_pose


class InstantState(NamedTuple):
    """Poses of bodies at an instant, and the anchors that a kernel chooses there."""

    states: NDArray[np.int64]  # (2, 2) table of the states around the instant, of `History.write_around`
    time_ns: NDArray[np.int64]  # (1,) the instant
    bodies: int  # of a world
    anchor_before: NDArray[np.float64]  # (worlds, 3) what fixed objects were last written for [m], infinite for never
    anchor: NDArray[np.float64]  # (worlds, 3) what they are written for now [m], filled


class Cameras(NamedTuple):
    """Mounts of cameras, and arrays for their poses."""

    body: int  # that they are mounted on, below zero the world
    p_BS: NDArray[np.float64]  # (1 | worlds, sensors, 3) on it [m]; no sensors where poses are known beforehand
    q_BS: NDArray[np.float64]  # (1 | worlds, sensors, 4)
    p_WS: NDArray[np.float64]  # (1, worlds, sensors, 3) filled [m]
    q_WS: NDArray[np.float64]  # (1, worlds, sensors, 4) filled


@jit.function
def new_poses():
    """Scratch for poses."""
    return jit.zeros((6, 9), np.float64)


@jit.function
def place_camera(cameras, state, world, sensor, matrix, scratch):
    """Compute a camera's pose, its world's anchor and its matrix.

    Args:
        cameras: `Cameras`; state: `InstantState`, of which the world's anchor is filled in: next to its first camera.
        world, sensor: Which one.
        matrix: Filled with X_AS, rows of 3 x 4, float32 (12,).
        scratch: Of `new_poses`.
    """
    anchor = state.anchor
    _mount(cameras, state, world, 0, scratch)
    write_anchor(scratch[3], anchor[world])
    if sensor > 0:
        _mount(cameras, state, world, sensor, scratch)
    p_WS, q_WS, R_WS = scratch[3], scratch[4], scratch[5]
    copy_pose(p_WS, q_WS, cameras.p_WS[0, world, sensor], cameras.q_WS[0, world, sensor])
    mounting.rotation(q_WS, R_WS)
    write_matrix(p_WS, R_WS, anchor[world], matrix)


@jit.function
def _mount(cameras, state, world, sensor, scratch):
    """Pose of a camera into rows 3 and 4 of the scratch."""
    row = world if cameras.p_BS.shape[0] > 1 else 0
    p_BS, q_BS = cameras.p_BS[row, sensor], cameras.q_BS[row, sensor]
    if cameras.body < 0:
        copy_pose(p_BS, q_BS, scratch[3], scratch[4])
        return
    every, index = cameras.p_WS.shape[1] * state.bodies, world * state.bodies + cameras.body
    body_pose(state.states, AFTER, state.time_ns[0], every, index, scratch[0], scratch[1])
    mounting.rotation(scratch[1], scratch[2])
    mounted(scratch[0], scratch[1], scratch[2], p_BS, q_BS, scratch[3], scratch[4])


@jit.function
def place_objects(state, mounts, arrays, world, scratch):
    """Write the transforms of a world's objects, of fixed ones only if the anchor changed.

    Args:
        state: `InstantState`; mounts: `MountTables`; arrays: `InstanceTables` of objects that do not move.
        world: Which one.
        scratch: Of `new_poses`.
    """
    anchor, row = state.anchor, world if mounts.position.shape[0] > 1 else 0
    p, q = scratch[3], scratch[4]
    moved = False
    for k in range(3):
        moved = moved or anchor[world, k] != state.anchor_before[world, k]
    every, time_ns = anchor.shape[0] * state.bodies, state.time_ns[0]
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
                body_pose(state.states, AFTER, time_ns, every, world * state.bodies + body, p, q)
            mount_p, mount_q = mounts.position[row, column], mounts.quaternion[row, column]
            write_affine(p, q, mount_p, mount_q, anchor[world], buffer, item * AFFINE_WORDS, scratch)

"""Poses between the states of a history, for all worlds and bodies at once.

Positions are linear, quaternions use slerp along the shorter arc. At a state's own time the result is that state, bit
for bit.
"""

import math

import numba
import numpy as np
from numpy.typing import NDArray

from sensorium.core.frames import Pose
from sensorium.core.rotations import Float
from sensorium.runtime import jit, worker_pool
from sensorium.worlds.paths.base import P, Q, V

# The calling thread interpolates fewer poses than this alone: each takes some 7 ns, sharing work 0.1 ms
_SERIAL_POSES = 32_768


def serial_worlds(poses: int) -> int:
    """Number of worlds, of this many poses each, below which the calling thread works alone."""
    return -(-_SERIAL_POSES // max(poses, 1))


def interpolated(state_ns: NDArray[np.int64], X_WB: Pose, times_ns: NDArray[np.int64]) -> Pose:
    """Poses at given times between states.

    Args:
        state_ns: Times of the states, rising [ns], shape (states,).
        X_WB: Poses at the states, batch shape (states, worlds, bodies).
        times_ns: Requested times, rising, within those of the states [ns], shape (times,).

    Returns:
        Batch shape (times, worlds, bodies).
    """
    _, worlds, bodies = X_WB.shape
    position, quaternion = np.empty((len(times_ns), worlds, bodies, 3)), np.empty((len(times_ns), worlds, bodies, 4))
    worker_pool.run(
        interpolate,
        worlds,
        state_ns,
        X_WB.position,
        X_WB.quaternion,
        times_ns,
        position,
        quaternion,
        serial_below=serial_worlds(len(times_ns) * bodies),
    )
    return Pose._trusted(position, quaternion)


@jit.function
def slerp(qa: Float, qb: Float, s: float, out: Float) -> None:
    """Quaternion a fraction s of the way from qa to qb along the shorter arc, into out.

    It rounds every operation: of two products in a sum, vector code and scalar code may fuse either.
    """
    dot = qa[0] * qb[0] + qa[1] * qb[1] + qa[2] * qb[2] + qa[3] * qb[3]
    sign = 1.0 if dot >= 0.0 else -1.0
    minus, plus = 0.0, 0.0
    for i in range(4):
        minus += (qb[i] * sign - qa[i]) ** 2
        plus += (qb[i] * sign + qa[i]) ** 2

    # Half the rotation angle between them, from chord lengths: exact for small angles, where the cosine is not
    angle = 2.0 * math.atan2(math.sqrt(minus), math.sqrt(plus))
    if angle < 1e-9:
        wa, wb = 1.0 - s, s * sign
    else:
        inverse = 1.0 / math.sin(angle)
        wa, wb = math.sin((1.0 - s) * angle) * inverse, math.sin(s * angle) * inverse * sign
    for i in range(4):
        out[i] = wa * qa[i] + wb * qb[i]


@jit.function
def _between(pa: Float, qa: Float, pb: Float, qb: Float, s: float, p: Float, q: Float) -> None:
    """The pose a fraction s of the way from one to another, into p and q."""
    for k in range(3):
        p[k] = pa[k] + s * (pb[k] - pa[k])
    slerp(qa, qb, s, q)


@jit.kernel
def interpolate(first, step, count, state_ns, positions, quaternions, times_ns, out_p, out_q):
    """Interpolate the worlds first, first + step, ...

    Args:
        first, step, count: Share of the worlds.
        state_ns: Times of the states, rising [ns], int64 (states,).
        positions: p_WB at the states [m], float64 (states, worlds, bodies, 3).
        quaternions: q_WB at the states, float64 (states, worlds, bodies, 4).
        times_ns: Requested times, rising, within those of the states [ns], int64 (times,).
        out_p: Filled with positions, (times, worlds, bodies, 3).
        out_q: Filled with quaternions, (times, worlds, bodies, 4).
    """
    bodies = positions.shape[2]
    for world in range(first, count, step):
        after = 0
        for i in range(times_ns.size):
            # The first state not before this time
            while state_ns[after] < times_ns[i]:
                after += 1
            if state_ns[after] == times_ns[i]:
                for body in range(bodies):
                    for k in range(3):
                        out_p[i, world, body, k] = positions[after, world, body, k]
                    for k in range(4):
                        out_q[i, world, body, k] = quaternions[after, world, body, k]
                continue
            before = after - 1
            s = np.float64(times_ns[i] - state_ns[before]) / np.float64(state_ns[after] - state_ns[before])
            for body in range(bodies):
                _between(
                    positions[before, world, body],
                    quaternions[before, world, body],
                    positions[after, world, body],
                    quaternions[after, world, body],
                    s,
                    out_p[i, world, body],
                    out_q[i, world, body],
                )


# ---- states in place: kernels read each state's numbers by address, and nothing is copied together

ADDRESS, TIME_NS = 0, 1  # rows of the table of states, as `History.span` gives it, int64 (2, states)
BEFORE, AFTER = 0, 1  # columns where it is of the two states around an instant


@jit.function
def body_pose(states, after, time_ns, every, index, p, q):
    """Pose of one body at an instant, into p and q.

    Args:
        states: Table of the states, their times rising.
        after: The first state not before the instant.
        time_ns: The instant [ns].
        every: Number of bodies in all worlds.
        index: Number of the body among them.
        p: Receives p_WB [m], (3,).
        q: Receives q_WB, (4,).
    """
    b = numba.carray(jit.pointer_from_address(states[ADDRESS, after]), V * every, np.float64)
    pb, qb = b[P * every + 3 * index :], b[Q * every + 4 * index :]
    if states[TIME_NS, after] == time_ns:
        for k in range(3):
            p[k] = pb[k]
        for k in range(4):
            q[k] = qb[k]
        return
    before = after - 1
    a = numba.carray(jit.pointer_from_address(states[ADDRESS, before]), V * every, np.float64)
    pa, qa = a[P * every + 3 * index :], a[Q * every + 4 * index :]
    before_ns, after_ns = states[TIME_NS, before], states[TIME_NS, after]
    s = np.float64(time_ns - before_ns) / np.float64(after_ns - before_ns)
    _between(pa, qa, pb, qb, s, p, q)


@jit.function
def copy_poses(address, every, first, p, q):
    """Poses of neighboring bodies at a state's own time, number by number.

    Args:
        address: Of the state's numbers.
        every: Number of bodies in all worlds.
        first: Number of the first body among them.
        p: Receives p_WB [m], (bodies, 3).
        q: Receives q_WB, (bodies, 4).
    """
    numbers = numba.carray(jit.pointer_from_address(address), V * every, np.float64)
    p_at, q_at = P * every + 3 * first, Q * every + 4 * first
    for k in range(p.size):
        p.flat[k] = numbers[p_at + k]
    for k in range(q.size):
        q.flat[k] = numbers[q_at + k]


@jit.kernel
def interpolate_states(first, step, count, states, times_ns, bodies, body, out_p, out_q):
    """Poses of neighboring bodies in the worlds first, first + step, ...

    Args:
        first, step, count: Share of the worlds.
        states: Table of the states, their times rising.
        times_ns: Requested times, rising, within those of the states [ns], int64 (times,).
        bodies: Bodies of a world.
        body: The first requested body.
        out_p: Filled with positions, (times, worlds, chosen bodies, 3).
        out_q: Filled with quaternions, (times, worlds, chosen bodies, 4).
    """
    for world in range(first, count, step):
        after = 0
        for i in range(times_ns.size):
            while states[TIME_NS, after] < times_ns[i]:
                after += 1
            if states[TIME_NS, after] == times_ns[i]:
                copy_poses(
                    states[ADDRESS, after], count * bodies, world * bodies + body, out_p[i, world], out_q[i, world]
                )
                continue
            for chosen in range(out_p.shape[2]):
                index = world * bodies + body + chosen
                p, q = out_p[i, world, chosen], out_q[i, world, chosen]
                body_pose(states, after, times_ns[i], count * bodies, index, p, q)

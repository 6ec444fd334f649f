"""Motion of points on bodies relative to cameras: one affine map of the point in the sensor frame per head and body.

With p in the sensor frame S of a camera at X_WS and a body B at X_WB, and a dash for the time of the previous image:

- displacement: p - p' = (I - M) p - m, where (M, m) is X_S'W X_WB' X_BW X_WS, the same point of the body then;
- velocity in S: R_SW (v_WB + w_WB x (p_W - p_WB) - v_WS - w_WS x (p_W - p_WS)), the rate of its coordinates there;
- velocity in the world: v_WB + w_WB x (p_W - p_WB).

A point on no body uses the last row, where the body is the world itself.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.frames import Pose, transport_twist
from sensorium.worlds.history import History

Float = NDArray[np.float64]


class Twists(NamedTuple):
    """Velocities of bodies at an instant, (worlds, bodies, 3) each."""

    v_WB: Float
    w_WB: Float


def displacement_maps(X_WB: Pose, X_WS: Pose) -> Float:
    """Maps to p - p', shape (worlds * sensors, bodies + 1, 12).

    Args:
        X_WB: Poses of the bodies then and now, batch shape (2, worlds, bodies).
        X_WS: Poses of the cameras then and now, batch shape (2, worlds, sensors).
    """
    worlds, sensors = X_WS.shape[1:]
    bodies = _with_world(X_WB)
    then = bodies[0] @ bodies[1].inverse()  # where a point of the world now was then, if it rode on the body
    moved = X_WS[0].inverse()[:, :, None] @ then[:, None] @ X_WS[1][:, :, None]
    maps = np.concatenate([np.eye(3) - moved.rotation, -moved.position[..., None]], axis=-1)
    return np.ascontiguousarray(maps).reshape(worlds * sensors, -1, 12)


def velocity_maps(X_WB: Pose, twists: Twists, X_WS: Pose, body: int | None, *, in_world: bool) -> Float:
    """Maps to the velocity of a point, in S or in the world, shape (worlds * sensors, bodies + 1, 12).

    Args:
        X_WB: Poses of the bodies, batch shape (worlds, bodies).
        twists: Their velocities.
        X_WS: Poses of the cameras, batch shape (worlds, sensors).
        body: The body that the cameras ride on, None for the world.
        in_world: Whether the velocity is relative to the world.
    """
    worlds, sensors = X_WS.shape
    at = _with_world(X_WB[None])[0]
    none = np.zeros((worlds, 1, 3))
    v, w = (np.concatenate([part, none], axis=1)[:, None] for part in twists)  # (worlds, 1, bodies + 1, 3)
    at_camera = transport_twist(v, w, X_WS.position[:, :, None] - at.position[:, None])
    R_WS = X_WS.rotation[:, :, None]
    if in_world:
        turn, shift = _cross(w) @ R_WS, at_camera
    else:
        # The camera moves as the point of its body at the mount
        own = X_WB.shape[1] if body is None else body
        R_SW = np.swapaxes(R_WS, -1, -2)
        relative = (R_SW @ (w - w[:, :, own, None])[..., None])[..., 0]
        turn, shift = _cross(relative), (R_SW @ (at_camera - at_camera[:, :, own, None])[..., None])[..., 0]
    turn = np.broadcast_to(turn, (*shift.shape, 3))
    return np.concatenate([turn, shift[..., None]], axis=-1).reshape(worlds * sensors, -1, 12)


def twists_at(history: History, time_ns: int) -> Twists:
    """Velocities of all bodies at an instant, linear between states."""
    before, after, share = history.bracket(time_ns)
    if share == 0.0:
        return Twists(before.v_WB, before.w_WB)
    return Twists(before.v_WB + share * (after.v_WB - before.v_WB), before.w_WB + share * (after.w_WB - before.w_WB))


def _with_world(X_WB: Pose) -> Pose:
    """Poses of bodies and, as one more, of the world."""
    times, worlds, _ = X_WB.shape
    fixed = Pose().broadcast_to((times, worlds, 1))
    return Pose._trusted(
        np.concatenate([X_WB.position, fixed.position], axis=2),
        np.concatenate([X_WB.quaternion, fixed.quaternion], axis=2),
    )


def _cross(w: Float) -> Float:
    """Matrices of w x, shape (*batch, 3, 3)."""
    zero = np.zeros_like(w[..., 0])
    x, y, z = w[..., 0], w[..., 1], w[..., 2]
    return np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=-1).reshape(*w.shape, 3)

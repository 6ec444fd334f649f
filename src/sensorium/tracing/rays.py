"""Rays in the layout of kernels, and checks of user input."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.core.errors import SpecError


class Rays(NamedTuple):
    """Rays in the layout of kernels."""

    origin: NDArray[np.float64]  # (rays, 3) [m], world
    direction: NDArray[np.float32]  # (rays, 3), unit, world
    time: NDArray[np.float32]  # (rays,) fraction of the interval
    t_max: NDArray[np.float32]  # (rays,) [m]
    world: NDArray[np.int32]  # (rays,)


def new_rays(count: int) -> Rays:
    """Arrays for a kernel to fill."""
    return Rays(
        origin=np.zeros((count, 3)),
        direction=np.zeros((count, 3), np.float32),
        time=np.zeros(count, np.float32),
        t_max=np.zeros(count, np.float32),
        world=np.zeros(count, np.int32),
    )


def checked_rays(
    origins: ArrayLike,
    directions: ArrayLike,
    time: ArrayLike,
    t_max_m: ArrayLike,
    worlds: ArrayLike,
    *,
    world_count: int,
) -> tuple[Rays, tuple[int, ...]]:
    """Rays as flat arrays, after checks that each can be traced, and their original shape.

    Args:
        origins: Start points in the world [m], shape (*batch, 3).
        directions: Any length but zero, shape (*batch, 3).
        time: Fraction of the interval, 0 to 1.
        t_max_m: Length of the rays [m].
        worlds: World of each ray.
        world_count: Number of worlds.
    """
    origin, direction = np.asarray(origins, np.float64), np.asarray(directions, np.float64)
    for name, vectors in (("origins", origin), ("directions", direction)):
        if vectors.shape[-1:] != (3,):
            raise SpecError(f"{name} has shape {vectors.shape}; its last axis must have 3 entries")
        if not np.isfinite(vectors).all():
            raise SpecError(f"{name} has {np.size(vectors) - np.isfinite(vectors).sum()} entries that are not finite")
    length = np.linalg.norm(direction, axis=-1, keepdims=True)
    if not (length > 0).all():
        raise SpecError(f"{int((length == 0).sum())} directions have length zero; a direction needs a length")
    time, t_max, world = np.asarray(time, np.float32), np.asarray(t_max_m, np.float32), np.asarray(worlds)
    if not ((time >= 0) & (time <= 1)).all():
        raise SpecError(f"time runs from {time.min()} to {time.max()}; it is a fraction of the interval, 0 to 1")
    if not (t_max >= 0).all():
        raise SpecError(f"t_max_m has the value {t_max.min()}; it must be zero or more")
    if not np.issubdtype(world.dtype, np.integer):
        raise SpecError(f"worlds has type {world.dtype}; it must be whole numbers")
    if not ((world >= 0) & (world < world_count)).all():
        raise SpecError(f"worlds runs from {world.min()} to {world.max()}; it must be within 0 to {world_count - 1}")

    # One row per ray; arrays of one kind, since kernels are compiled again for read-only ones and other memory layouts
    shapes = {
        "origins": origin.shape[:-1],
        "directions": direction.shape[:-1],
        "time": time.shape,
        "t_max_m": t_max.shape,
        "worlds": world.shape,
    }
    try:
        shape = np.broadcast_shapes(*shapes.values())
    except ValueError:
        told = ", ".join(f"{name} {given}" for name, given in shapes.items() if given)
        raise SpecError(f"rays have the shapes {told}; they must be the same, or broadcast to one") from None
    if origin.shape[:-1] != shape:
        origin = np.broadcast_to(origin, (*shape, 3))
    return Rays(
        origin=np.require(origin.reshape(-1, 3), requirements=["C", "W"]),
        direction=np.broadcast_to(direction / length, (*shape, 3)).reshape(-1, 3).astype(np.float32, order="C"),
        time=np.broadcast_to(time, shape).reshape(-1).astype(np.float32),
        t_max=np.broadcast_to(t_max, shape).reshape(-1).astype(np.float32),
        world=np.broadcast_to(world, shape).reshape(-1).astype(np.int32),
    ), shape


def checked_bodies(hide: Iterable[str]) -> frozenset[str]:
    """Names of bodies to hide; a single string is a mistake."""
    if isinstance(hide, str):
        raise SpecError(f"hide is the string {hide!r}; it must be a sequence of body names")
    return frozenset(hide)


def middle_of(rays: Rays, otherwise: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean origin of the rays of each world [m], shape (worlds, 3).

    Args:
        rays: One row per ray.
        otherwise: The point of worlds without rays, shape (worlds, 3); non-finite points become the origin.
    """
    near = np.array(otherwise)
    count = np.bincount(rays.world, minlength=len(near))
    for axis in range(3):
        total = np.bincount(rays.world, weights=rays.origin[:, axis], minlength=len(near))
        near[count > 0, axis] = total[count > 0] / count[count > 0]
    near[~np.isfinite(near).all(axis=1)] = 0.0
    return near

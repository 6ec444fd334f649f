"""Errors of real depth cameras as stages between cast and limits: the input of a stage, and its interface."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sensorium.core.frames import Pose
from sensorium.patterns import Fisheye, Pinhole

Needed = Literal["object_id", "cosine"]
Projection = Pinhole | Fisheye


class Cast(Protocol):
    """Lets a kernel cast additional rays of all heads at the instant of the image."""

    def __call__(self, kernel: Callable[..., None], blocks: int, X_WS: Pose, *arguments: object) -> None:
        """Run a kernel of `first, step, count`, `rays.Eyes` and the arguments.

        Args:
            kernel: One that is `worker_pool.shared`.
            blocks: Number of its blocks.
            X_WS: Origins and orientations of the rays, batch shape (heads,).
            *arguments: Of the kernel.
        """


@dataclass(frozen=True, eq=False)
class DepthFrame:
    """One image of all heads, from the cast or the previous stage.

    Heads are worlds times sensors, world by world; pixels run row by row from the top left. A stage changes `range_m`
    in place and nothing else.
    """

    range_m: NDArray[np.float32]
    """Along the ray [m], shape (heads, pixels), contiguous: infinite where nothing was hit, 0 where there is no
    measurement, which becomes a dropped pixel. Not clipped to the camera's limits: noise may move it within them."""
    axial: NDArray[np.float32]
    """Depth over range of each pixel [1], shape (1 | heads, pixels): 1 row if all heads have the same lens."""
    object_id: NDArray[np.int32]
    """Object hit, -1 for none, (heads, pixels); no pixels unless a stage needs it."""
    cosine: NDArray[np.float32]
    """Cosine of the angle of incidence, 0 where nothing was hit, (heads, pixels); no pixels unless a stage needs it."""
    width: int
    """Columns of the image."""
    focal_px: NDArray[np.float64]
    """fx, fy of each head [px], shape (heads, 2)."""
    X_WS: Pose
    """True poses of the sensors at the image's start (x forward, z up), batch shape (heads,)."""
    key: NDArray[np.uint32]
    """Of the camera's random stream, two words. Stages 0 to 15 of the counter are the camera's own."""
    tick: int
    """Number of the image."""
    first_world: int
    """Number of the first world among all of an experiment."""
    sensors: int
    """Heads in each world."""
    cast: Cast
    """Casts additional rays, such as those of a second camera or of parts of a pixel."""
    reflectance: Callable[[float], NDArray[np.float32]]
    """Diffuse reflectance [1] of all objects at a wavelength [m], shape (1 | worlds, objects)."""


class Stage(NamedTuple):
    """Action of one kind of error on a frame."""

    apply: Callable[[Any, DepthFrame], None]
    """Takes the error's specification and the frame."""
    needs: frozenset[Needed] = frozenset()
    """Arrays of the frame that the cast must write for it."""
    check: Callable[[Any, Projection], None] = lambda error, pattern: None
    """Takes the error and the camera's lens; raises ValueError, with name, value and rule, if they do not fit."""

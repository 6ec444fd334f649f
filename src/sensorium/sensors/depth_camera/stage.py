"""Errors of real depth cameras, as stages between cast and limits: what a stage is given, and what it changes."""

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
    """Lets a kernel fire more rays of all heads at the instant of the image."""

    def __call__(self, kernel: Callable[..., None], blocks: int, X_WS: Pose, *arguments: object) -> None:
        """Run a kernel of `first, step, count`, `depth_rays.Eyes` and the arguments.

        Args:
            kernel: One that is `blocks.shared`.
            blocks: How many it has to do.
            X_WS: Where rays start, and how they are turned, batch shape (heads,).
            *arguments: Of the kernel.
        """


@dataclass(frozen=True, eq=False)
class DepthFrame:
    """One image of all heads, as the cast left it or the stage before.

    Heads are worlds times sensors, world by world; pixels run row by row from the top left. A stage changes `range_m`
    in place and nothing else.
    """

    range_m: NDArray[np.float32]
    """Along the ray [m], shape (heads, pixels), contiguous: infinite where nothing was met, 0 where there is no
    measurement, which ends as a dropped pixel does. Not cut at the camera's limits: noise may carry it inside."""
    axial: NDArray[np.float32]
    """Depth over range of each pixel [1], shape (1 | heads, pixels): 1 row where all heads look alike."""
    object_id: NDArray[np.int32]
    """Object met, -1 for none, (heads, pixels); no pixels unless a stage needs it."""
    cosine: NDArray[np.float32]
    """Cosine of the angle of incidence, 0 where nothing was met, (heads, pixels); no pixels unless a stage needs it."""
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
    """Fires more rays, such as those of a second eye or of parts of a pixel."""
    reflectance: Callable[[float], NDArray[np.float32]]
    """Diffuse reflectance [1] of all objects at a wavelength [m], shape (1 | worlds, objects)."""


class Stage(NamedTuple):
    """How one kind of error acts on a frame."""

    apply: Callable[[Any, DepthFrame], None]
    """Given the error's specification and the frame."""
    needs: frozenset[Needed] = frozenset()
    """Which arrays of the frame the cast must write for it."""
    check: Callable[[Any, Projection], None] = lambda error, pattern: None
    """Given the error and how the camera looks; raises ValueError, with name, value and rule, if they do not fit."""

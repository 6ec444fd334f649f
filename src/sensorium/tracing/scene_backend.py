"""The scene of an environment's sensors: in the memory of this process, or partitioned over processes of a cluster.

Both are a `SceneBackend`. Lidars need nothing else of a scene; sensors that read the placed scene itself need the
`Tracer`, which is the backend in memory.
"""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sensorium.scene.batch import SceneBatch
from sensorium.scene.layout import Layout, layout
from sensorium.scene.partition.in_parts import SceneInParts
from sensorium.scene.scene import Scene
from sensorium.tracing.aim import Aim
from sensorium.tracing.kernels.geometry.ray_errors import RayErrors
from sensorium.tracing.kernels.sweep import SweepOutputs
from sensorium.tracing.light_cast import LightCast
from sensorium.tracing.partitioned.tracer import PartsTracer
from sensorium.tracing.tracer import Tracer
from sensorium.worlds.history import History


class Placement(Protocol):
    """The scene with the motion of its bodies in one interval, for casts now and later."""

    def cast_sweep(
        self,
        aim: Aim,
        hide: Iterable[str],
        limits: NDArray[np.float32],
        errors: RayErrors | None,
        normals: NDArray[np.float32] | None,
        out: SweepOutputs,
        *,
        in_world: bool,
    ) -> None:
        """Fill in the first surface of each ray.

        Args:
            aim: Rays and mounts, around the anchors of this placement.
            hide: Bodies that the rays pass through.
            limits: Least range that returns, and length of the rays [m], shape (2,).
            errors: Errors of the rays, if they have any.
            normals: Filled with normals, shape (heads, rays, 3), if requested.
            out: Filled, every element.
            in_world: Whether points are in world coordinates instead of the sensor frame.
        """

    def cast_light(self, aim: Aim, hide: Iterable[str], cast: LightCast) -> None:
        """Fill in the returns of each ray, with light followed."""

    def restored(self) -> AbstractContextManager[None]:
        """Restores the bodies' motion of the interval, for casts inside the `with`."""

    def redrawn_worlds(self) -> NDArray[np.bool_]:
        """Worlds whose scene was redrawn since, shape (worlds,): their old objects are gone."""


class SceneBackend(Protocol):
    """A scene whose bodies are placed from the history of a world."""

    layout: Layout
    gives_normals: bool
    """Whether `Placement.cast_sweep` supports normals."""

    def register_hidden(self, bodies: Iterable[str]) -> None:
        """Prepare for rays that pass through this set of bodies."""

    def forget_placement(self) -> None:
        """Place the bodies again at the next cast: poses of the past changed (a reset)."""

    def placement(self, start_ns: int, end_ns: int, anchor: NDArray[np.float64]) -> Placement:
        """The scene during an interval, or at an instant.

        Args:
            start_ns: Start of the interval [ns].
            end_ns: Its end, equal to the start for an instant.
            anchor: Anchors of `PlacedScenes.on_grid` [m], shape (worlds, 3).
        """

    def close(self) -> None:
        """End processes that were started for the scene."""


def scene_backend(
    scene: Scene | SceneBatch | SceneInParts,
    worlds: int,
    body_names: tuple[str, ...],
    history: History,
    *,
    around_index: float = 1.0,
) -> SceneBackend:
    """The backend for a scene.

    Args:
        scene: The scene.
        worlds: Number of worlds.
        body_names: Bodies of the world.
        history: History of their poses.
        around_index: Refractive index of the atmosphere.
    """
    if isinstance(scene, SceneInParts):
        return PartsTracer(scene, body_names, history, around_index=around_index)
    return Tracer(layout(scene, worlds, around_index=around_index), worlds, body_names, history)

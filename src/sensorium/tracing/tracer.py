"""Shared state of an environment's ray sensors: the scene, placed at the requested instants and intervals."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import worker_pool
from sensorium.scene.layout import Layout
from sensorium.tracing.aim import Aim
from sensorium.tracing.kernels.geometry.ray_errors import RayErrors
from sensorium.tracing.kernels.sweep import SweepOutputs, SweepScene, sweep
from sensorium.tracing.labels import label_tables
from sensorium.tracing.light_cast import LightCast, cast_light
from sensorium.tracing.placement.instant import InstantState
from sensorium.tracing.placement.motion import MAX_SEGMENTS
from sensorium.tracing.placement.scenes import PlacedScenes
from sensorium.worlds.history import History


class Tracer:
    """Places the bodies of all worlds from their history: the `SceneBackend` of a scene in memory.

    Instants and intervals have scenes of their own, so that a camera and a sweeping lidar do not replace each other's;
    they share the meshes.
    """

    gives_normals = True

    def __init__(self, layout: Layout, worlds: int, body_names: tuple[str, ...], history: History) -> None:
        self.layout = layout
        self.worlds = worlds
        self.body_names = body_names
        self.history = history
        self.labels = label_tables(layout)
        self.redrawn = np.zeros(worlds, np.int64)
        """Number of times that the scene of each world was redrawn; a new array after each time."""
        self._hidden: set[frozenset[str]] = set()
        self._scenes: dict[bool, PlacedScenes] = {}
        self._placed_for: dict[bool, tuple[int, int, bytes]] = {}
        PlacedScenes(layout, worlds, body_names, banks=False)  # a body the world lacks is an error at once

    def register_hidden(self, bodies: Iterable[str]) -> None:
        """Prepare for rays that pass through this set of bodies."""
        together = frozenset(bodies)
        if together and together not in self._hidden:
            PlacedScenes(
                self.layout, self.worlds, self.body_names, self._hidden | {together}, banks=False
            )  # raises where it cannot be
            self._hidden.add(together)
            self._scenes.clear()
            self._placed_for.clear()

    def redraw(self, layout: Layout, worlds: NDArray[np.bool_]) -> None:
        """Set a layout in which some worlds differ, of the same meshes, materials and bodies."""
        labels = label_tables(layout, self.labels)
        self._placed_for.clear()
        for scenes in self._scenes.values():
            scenes.redraw(layout, worlds)
        self.layout, self.labels = layout, labels
        self.redrawn = self.redrawn + worlds

    def forget_placement(self) -> None:
        """Place the bodies again at the next cast: poses of the past changed (a reset)."""
        self._placed_for.clear()

    def place(self, start_ns: int, end_ns: int, near: NDArray[np.float64]) -> PlacedScenes:
        """The scenes with every body moving as it did from start to end, or at rest at an instant.

        Args:
            start_ns: Start of the interval [ns].
            end_ns: Its end, equal to the start for an instant.
            near: Approximate origin of the rays [m], shape (worlds, 3).
        """
        return self.place_around(start_ns, end_ns, PlacedScenes.on_grid(near))

    def place_around(self, start_ns: int, end_ns: int, anchor: NDArray[np.float64]) -> PlacedScenes:
        """The same for anchors of `PlacedScenes.on_grid` [m], shape (worlds, 3)."""
        moving = end_ns > start_ns
        scenes = self._scenes_for(moving)
        wanted = (start_ns, end_ns, anchor.tobytes())
        if self._placed_for.get(moving) != wanted:
            self._placed_for.pop(moving, None)  # should a signal raise meanwhile
            times_ns = self.history.knots(start_ns, end_ns, most=MAX_SEGMENTS)
            scenes.place_around(*self.history.motion(times_ns), anchor)
            self._placed_for[moving] = wanted
        return scenes

    def placement(self, start_ns: int, end_ns: int, anchor: NDArray[np.float64]) -> "MemoryPlacement":
        """The scenes of an interval, which can be placed again later; arguments as for `place_around`."""
        return MemoryPlacement(self, self.place_around(start_ns, end_ns, anchor))

    def close(self) -> None:
        """Nothing to end."""

    @property
    def instants(self) -> PlacedScenes:
        """The scenes of instants, for images that are rasterized: see `begin_instant`."""
        return self._scenes_for(moving=False)

    def begin_instant(self, scenes: PlacedScenes, time_ns: int, state: InstantState) -> None:
        """Prepare for images of an instant whose kernel places the objects of `instants`.

        The caller holds the lock of the scenes until the images are drawn and `PlacedScenes.end_instant` was called.

        Args:
            scenes: `instants`.
            time_ns: The instant [ns].
            state: Filled with the states around the instant and with the anchors before it.
        """
        self._placed_for.pop(False, None)
        self.history.write_around(time_ns, state.states)
        state.time_ns[0] = time_ns
        scenes.begin_instant(state.anchor_before)

    def _scenes_for(self, moving: bool) -> PlacedScenes:
        """Scenes of instants or of intervals."""
        scenes = self._scenes.get(moving)
        if scenes is None:
            scenes = self._scenes[moving] = PlacedScenes(
                self.layout, self.worlds, self.body_names, self._hidden, banks=False
            )
        return scenes


class MemoryPlacement:
    """The scenes of all worlds as placed over one interval."""

    def __init__(self, tracer: Tracer, scenes: PlacedScenes) -> None:
        self._tracer, self._scenes = tracer, scenes
        self._motion, self._redrawn = scenes.motion, tracer.redrawn

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
        """Fill in the first surface of each ray, see `Placement`."""
        scenes = self._scenes
        with scenes.lock:
            scene = SweepScene(scenes.tables, self._tracer.labels, scenes.masks_of_sweep(hide))
            worker_pool.run(sweep, aim.blocks, scene, aim.for_kernel, limits, in_world, normals, errors, out)

    def cast_light(self, aim: Aim, hide: Iterable[str], cast: LightCast) -> None:
        """Fill in the returns of each ray, with light followed."""
        scenes = self._scenes
        with scenes.lock:
            cast_light(SweepScene(scenes.tables, self._tracer.labels, scenes.masks_of_light(hide)), aim, cast)

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Restore the bodies' motion, and keep it inside the `with`."""
        with self._scenes.lock:
            self._tracer.forget_placement()
            self._scenes.place_around(*self._motion)
            yield

    def redrawn_worlds(self) -> NDArray[np.bool_]:
        """Worlds whose scene was redrawn since, shape (worlds,)."""
        return self._tracer.redrawn != self._redrawn

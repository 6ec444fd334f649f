"""What ray sensors of one environment share: the scene, placed at the instants and intervals they ask for."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from sensorium.scene.layout import Layout
from sensorium.tracing.labels import label_tables
from sensorium.tracing.placement.motion import MAX_SEGMENTS
from sensorium.tracing.placement.scenes import PlacedScenes
from sensorium.tracing.placement.standing import Standing
from sensorium.worlds.history import History


class Tracer:
    """Places the bodies of all worlds from their history.

    Instants and intervals have scenes of their own, so that a camera and a sweeping lidar do not undo each other's;
    the meshes below are shared.
    """

    def __init__(self, layout: Layout, worlds: int, body_names: tuple[str, ...], history: History) -> None:
        self.layout = layout
        self.worlds = worlds
        self.body_names = body_names
        self.history = history
        self.labels = label_tables(layout)
        self.redrawn = np.zeros(worlds, np.int64)
        """How often the scene of each world was drawn anew; another array after each time."""
        self._hidden: set[frozenset[str]] = set()
        self._scenes: dict[bool, PlacedScenes] = {}
        self._placed_for: dict[bool, tuple[int, int, bytes]] = {}
        PlacedScenes(layout, worlds, body_names, banks=False)  # a body the world lacks is an error at once

    def let_hide(self, bodies: Iterable[str]) -> None:
        """Prepare for rays that pass through these bodies together."""
        together = frozenset(bodies)
        if together and together not in self._hidden:
            PlacedScenes(
                self.layout, self.worlds, self.body_names, self._hidden | {together}, banks=False
            )  # raises where it cannot be
            self._hidden.add(together)
            self._scenes.clear()
            self._placed_for.clear()

    def redraw(self, layout: Layout, worlds: NDArray[np.bool_]) -> None:
        """Take a layout in which some worlds look otherwise, of the same meshes, materials and bodies as before."""
        labels = label_tables(layout, self.labels)
        self._placed_for.clear()
        for scenes in self._scenes.values():
            scenes.redraw(layout, worlds)
        self.layout, self.labels = layout, labels
        self.redrawn = self.redrawn + worlds

    def forget_placement(self) -> None:
        """Poses of the past changed (a reset): place anew."""
        self._placed_for.clear()

    def place(self, start_ns: int, end_ns: int, near: NDArray[np.float64]) -> PlacedScenes:
        """The scenes with every body moving as it did from start to end, or standing as at an instant.

        Args:
            start_ns: Start of the interval [ns].
            end_ns: Its end, equal to the start for an instant.
            near: Where the rays start from, roughly [m], shape (worlds, 3).
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

    @property
    def instants(self) -> PlacedScenes:
        """The scenes of instants, for images that are drawn: see `stand`."""
        return self._scenes_for(moving=False)

    def stand(self, scenes: PlacedScenes, time_ns: int, standing: Standing) -> None:
        """Let images be drawn at an instant of what is in `instants`, whose lock the caller holds until they are.

        Args:
            scenes: `instants`.
            time_ns: The instant [ns].
            standing: Filled with how who draws them places it.
        """
        self._placed_for.pop(False, None)
        self.history.write_around(time_ns, standing.states)
        standing.time_ns[0] = time_ns
        scenes.let_stand(standing.anchor_before)

    def _scenes_for(self, moving: bool) -> PlacedScenes:
        """Scenes of instants or of intervals."""
        scenes = self._scenes.get(moving)
        if scenes is None:
            scenes = self._scenes[moving] = PlacedScenes(
                self.layout, self.worlds, self.body_names, self._hidden, banks=False
            )
        return scenes

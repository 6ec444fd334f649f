"""Many worlds from few assets: the asset and the pose of each slot in each world."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.core.errors import SceneError
from sensorium.core.frames import Pose
from sensorium.scene.mesh import Mesh
from sensorium.scene.scattering.scatter import Placer, Scatter, checked_assets
from sensorium.scene.scene import LabelTable, Scene, SceneObject

Redraw = Callable[[NDArray[np.int64], NDArray[np.int64]], tuple[Any, Pose]]
"""Function of the numbers of worlds and of how often each was drawn before; it gives their rows of index and pose."""


class SceneBatch:
    """Scenes of many worlds as a table of assets; each world adds only an index and a pose per slot.

    Args:
        assets: Possible contents of a slot: meshes, or scene objects to give them a material, a label and a pose X_SO
            in their slot's frame S. The slot decides the body, so an asset must not name one.
        index: Asset in each slot, integers (worlds, slots); -1 leaves the slot empty. A single row serves any
            number of worlds.
        pose: X_BS, the slot on its body, or in its world when it has none; broadcasts to (worlds, slots).
        body: Name of the body of each slot, or None; one per slot. By default all are fixed in their worlds.
        shared: Objects of every world, before the slots.
        redraw: Called by `Environment.reset` as redraw(worlds, episodes) with the numbers of the worlds that restart
            and how often each was drawn before, 1 at its first reset; it gives index and pose of those rows. Without it
            worlds do not change.

    `object_id` counts the shared objects in their order, then the slots.

    >>> box, ball = sn.shapes.box(1, 1, 1), sn.shapes.sphere(0.5)
    >>> place = sn.Pose([[5.0, 0.0, 0.0]])
    >>> scene = sn.SceneBatch([box, ball], index=[[0], [1], [-1]], pose=place)  # a box, a ball, nothing
    >>> sn.RayCaster(scene).cast([0, 0, 0], [1, 0, 0], worlds=[0, 1, 2]).range_m.round(3).tolist()
    [4.5, 4.5, inf]
    """

    def __init__(
        self,
        assets: Sequence[SceneObject | Mesh],
        index: ArrayLike,
        pose: Pose,
        body: Sequence[str | None] | None = None,
        shared: Scene | None = None,
        redraw: Redraw | None = None,
    ) -> None:
        self.assets = checked_assets(assets)
        if not self.assets:
            raise SceneError("assets is empty; a batch needs at least one")
        for k, asset in enumerate(self.assets):
            if asset.body is not None:
                raise SceneError(f"asset {k} names body {asset.body!r}; in a batch the slots name the bodies")

        self.index = _checked_index(index, asset_count=len(self.assets))
        slots = self.index.shape[1]
        self.pose = _checked_pose(pose, self.index.shape)

        self.body: tuple[str | None, ...] = (None,) * slots if body is None else tuple(body)
        if len(self.body) != slots:
            raise SceneError(f"body has {len(self.body)} names; there are {slots} slots")
        for k, name in enumerate(self.body):
            if name is not None and (not isinstance(name, str) or not name):
                raise SceneError(f"body of slot {k} is {name!r}; it must be a non-empty string or None")
        if shared is not None and not isinstance(shared, Scene):
            raise SceneError(f"shared is a {type(shared).__name__}; it must be a Scene")
        self.shared = shared
        if redraw is not None and not callable(redraw):
            raise SceneError(f"redraw is a {type(redraw).__name__}; it must be a function of (worlds, episodes)")
        self.redraw = redraw

    @classmethod
    def scattered(
        cls, scatters: Sequence[Scatter], *, worlds: int, seed: int, shared: Scene | None = None, first_world: int = 0
    ) -> Self:
        """Worlds with randomly scattered objects, different in each world and redrawn at each reset.

        Args:
            scatters: The scattered objects, in this order.
            worlds: How many worlds.
            seed: Of the places; a world's places follow from seed, world, and how often it has restarted.
            shared: Objects of every world.
            first_world: Number of the first world among all of an experiment, as for the environment.
        """
        if worlds < 1:
            raise SceneError(f"worlds is {worlds}; it must be at least 1")
        placer = Placer(scatters, seed)
        index, pose = placer(first_world + np.arange(worlds), np.zeros(worlds, np.int64))
        return cls(placer.assets, index, pose, placer.body, shared, placer)

    def redrawn(self, rows: NDArray[np.int64], worlds: NDArray[np.int64], episodes: NDArray[np.int64]) -> "SceneBatch":
        """Some rows alone, redrawn.

        Args:
            rows: Which rows.
            worlds: Numbers of their worlds.
            episodes: How often each was drawn before.
        """
        assert self.redraw is not None
        given = self.redraw(worlds, episodes)
        if not isinstance(given, tuple | list) or len(given) != 2:
            what = f"{len(given)} things" if isinstance(given, tuple | list) else f"a {type(given).__name__}"
            raise SceneError(f"redraw gave {what}; it must give two, the index and the pose of the worlds it is told")
        drawn, where = given
        index = _checked_index(drawn, asset_count=len(self.assets))
        if index.shape != (len(rows), self.index.shape[1]):
            raise SceneError(
                f"redraw gave an index of shape {index.shape}; it must be {(len(rows), self.index.shape[1])}"
            )
        return self._with(index, _checked_pose(where, index.shape))

    def with_rows(self, rows: NDArray[np.int64], drawn: "SceneBatch", pose: Pose | None) -> "SceneBatch":
        """The batch with some rows replaced.

        Args:
            rows: Which rows.
            drawn: These rows alone.
            pose: Poses of all slots after that, if they are already computed; None copies them.
        """
        index = self.index.copy()
        index[rows] = drawn.index
        index.setflags(write=False)
        if pose is None:
            p, q = self.pose.position.copy(), self.pose.quaternion.copy()
            p[rows], q[rows] = drawn.pose.position, drawn.pose.quaternion
            pose = Pose._trusted(p, q)
        return self._with(index, pose)

    def _with(self, index: NDArray[np.int32], pose: Pose) -> "SceneBatch":
        """The same assets and slots in other worlds; the arguments are already checked."""
        other = object.__new__(SceneBatch)
        other.__dict__.update(self.__dict__)
        other.index, other.pose = index, pose
        return other

    @cached_property
    def X_SO(self) -> Pose | None:
        """Poses of the assets in their slots' frames, batch shape (assets,); None if all are identity."""
        poses = [asset.pose for asset in self.assets]
        return None if all(pose == Pose() for pose in poses) else Pose.stack(poses)

    @property
    def worlds(self) -> int:
        """Number of rows; 1 serves any number of worlds."""
        return self.index.shape[0]

    @property
    def labels(self) -> dict[str, int]:
        """Number of each label name, from 1: those of the shared scene first, then those of the assets."""
        shared = self.shared.objects if self.shared is not None else ()
        return dict(LabelTable(shared + self.assets).numbers)

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies that carry something, sorted."""
        shared = self.shared.bodies if self.shared is not None else ()
        return tuple(sorted({*shared, *(name for name in self.body if name is not None)}))

    def __repr__(self) -> str:
        return f"SceneBatch({self.worlds} worlds, {self.index.shape[1]} slots, {len(self.assets)} assets)"


def _checked_pose(pose: Pose, shape: tuple[int, ...]) -> Pose:
    """The pose of every slot."""
    if not isinstance(pose, Pose):
        raise SceneError(f"pose is a {type(pose).__name__}; it must be a Pose")
    try:
        return pose.broadcast_to(shape)
    except ValueError as error:
        raise SceneError(f"pose has shape {pose.shape}; index asks for {shape}") from error


def _checked_index(index: ArrayLike, *, asset_count: int) -> NDArray[np.int32]:
    """Copy the asset table to int32 with every entry -1 or an asset."""
    array = np.asarray(index)
    if array.ndim != 2 or array.shape[0] == 0 or array.shape[1] == 0:
        raise SceneError(f"index has shape {array.shape}; it must be (worlds, slots), neither zero")
    if array.dtype.kind not in "iu":
        raise SceneError(f"index has type {array.dtype}; it must be integers")
    bad = (array < -1) | (array >= asset_count)
    if bad.any():
        world, slot = np.argwhere(bad)[0]
        raise SceneError(f"index[{world}, {slot}] is {array[world, slot]}; it must be in [-1, {asset_count})")
    checked = array.astype(np.int32)
    checked.setflags(write=False)
    return checked

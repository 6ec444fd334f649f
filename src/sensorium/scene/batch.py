"""Many worlds from few assets: which asset stands in which slot of which world, and where."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.errors import SceneError
from sensorium.frames import Pose
from sensorium.scene.mesh import Mesh
from sensorium.scene.scene import LabelTable, Scene, SceneObject


class SceneBatch:
    """Scenes of many worlds as a table of assets; nothing is copied per world but an index and a pose.

    Args:
        assets: What may stand in a slot: meshes, or scene objects to give them a material, a label and a pose
            X_SO in their slot's frame S. The slot decides the body, so an asset must not name one.
        index: Asset in each slot, integers (worlds, slots); -1 leaves the slot empty. A single row serves any
            number of worlds.
        pose: X_BS, the slot on its body, or in its world when it has none; broadcasts to (worlds, slots).
        body: Name of the body of each slot, or None; one per slot. By default all are fixed in their worlds.
        shared: Objects that stand in every world, before the slots.

    `object_id` counts the shared objects in their order, then the slots.
    """

    def __init__(
        self,
        assets: Sequence[SceneObject | Mesh],
        index: ArrayLike,
        pose: Pose,
        body: Sequence[str | None] | None = None,
        shared: Scene | None = None,
    ) -> None:
        self.assets = tuple(SceneObject(a) if isinstance(a, Mesh) else a for a in assets)
        if not self.assets:
            raise SceneError("assets is empty; a batch needs at least one")
        for k, asset in enumerate(self.assets):
            if not isinstance(asset, SceneObject):
                raise SceneError(f"asset {k} is a {type(asset).__name__}; it must be a Mesh or a SceneObject")
            if asset.body is not None:
                raise SceneError(f"asset {k} names body {asset.body!r}; in a batch the slots name the bodies")

        self.index = _checked_index(index, asset_count=len(self.assets))
        slots = self.index.shape[1]
        if not isinstance(pose, Pose):
            raise SceneError(f"pose is a {type(pose).__name__}; it must be a Pose")
        try:
            self.pose = pose.broadcast_to(self.index.shape)
        except ValueError as error:
            raise SceneError(f"pose has shape {pose.shape}; index asks for {self.index.shape}") from error

        self.body: tuple[str | None, ...] = (None,) * slots if body is None else tuple(body)
        if len(self.body) != slots:
            raise SceneError(f"body has {len(self.body)} names; there are {slots} slots")
        for k, name in enumerate(self.body):
            if name is not None and (not isinstance(name, str) or not name):
                raise SceneError(f"body of slot {k} is {name!r}; it must be a non-empty string or None")
        if shared is not None and not isinstance(shared, Scene):
            raise SceneError(f"shared is a {type(shared).__name__}; it must be a Scene")
        self.shared = shared

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

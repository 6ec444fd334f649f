"""A scene of many worlds on a Warp device: placed instances, and the tree for tracing."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import BackendError, SpecError
from sensorium.scene.layout import Layout
from sensorium.tracing.labels import label_tables
from sensorium.tracing.placement.body_places import BodyMotion
from sensorium.tracing.placement.scenes import PlacedScenes
from sensorium.tracing.warp.device import WarpDevice


class WarpScene:
    """Meshes of all worlds, placed by `place`; `tables` is the first argument of casting kernels."""

    def __init__(self, device: WarpDevice, layout: Layout, worlds: int, bodies: tuple[str, ...]) -> None:
        if any(mesh.one_sided is not None for mesh in layout.meshes):
            raise BackendError("a mesh has one_sided faces; Warp sees both sides: cast them by the CPU")
        self._device, self._layout, self._worlds, self._bodies = device, layout, worlds, bodies
        self._instances, self._tree = device.tables.Instances(), device.tables.Tree()
        self._upload_instances()
        self._labels = self._uploaded_labels()
        count = len(self._instances.mesh)
        self._lower, self._upper = device.zeros(count, device.warp.vec3f), device.zeros(count, device.warp.vec3f)
        self._boxes: Any = None
        self.anchor = np.full((worlds, 3), np.inf)
        """Origin of float32 coordinates in each world [m], shape (worlds, 3)."""
        self._placed_for: BodyMotion | None = None

    @property
    def tables(self) -> tuple[Any, Any, Any]:
        """Tree, instances and labels."""
        return self._tree, self._instances, self._labels

    def place(self, motion: BodyMotion, near: NDArray[np.float64]) -> None:
        """Place the bodies for rays from there, unless they are placed already.

        Args:
            motion: Their poses; a new object after each change.
            near: Approximate origin of the rays of each world [m], shape (worlds, 3).
        """
        anchor = PlacedScenes.on_grid(near)
        if self._placed_for is motion and (anchor == self.anchor).all():
            return
        device, warp, scene, tree = self._device, self._device.warp, self._instances, self._tree
        knots = len(motion.positions)
        scene.body_position = device.array(motion.positions.reshape(knots, -1, 3), warp.vec3d)
        scene.body_turn = device.turns(motion.quaternions.reshape(knots, -1, 4), warp.quatd)
        tree.anchor = device.array(anchor, warp.vec3d)
        tree.root = device.integers(np.full(self._worlds, -1))
        self.anchor, self._placed_for = anchor, motion
        if not len(scene.mesh):
            return

        # Boxes, and a tree of them with a root for each world; bodies may have moved anywhere, so it is built again
        device.launch(device.kernels.place, len(scene.mesh), scene, tree.anchor, self._lower, self._upper)
        self._boxes = warp.Bvh(self._lower, self._upper, groups=self._groups)
        tree.handle = self._boxes.id
        device.launch(device.kernels.find_roots, self._worlds, tree.handle, self._group_of_world, tree.root)

    def hidden(self, hide: frozenset[str]) -> Any:
        """1 for each body to pass through."""
        for name in sorted(hide - set(self._bodies)):
            known = ", ".join(self._bodies) or "none"
            raise SpecError(f"hide names body {name!r}, which the scene does not have (it has: {known})")
        return self._device.integers(np.array([name in hide for name in self._bodies], np.int32))

    def _upload_instances(self) -> None:
        """Every object of every world with its mesh and its mount."""
        device, warp, plan, scene = self._device, self._device.warp, self._layout, self._instances
        index = np.broadcast_to(plan.mesh_index, (self._worlds, plan.mesh_index.shape[1]))
        world, column = np.nonzero(index >= 0)
        row = world if len(plan.mesh_index) > 1 else np.zeros_like(world)
        used = index[world, column]
        self._meshes = [device.mesh(mesh) for mesh in plan.meshes]  # as long as kernels may read them
        handle = np.array([mesh.handle.id for mesh in self._meshes], np.uint64)
        center = np.array([mesh.center for mesh in self._meshes]).reshape(-1, 3)
        half_size = np.array([mesh.half_size for mesh in self._meshes], np.float32).reshape(-1, 3)
        scene.mesh = device.array(handle[used], warp.uint64)
        scene.half_size = device.array(half_size[used], warp.vec3f)
        scene.world, scene.column = device.integers(world), device.integers(column)

        # Where each is mounted
        number = {name: k for k, name in enumerate(self._bodies)}
        body = np.array([-1 if name is None else number[name] for name in plan.body], np.int64)[column]
        X_BO = plan.X_BO[row, column]
        scene.body = device.integers(np.where(body < 0, -1, world * len(self._bodies) + body))
        scene.hidden_as = device.integers(body)
        scene.mount_position = device.array(X_BO.apply(center[used]), warp.vec3d)
        scene.mount_turn = device.turns(X_BO.quaternion, warp.quatd)
        scene.position, scene.turn = device.zeros(len(used), warp.vec3f), device.zeros(len(used), warp.quatf)

        # Groups of the tree are numbered without gaps, which Warp up to 1.15 does not support: empty worlds have none
        with_objects, group = np.unique(world, return_inverse=True)
        group_of_world = np.full(self._worlds, -1)
        group_of_world[with_objects] = np.arange(len(with_objects))
        self._groups, self._group_of_world = device.integers(group), device.integers(group_of_world)

    def _uploaded_labels(self) -> Any:
        tables, labels = label_tables(self._layout), self._device.tables.Labels()
        labels.of_object = self._device.integers(tables.object_label)
        labels.face_first = self._device.integers(tables.face_first)
        labels.of_face = self._device.integers(tables.face_label)
        return labels

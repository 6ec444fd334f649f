"""`WarpCaster`: the ray caster on NVIDIA Warp, for worlds whose images stay on a GPU.

It has the interface of `RayCaster` and, for robot learning, `images`: one table of rays fired from a head in every
world, with results that stay on the device. Scenes, labels, bodies and ids are the same; hits are those of `RayCaster`
except for rays within float32 rounding of an edge.
"""

import threading
from collections.abc import Collection, Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.core.errors import BackendError, SpecError
from sensorium.core.frames import Pose
from sensorium.patterns import RayTable
from sensorium.scene.batch import SceneBatch
from sensorium.scene.layout import Layout, layout
from sensorium.scene.scene import Scene
from sensorium.tracing.caster import AbstractCaster
from sensorium.tracing.embree.crossings import RawCrossings
from sensorium.tracing.labels import label_tables
from sensorium.tracing.placement.body_places import BodyMotion, BodyPlaces
from sensorium.tracing.placement.scenes import PlacedScenes
from sensorium.tracing.rays import (
    LookUp,
    LookUpOfAll,
    RawHits,
    Rays,
    checked_bodies,
    checked_rays,
    middle_of,
    new_hits,
    property_at,
)
from sensorium.tracing.warp.device import WarpDevice

OUTPUTS = ("range_m", "depth_m", "normal", "object_id", "face_id", "label")
"""Possible outputs of `WarpCaster.images`."""

_KIND = {"range_m": "float32", "depth_m": "float32", "normal": "vec3f"}


class WarpImages(NamedTuple):
    """Images of all heads as `wp.array` on the caster's device; None if not requested.

    Shapes are (heads, rows, columns), of vectors for normals; `head` is in the order of the poses. A ray without a hit
    has range and depth inf, ids and label -1 and a zero normal. `wp.array` supports DLPack: `torch.from_dlpack` and
    `np.from_dlpack` (on the CPU device) share its memory.
    """

    range_m: Any
    """Distance from the head [m]."""
    depth_m: Any
    """Distance along the head's x axis [m]."""
    normal: Any
    """Unit normal of the face in world axes, on the side its vertices turn counter-clockwise."""
    object_id: Any
    face_id: Any
    label: Any


class WarpCaster(AbstractCaster):
    """Casts rays into a scene, or into many worlds of one, on a CUDA device or on Warp's CPU device.

    Needs the extra `gpu`. Tested on the CPU device only: no figure here was measured on CUDA.
    """

    def __init__(self, scene: Scene | SceneBatch, *, worlds: int | None = None, device: str | None = None) -> None:
        """Copy the scene to the device.

        Args:
            scene: The scene; later additions to it are ignored.
            worlds: Number of worlds; by default one for a Scene, and its own number for a SceneBatch.
            device: Warp's name of the device, such as "cuda:0" or "cpu"; by default the first CUDA device, or else the
                CPU.
        """
        self._device = WarpDevice(device)
        own = scene.worlds if isinstance(scene, SceneBatch) else 1
        self.worlds = own if worlds is None else worlds
        self.layout = layout(scene, self.worlds)
        self.bodies = tuple(sorted({name for name in self.layout.body if name is not None}))
        self.places = BodyPlaces(self.bodies, self.worlds)
        self._scene = WarpScene(self._device, self.layout, self.worlds, self.bodies)
        self._lock = threading.RLock()

    @property
    def device(self) -> str:
        """Warp's name of the device."""
        return self._device.name

    def _nearest(
        self, rays: Rays, shape: tuple[int, ...], hide: frozenset[str], coherent: bool
    ) -> tuple[RawHits, LookUp]:
        """As in `RayCaster`, with arrays of the host; `coherent` has no effect here."""
        return self.cast_rays(rays, hide=hide), partial(property_at, self.layout)

    def _all(self, rays: Rays, hide: frozenset[str]) -> tuple[RawCrossings, LookUpOfAll]:
        raise SpecError(f"cast_all was asked of a WarpCaster on {self.device!r}; only a RayCaster finds all hits")

    def size_of(self, world: int, object_id: int) -> tuple[float, float]:
        """Radius of an object's mesh [m], and its volume [m3] where it is one."""
        extents, row = self.layout.extents(), world if len(self.layout.mesh_index) > 1 else 0
        return float(extents.radius_m[row, object_id]), float(extents.volume_m3[row, object_id])

    def cast_rays(self, rays: Rays, *, hide: frozenset[str] = frozenset()) -> RawHits:
        """`cast` for checked rays, as flat arrays."""
        count = len(rays.origin)
        if not count:
            return new_hits(0)
        device, warp = self._device, self._device.warp
        with self._lock:
            self._scene.place(self.places.motion, middle_of(rays, self._scene.anchor))
            out = device.tables.RayHits()
            out.range_m = device.empty(count, warp.float32)
            out.normal = device.empty(count, warp.vec3f)
            out.object_id, out.face_id, out.label = (device.empty(count, warp.int32) for _ in range(3))
            out.barycentric = device.empty(count, warp.vec2f)
            device.launch(
                device.kernels.cast_rays,
                count,
                *self._scene.tables,
                self._scene.hidden(hide),
                device.array(rays.origin, warp.vec3d),
                device.array(rays.direction, warp.vec3f),
                device.array(rays.time, warp.float32),
                device.array(rays.t_max, warp.float32),
                device.integers(rays.world),
                out,
            )
            return RawHits(*(getattr(out, name).numpy() for name in RawHits._fields))

    def images(
        self,
        table: RayTable,
        X_WS: Pose,
        *,
        outputs: Collection[str] = ("depth_m", "label"),
        time: float = 0.0,
        t_max_m: float = np.inf,
        worlds: ArrayLike | None = None,
        hide: Iterable[str] = (),
    ) -> WarpImages:
        """Fire a table of rays from every head at once; results stay on the device.

        Args:
            table: Rays in the frame S of a head, such as `sn.patterns.Pinhole.from_fov(...).rays()`; their times are
                ignored.
            X_WS: Poses of the heads, batch shape (heads,).
            outputs: Outputs to compute, of `OUTPUTS`.
            time: Firing time, as a fraction of the interval of `move`, 0 to 1.
            t_max_m: Length of the rays [m].
            worlds: World of each head, shape (heads,); by default head k is in world k.
            hide: Bodies the rays pass through.
        """
        unknown = sorted(set(outputs) - set(OUTPUTS))
        if unknown or not outputs:
            raise SpecError(f"outputs is {tuple(outputs)!r}; it must be one or more of {', '.join(OUTPUTS)}")
        if not isinstance(table, RayTable):
            raise SpecError(
                f"table is a {type(table).__name__}; it must be a table of rays, as a pattern's rays() gives"
            )
        if not isinstance(X_WS, Pose):
            raise SpecError(f"X_WS is a {type(X_WS).__name__}, {X_WS!r}; it must be a sn.Pose")
        if len(X_WS.shape) != 1 or not len(X_WS):
            raise SpecError(f"X_WS has batch shape {X_WS.shape}; it must have one axis, of heads")
        world = np.arange(len(X_WS)) if worlds is None else np.asarray(worlds)
        heads, _ = checked_rays(
            X_WS.position, X_WS.rotate((1.0, 0.0, 0.0)), time, t_max_m, world, world_count=self.worlds
        )
        device, warp, shape = self._device, self._device.warp, (len(heads.origin), *table.shape)
        rays = shape[1] * shape[2]
        with self._lock:
            self._scene.place(self.places.motion, middle_of(heads, self._scene.anchor))
            out = device.tables.ImageHits()
            for name in OUTPUTS:
                kind = getattr(warp, _KIND.get(name, "int32"))
                setattr(out, name, device.empty(shape[0] * rays if name in outputs else 0, kind))
            none = np.zeros((0, 3), np.float32)
            device.launch(
                device.kernels.cast_images,
                (shape[0], rays),
                *self._scene.tables,
                self._scene.hidden(checked_bodies(hide)),
                device.array(table.direction_S.reshape(-1, 3), warp.vec3f),
                device.array(none if table.origin_S is None else table.origin_S.reshape(-1, 3), warp.vec3f),
                device.array(heads.origin, warp.vec3d),
                device.turns(X_WS.quaternion, warp.quatf),
                device.integers(heads.world),
                float(time),
                float(t_max_m),
                out,
            )
        return WarpImages(**{name: getattr(out, name).reshape(shape) if name in outputs else None for name in OUTPUTS})

    def material_at(self, world: int, object_id: int) -> object | None:
        """Material of an object; None if it has none."""
        row = world if len(self.layout.material_index) > 1 else 0
        return self.layout.materials[self.layout.material_index[row, object_id]]


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

"""`WarpCaster`: the ray caster on NVIDIA Warp, for worlds whose images are to stay on a GPU.

It has the face of `RayCaster` and, for robot learning, `images`: one table of rays fired from a head in every world,
with results that stay on the device. Scenes, labels, bodies and ids are the same; hits are those of `RayCaster` but for
rays within float32 rounding of an edge.
"""

import importlib.util
import sys
import threading
import weakref
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.errors import MissingExtraError, SpecError
from sensorium.frames import Pose
from sensorium.patterns import RayTable
from sensorium.scene.batch import SceneBatch
from sensorium.scene.layout import layout
from sensorium.scene.mesh import Mesh
from sensorium.scene.scene import Scene
from sensorium.trace.body_places import BodyMotion, BodyPlaces
from sensorium.trace.caster import Hits, RawHits, property_at, shaped_hits
from sensorium.trace.labels import label_tables
from sensorium.trace.placement import PlacedScenes
from sensorium.trace.rays import Rays, checked_bodies, checked_rays, middle_of

OUTPUTS = ("range_m", "depth_m", "normal", "object_id", "face_id", "label")
"""What `WarpCaster.images` can be asked for."""


class WarpImages(NamedTuple):
    """Images of all heads as `wp.array` on the caster's device; None where not asked for.

    Shapes are (heads, rows, columns), of vectors for normals; `head` is in the order of the poses. A ray that meets
    nothing has range and depth inf, ids and label -1 and a zero normal. `wp.array` speaks DLPack: `torch.from_dlpack`
    and `np.from_dlpack` (on the CPU device) share its memory.
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


class WarpCaster:
    """Casts rays into a scene, or into many worlds of one, on a CUDA device or on Warp's CPU device.

    Bodies stand where `place` (an instant) or `move` (an interval) last put them, at the world's origin before that.
    Needs the extra `gpu`. Tested on the CPU device alone: no figure here was measured on CUDA.
    """

    def __init__(self, scene: Scene | SceneBatch, *, worlds: int | None = None, device: str | None = None) -> None:
        """Bring the scene to the device.

        Args:
            scene: What to cast into; later additions to it are not seen.
            worlds: How many worlds; by default one for a Scene, and its own number for a SceneBatch.
            device: Warp's name of it, such as "cuda:0" or "cpu"; by default the first CUDA device, or else the CPU.
        """
        self._warp, self._kernels = _loaded()
        self.device = str(_chosen(self._warp, device))
        own = scene.worlds if isinstance(scene, SceneBatch) else 1
        self.worlds = own if worlds is None else worlds
        self.layout = layout(scene, self.worlds)
        self.bodies = tuple(sorted({name for name in self.layout.body if name is not None}))
        self.places = BodyPlaces(self.bodies, self.worlds)
        self._lock = threading.RLock()
        self._labels = self._uploaded_labels()
        self._instances = self._uploaded_instances()
        count = len(self._instances.mesh)
        self._lower, self._upper = (self._zeros(count, self._warp.vec3f) for _ in range(2))
        self._tree = self._kernels.Tree()
        self._boxes: Any = None
        self._anchor = np.full((self.worlds, 3), np.inf)
        self._placed_for: BodyMotion | None = None

    def place(self, poses: Mapping[str, Pose]) -> None:
        """Put bodies at poses X_WB (batch shape () or (worlds,)); they stand still during a cast."""
        self.move({name: Pose.stack([pose]) for name, pose in poses.items()})

    def move(self, knots: Mapping[str, Pose]) -> None:
        """Let bodies move during a cast; see `RayCaster.move`."""
        self.places.move(knots)

    def cast(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        *,
        time: ArrayLike = 0.0,
        t_max_m: ArrayLike = np.inf,
        worlds: ArrayLike = 0,
        hide: Iterable[str] = (),
        coherent: bool = False,
    ) -> Hits:
        """Find the nearest hit of each ray; arguments and result as of `RayCaster.cast`, in arrays of the host.

        `coherent` changes nothing here.
        """
        rays, shape = checked_rays(origins, directions, time, t_max_m, worlds, world_count=self.worlds)
        found = self.cast_rays(rays, hide=checked_bodies(hide))
        return shaped_hits(found, rays.world, shape, partial(property_at, self.layout))

    def cast_rays(self, rays: Rays, *, hide: frozenset[str] = frozenset()) -> RawHits:
        """The same for rays that are checked, as flat arrays."""
        warp, count = self._warp, len(rays.origin)
        if not count:
            return RawHits(*(np.zeros((0, *tail), kind) for tail, kind in _EMPTY))
        with self._lock:
            self._commit(middle_of(rays, self._anchor))
            out = self._kernels.RayHits()
            out.range_m = self._empty(count, warp.float32)
            out.normal = self._empty(count, warp.vec3f)
            out.object_id, out.face_id, out.label = (self._empty(count, warp.int32) for _ in range(3))
            out.barycentric = self._empty(count, warp.vec2f)
            inputs = [
                self._tree,
                self._instances,
                self._labels,
                self._hidden(hide),
                self._array(rays.origin, warp.vec3d),
                self._array(rays.direction, warp.vec3f),
                self._array(rays.time, warp.float32),
                self._array(rays.t_max, warp.float32),
                self._array(rays.world, warp.int32),
                out,
            ]
            warp.launch(self._kernels.cast_rays, dim=count, inputs=inputs, device=self.device)
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
        """Fire a table of rays from every head at once; what comes back stays on the device.

        Args:
            table: Rays in the frame S of a head, such as `sn.patterns.Pinhole.from_fov(...).rays()`; their times do
                not count.
            X_WS: Poses of the heads, batch shape (heads,).
            outputs: What to work out, of `OUTPUTS`.
            time: When they fire, as a fraction of the interval of `move`, 0 to 1.
            t_max_m: How far to look [m].
            worlds: World of each head, shape (heads,); by default head k is in world k.
            hide: Bodies the rays pass through.
        """
        unknown = sorted(set(outputs) - set(OUTPUTS))
        if unknown or not outputs:
            raise SpecError(f"outputs is {tuple(outputs)!r}; it must be one or more of {', '.join(OUTPUTS)}")
        if len(X_WS.shape) != 1 or not len(X_WS):
            raise SpecError(f"X_WS has batch shape {X_WS.shape}; it must have one axis, of heads")
        world = np.arange(len(X_WS)) if worlds is None else np.asarray(worlds)
        heads, _ = checked_rays(
            X_WS.position, X_WS.rotate((1.0, 0.0, 0.0)), time, t_max_m, world, world_count=self.worlds
        )
        warp, shape = self._warp, (len(heads.origin), *table.shape)
        with self._lock:
            self._commit(middle_of(heads, self._anchor))
            out = self._kernels.ImageHits()
            for name in OUTPUTS:
                kind = _KIND.get(name, "int32")
                setattr(out, name, self._empty(int(np.prod(shape)) if name in outputs else 0, getattr(warp, kind)))
            none = np.zeros((0, 3), np.float32)
            inputs = [
                self._tree,
                self._instances,
                self._labels,
                self._hidden(checked_bodies(hide)),
                self._array(table.direction_S.reshape(-1, 3), warp.vec3f),
                self._array(none if table.origin_S is None else table.origin_S.reshape(-1, 3), warp.vec3f),
                self._array(heads.origin, warp.vec3d),
                self._array(_x_first(X_WS.quaternion).astype(np.float32), warp.quatf),
                self._array(heads.world, warp.int32),
                float(time),
                float(t_max_m),
                out,
            ]
            rays = shape[1] * shape[2]
            warp.launch(self._kernels.cast_images, dim=(shape[0], rays), inputs=inputs, device=self.device)
        return WarpImages(**{name: getattr(out, name).reshape(shape) if name in outputs else None for name in OUTPUTS})

    def material_at(self, world: int, object_id: int) -> object | None:
        """Material of an object; None where it was given none."""
        row = world if len(self.layout.material_index) > 1 else 0
        return self.layout.materials[self.layout.material_index[row, object_id]]

    # --- what is on the device --------------------------------------------------------------------------------------

    def _commit(self, near: NDArray[np.float64]) -> None:
        """Place the bodies for rays from there, unless they are."""
        motion, anchor = self.places.motion, PlacedScenes.on_grid(near)
        if self._placed_for is motion and (anchor == self._anchor).all():
            return
        warp, kernels, scene = self._warp, self._kernels, self._instances
        knots = len(motion.positions)
        position, turn = motion.positions.reshape(knots, -1, 3), _x_first(motion.quaternions).reshape(knots, -1, 4)
        scene.body_position = self._array(position, warp.vec3d)
        scene.body_turn = self._array(turn, warp.quatd)
        self._tree.anchor = self._array(anchor, warp.vec3d)
        self._anchor, self._placed_for = anchor, motion
        if not len(scene.mesh):
            self._tree.root = self._array(np.full(self.worlds, -1, np.int32), warp.int32)
            return

        # Boxes, and a tree of them with a root for each world; bodies may have gone anywhere, so it is built anew
        inputs = [scene, self._tree.anchor, self._lower, self._upper]
        warp.launch(kernels.place, dim=len(scene.mesh), inputs=inputs, device=self.device)
        self._boxes = warp.Bvh(self._lower, self._upper, groups=self._groups)
        self._tree.handle = self._boxes.id
        self._tree.root = self._zeros(self.worlds, warp.int32)
        inputs = [self._boxes.id, self._group_of_world, self._tree.root]
        warp.launch(kernels.find_roots, dim=self.worlds, inputs=inputs, device=self.device)

    def _uploaded_instances(self) -> Any:
        """Every object of every world with its mesh and its mount."""
        warp, plan = self._warp, self.layout
        index = np.broadcast_to(plan.mesh_index, (self.worlds, plan.mesh_index.shape[1]))
        world, column = np.nonzero(index >= 0)
        row = world if len(plan.mesh_index) > 1 else np.zeros_like(world)
        meshes = [_device_mesh(warp, mesh, self.device) for mesh in plan.meshes]
        used = index[world, column]
        center, half_size = (
            np.array([getattr(mesh, name) for mesh in meshes]).reshape(-1, 3)[used] for name in ("center", "half_size")
        )
        X_BO = plan.X_BO[row, column]
        number = {name: k for k, name in enumerate(self.bodies)}
        body = np.array([-1 if name is None else number[name] for name in plan.body], np.int32)[column]

        scene = self._kernels.Instances()
        scene.mesh = self._array(np.array([mesh.handle.id for mesh in meshes], np.uint64)[used], warp.uint64)
        scene.half_size = self._array(half_size.astype(np.float32), warp.vec3f)
        scene.world = self._array(world.astype(np.int32), warp.int32)
        scene.column = self._array(column.astype(np.int32), warp.int32)
        on_body = np.where(body < 0, -1, world * len(self.bodies) + body)
        scene.body = self._array(on_body.astype(np.int32), warp.int32)
        scene.hidden_as = self._array(body, warp.int32)
        scene.mount_position = self._array(X_BO.apply(center), warp.vec3d)
        scene.mount_turn = self._array(_x_first(X_BO.quaternion), warp.quatd)

        # Groups of the tree are numbered without gaps, which Warp up to 1.15 does not bear: empty worlds have none
        with_objects, group = np.unique(world, return_inverse=True)
        group_of_world = np.full(self.worlds, -1, np.int32)
        group_of_world[with_objects] = np.arange(len(with_objects))
        self._groups = self._array(group.astype(np.int32), warp.int32)
        self._group_of_world = self._array(group_of_world, warp.int32)
        scene.position = self._zeros(len(used), warp.vec3f)
        scene.turn = self._zeros(len(used), warp.quatf)
        self._meshes = meshes  # as long as kernels may read them
        return scene

    def _uploaded_labels(self) -> Any:
        tables, labels = label_tables(self.layout), self._kernels.Labels()
        labels.of_object = self._array(tables.object_label, self._warp.int32)
        labels.face_first = self._array(tables.face_first.astype(np.int32), self._warp.int32)
        labels.of_face = self._array(tables.face_label, self._warp.int32)
        return labels

    def _hidden(self, hide: frozenset[str]) -> Any:
        """1 for each body to pass through."""
        for name in sorted(hide - set(self.bodies)):
            known = ", ".join(self.bodies) or "none"
            raise SpecError(f"hide names body {name!r}, which the scene does not have (it has: {known})")
        return self._array(np.array([name in hide for name in self.bodies], np.int32), self._warp.int32)

    def _array(self, values: NDArray[Any], kind: Any) -> Any:
        return self._warp.array(np.ascontiguousarray(values), dtype=kind, device=self.device)

    def _zeros(self, count: int, kind: Any) -> Any:
        return self._warp.zeros(count, dtype=kind, device=self.device)

    def _empty(self, count: int, kind: Any) -> Any:
        return self._warp.empty(count, dtype=kind, device=self.device)


_KIND = {"range_m": "float32", "depth_m": "float32", "normal": "vec3f"}

# One row a ray, without any
_EMPTY: tuple[tuple[tuple[int, ...], type], ...] = (
    ((), np.float32),
    ((3,), np.float32),
    ((), np.int32),
    ((), np.int32),
    ((), np.int32),
    ((2,), np.float32),
)


class _DeviceMesh(NamedTuple):
    """A mesh on a device, around the middle of its bounds."""

    handle: Any
    center: NDArray[np.float64]
    half_size: NDArray[np.float64]


_built: "weakref.WeakKeyDictionary[Mesh, dict[str, _DeviceMesh]]" = weakref.WeakKeyDictionary()


def _device_mesh(warp: Any, mesh: Mesh, device: str) -> _DeviceMesh:
    """The mesh on a device, brought there on first use and kept as long as the mesh is."""
    on_devices = _built.setdefault(mesh, {})
    if device not in on_devices:
        low, high = np.asarray(mesh.bounds, np.float64)
        center = 0.5 * (low + high)
        points = warp.array((mesh.vertices - center).astype(np.float32), dtype=warp.vec3f, device=device)
        indices = warp.array(mesh.faces.reshape(-1).astype(np.int32), dtype=warp.int32, device=device)
        on_devices[device] = _DeviceMesh(warp.Mesh(points=points, indices=indices), center, 0.5 * (high - low))
    return on_devices[device]


def _x_first(quaternion: NDArray[np.float64]) -> NDArray[np.float64]:
    """Quaternions w x y z in Warp's order x y z w."""
    return np.roll(quaternion, -1, axis=-1)


def _loaded() -> tuple[Any, Any]:
    """Warp and our kernels."""
    if importlib.util.find_spec("warp") is None:
        raise MissingExtraError("WarpCaster needs Warp; pip install 'sensorium[gpu]'")
    ours = "warp" not in sys.modules
    import warp

    # Whoever brings Warp in decides what it prints: by default a page about the machine, and each kernel it compiles
    if ours:
        warp.config.quiet = True
        if hasattr(warp, "LOG_WARNING"):
            warp.config.log_level = warp.LOG_WARNING
    warp.init()
    from sensorium.trace import warp_kernels

    return warp, warp_kernels


def _chosen(warp: Any, device: str | None) -> Any:
    """A device of this machine."""
    if device is None:
        return "cuda:0" if warp.is_cuda_available() else "cpu"
    try:
        return warp.get_device(device)
    except Exception as error:  # a ValueError, or what the CUDA driver says
        known = ", ".join(str(one) for one in warp.get_devices())
        raise SpecError(f"device is {device!r}; it must be one of Warp's devices here: {known}") from error

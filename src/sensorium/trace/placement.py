"""The scenes rays are cast into: one committed Embree scene a world, its objects in instance arrays.

Objects of a world are grouped by kind of motion and by mask; each group is one instance array. Fixed objects are
committed once, moving ones by writing their transforms and committing the array: no mesh is ever rebuilt. Coordinates
are float32 around an anchor, a float64 point of the world near the sensor.
"""

import threading
import weakref
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium import threads
from sensorium.errors import SpecError
from sensorium.media.base import AbstractScatterer
from sensorium.scene.layout import Layout
from sensorium.trace import library, meshes, motion

# rtcore_geometry.h, rtcore_buffer.h, rtcore_scene.h
_GEOMETRY_INSTANCE_ARRAY = 122
_BUFFER_INDEX, _BUFFER_TRANSFORM = 0, 23
_FORMAT_UINT, _FORMAT_3X4_ROW_MAJOR, _FORMAT_QUATERNION = 0x5001, 0x9134, 0xB001
_SCENE_DYNAMIC_ROBUST = 5
_BUILD_LOW = 0

# Bit 0 is every object nobody hides, the last one volumes of air, whose skins nothing but light in them notices; the
# other bits of a ray's 32-bit mask are for bodies hidden from the same sensors.
_MOST_HIDDEN_GROUPS = 30
_AIR_BIT = 31

# Anchors lie on a grid this wide, so that they depend on nothing but the sensor's own place. Coordinates near the
# sensor stay below 64 m, where float32 resolves 4 um.
ANCHOR_GRID_M = 64.0


class InstanceTables(NamedTuple):
    """All instance arrays of all worlds, flat: what kernels need to place them and to read hits."""

    scene: NDArray[np.int64]  # (worlds,) top scene
    first: NDArray[
        np.int32
    ]  # (worlds + 1,) arrays of world w are first[w] .. first[w + 1]; its instID counts from there
    geometry: NDArray[np.int64]  # (arrays,) Embree geometry
    buffer: NDArray[np.int64]  # (arrays,) address of the transforms, float32 [segments + 1, items, 12 or 16]
    kind: NDArray[np.uint8]  # (arrays,) kind of motion
    segments: NDArray[np.int32]  # (arrays,)
    column_first: NDArray[np.int32]  # (arrays,) object of item i is columns[column_first + i]
    column_count: NDArray[np.int32]  # (arrays,)
    columns: NDArray[np.int32]


class MountTables(NamedTuple):
    """Where objects sit on their bodies; the leading axis is 1 when all worlds are equal."""

    body: NDArray[np.int32]  # (objects,) index of the body, -1 for the world
    position: NDArray[np.float64]  # (1 | worlds, objects, 3) of the mesh's centre, in the body frame
    quaternion: NDArray[np.float64]  # (1 | worlds, objects, 4)


class BodyMotion(NamedTuple):
    """What `PlacedScenes.place_around` was given last."""

    positions: NDArray[np.float64]
    quaternions: NDArray[np.float64]
    anchor: NDArray[np.float64]


class _WorldArrays(NamedTuple):
    """What one world holds: its top scene and the arrays attached to it."""

    scene: int
    kinds: NDArray[np.uint8]
    geometry: list[int]
    kind: list[int]
    segments: list[int]
    columns: list[NDArray[np.int32]]
    buffers: list[NDArray[np.float32]]
    keep: list[Any]


class PlacedScenes:
    """Top scenes of all worlds, placed at an instant or over an interval."""

    def __init__(
        self, layout: Layout, worlds: int, body_names: tuple[str, ...], hidden: Iterable[frozenset[str]] = ()
    ) -> None:
        self.layout = layout
        self.worlds = worlds
        self.lock = threading.RLock()
        self._body_names = body_names
        self._mesh_scenes, self._mesh_handles = meshes.handles(layout.meshes)
        self.mounts = self._mount_tables()
        self._body_radius_m = self._body_radii()
        self._hidden = frozenset(hidden)
        self._mask_bits = self._hide_bits(self._hidden)

        # Nothing is placed yet
        self.anchor = np.full((worlds, 3), np.inf)
        self._arrays: list[_WorldArrays | None] = [None] * worlds
        self._release = _Releaser()
        weakref.finalize(self, self._release.everything)
        self._tables: InstanceTables | None = None
        self.motion = BodyMotion(np.zeros((0, worlds, 0, 3)), np.zeros((0, worlds, 0, 4)), np.zeros((worlds, 3)))
        self._made_for = (0, b"")
        self._none_new = np.zeros(worlds, np.bool_)

    @property
    def tables(self) -> InstanceTables:
        """The instance arrays as last placed."""
        assert self._tables is not None, "place() comes first"
        return self._tables

    def mask_without(self, hide: Iterable[str], *, air: bool = True) -> int:
        """Ray mask that passes through the hidden bodies, and without `air` through fog banks and the like."""
        mask = 0xFFFFFFFF if air else 0xFFFFFFFF & ~(1 << _AIR_BIT)
        for name in hide:
            mask &= ~(1 << self._mask_bits[name])
        return mask

    def can_hide(self, hide: frozenset[str]) -> bool:
        """Whether these bodies, and no others, can be hidden together."""
        return not hide or hide in self._hidden

    def place(
        self, positions: NDArray[np.float64], quaternions: NDArray[np.float64], near: NDArray[np.float64]
    ) -> None:
        """Put every body where it is, and commit.

        Args:
            positions: p_WB [m], shape (knots, worlds, bodies, 3); knots are evenly spaced over the interval, one for an
                instant.
            quaternions: q_WB, shape (knots, worlds, bodies, 4).
            near: Where the rays start from, roughly [m], shape (worlds, 3).
        """
        self.place_around(positions, quaternions, self.on_grid(near))

    def place_around(
        self, positions: NDArray[np.float64], quaternions: NDArray[np.float64], anchor: NDArray[np.float64]
    ) -> None:
        """The same for anchors of `on_grid` [m], shape (worlds, 3)."""
        # Which kind of motion each body needs decides the arrays
        knots, worlds, bodies = positions.shape[:3]
        if knots > 1 and bodies:
            kinds = np.empty((worlds, bodies), np.uint8)
            threads.run(motion.classify, worlds, positions, quaternions, self._body_radius_m, kinds)
        else:
            kinds = np.full((worlds, bodies), motion.PLACED, np.uint8)
        new = self._rebuild(kinds, knots)

        # The anchor follows the rays on a coarse grid
        before, self.anchor = self.anchor, anchor
        self.motion = BodyMotion(positions, quaternions, anchor)
        threads.run(
            motion.place,
            worlds,
            self.tables,
            self.mounts,
            positions,
            quaternions,
            anchor,
            before,
            new,
            serial_below=2,
        )

    @staticmethod
    def on_grid(near: NDArray[np.float64]) -> NDArray[np.float64]:
        """The anchors for rays from there [m], shape (worlds, 3)."""
        return np.ascontiguousarray(np.rint(near / ANCHOR_GRID_M) * ANCHOR_GRID_M + 0.0)  # no minus zero

    # --- set-up -----------------------------------------------------------------------------------------------------

    def _mount_tables(self) -> MountTables:
        """Mounts of the meshes' centres: Embree holds each mesh around its own middle."""
        layout = self.layout
        index = {name: i for i, name in enumerate(self._body_names)}
        for name in layout.body:
            if name is not None and name not in index:
                known = ", ".join(self._body_names) or "none"
                raise SpecError(
                    f"an object of the scene is on body {name!r}, which the world does not have (it has: {known})"
                )
        body = np.array([-1 if name is None else index[name] for name in layout.body], np.int32)
        centers = np.array([scene.center for scene in self._mesh_scenes] + [np.zeros(3)])  # the last for absent ones
        X_BO = layout.X_BO
        position = X_BO.apply(centers[layout.mesh_index])
        return MountTables(body, np.array(position, order="C"), np.array(X_BO.quaternion, order="C"))

    def _body_radii(self) -> NDArray[np.float64]:
        """Farthest point of each body's objects from the body's origin [m], shape (worlds, bodies)."""
        mesh_radius = np.array([scene.radius_m for scene in self._mesh_scenes] + [0.0])
        reach = np.linalg.norm(self.mounts.position, axis=-1) + mesh_radius[self.layout.mesh_index]
        reach = np.where(self.layout.mesh_index >= 0, reach, 0.0)
        radii = np.zeros((self.worlds, len(self._body_names)))
        for column, body in enumerate(self.mounts.body):
            if body >= 0:
                radii[:, body] = np.maximum(radii[:, body], reach[:, column])
        return radii

    def _hide_bits(self, hidden: Iterable[frozenset[str]]) -> dict[str, int]:
        """A mask bit for each group of bodies that the same sensors hide."""
        hidden = sorted(hidden, key=sorted)
        for name in sorted(frozenset().union(*hidden)):
            if name not in self._body_names:
                known = ", ".join(self._body_names) or "none"
                raise SpecError(f"hide names body {name!r}, which the world does not have (it has: {known})")
        groups: dict[tuple[bool, ...], int] = {}
        bits = {}
        for name in sorted(frozenset().union(*hidden)):
            hidden_by = tuple(name in one for one in hidden)
            bits[name] = groups.setdefault(hidden_by, len(groups) + 1)
        if len(groups) > _MOST_HIDDEN_GROUPS:
            raise SpecError(
                f"{len(groups)} groups of bodies are hidden from different sensors; at most {_MOST_HIDDEN_GROUPS} may"
            )
        return bits

    def _is_air(self, world: int, column: int) -> bool:
        """Whether an object is a volume of air with something in it, such as a fog bank."""
        row = world if len(self.layout.material_index) > 1 else 0
        return isinstance(self.layout.materials[self.layout.material_index[row, column]], AbstractScatterer)

    # --- arrays -----------------------------------------------------------------------------------------------------

    def _rebuild(self, kinds: NDArray[np.uint8], knots: int) -> NDArray[np.bool_]:
        """Make new instance arrays for the worlds where some body changed its kind of motion, and say which."""
        # As a rule none did
        made_for = (knots, kinds.tobytes())
        if made_for == self._made_for:
            return self._none_new
        new = np.zeros(self.worlds, np.bool_)
        for world, arrays in enumerate(self._arrays):
            turning = knots != self._made_for[0] and bool((kinds[world] >= motion.ON_KNOTS).any())
            if arrays is None or turning or not np.array_equal(arrays.kinds, kinds[world]):
                new[world] = True
                self._arrays[world] = self._new_world(world, kinds[world], knots)
                if arrays is not None:
                    self._release.one(arrays.scene)
        self._made_for = made_for
        if new.any():
            self._tables = self._collect()
        return new

    def _new_world(self, world: int, kinds: NDArray[np.uint8], knots: int) -> _WorldArrays:
        """A top scene with one instance array for each kind of motion and mask."""
        embree = library.load()
        api = embree.api
        scene = api.rtcNewScene(embree.device)
        self._release.add(scene)
        api.rtcSetSceneFlags(scene, _SCENE_DYNAMIC_ROBUST)
        api.rtcSetSceneBuildQuality(scene, _BUILD_LOW)
        made = _WorldArrays(scene, kinds.copy(), [], [], [], [], [], [])

        # Sort the objects that this world has into groups
        mesh_index = self.layout.mesh_index[world if len(self.layout.mesh_index) > 1 else 0]
        groups: dict[tuple[int, int], list[int]] = {}
        for column in np.flatnonzero(mesh_index >= 0):
            body = int(self.mounts.body[column])
            kind = motion.FIXED if body < 0 else int(kinds[body])
            bit = 0 if body < 0 else self._mask_bits.get(self._body_names[body], 0)
            if bit == 0 and self._is_air(world, int(column)):
                bit = _AIR_BIT
            groups.setdefault((kind, bit), []).append(int(column))

        # One array a group; transforms are written later, by the kernel that commits
        for (kind, bit), members in sorted(groups.items()):
            columns = np.array(members, np.int32)
            # Only the meshes the group uses: an array of one item takes the first scene, whatever its index says
            used, items = np.unique(mesh_index[columns], return_inverse=True)
            items = items.astype(np.uint32)
            scenes = self._mesh_handles[used]
            segments = int(motion.segments_of(kind, knots))
            turning = kind == motion.QUATERNION
            words = motion.QUATERNION_WORDS if turning else motion.AFFINE_WORDS
            transforms = np.zeros((segments + 1, len(items), words), np.float32)
            geometry = api.rtcNewGeometry(embree.device, _GEOMETRY_INSTANCE_ARRAY)
            api.rtcSetGeometryInstancedScenes(geometry, scenes.ctypes.data, len(scenes))
            api.rtcSetSharedGeometryBuffer(
                geometry, _BUFFER_INDEX, 0, _FORMAT_UINT, items.ctypes.data, 0, 4, len(items)
            )
            api.rtcSetGeometryTimeStepCount(geometry, segments + 1)
            transform_format = _FORMAT_QUATERNION if turning else _FORMAT_3X4_ROW_MAJOR
            for segment in range(segments + 1):
                at = transforms[segment].ctypes.data
                api.rtcSetSharedGeometryBuffer(
                    geometry, _BUFFER_TRANSFORM, segment, transform_format, at, 0, 4 * words, len(items)
                )
            api.rtcSetGeometryMask(geometry, 1 << bit)
            api.rtcAttachGeometryByID(scene, geometry, len(made.geometry))
            api.rtcReleaseGeometry(geometry)  # the scene keeps it
            made.geometry.append(geometry)
            made.kind.append(kind)
            made.segments.append(segments)
            made.columns.append(columns)
            made.buffers.append(transforms)
            made.keep.append(items)
        embree.check(f"making the instance arrays of world {world}")
        return made

    def _collect(self) -> InstanceTables:
        """Lay the arrays of all worlds end to end."""
        worlds = [arrays for arrays in self._arrays if arrays is not None]
        counts = [len(arrays.geometry) for arrays in worlds]
        columns = [c for arrays in worlds for c in arrays.columns]
        sizes = [len(c) for c in columns]
        return InstanceTables(
            scene=np.array([arrays.scene for arrays in worlds], np.int64),
            first=np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
            geometry=np.array([g for arrays in worlds for g in arrays.geometry], np.int64),
            buffer=np.array([b.ctypes.data for arrays in worlds for b in arrays.buffers], np.int64),
            kind=np.array([k for arrays in worlds for k in arrays.kind], np.uint8),
            segments=np.array([s for arrays in worlds for s in arrays.segments], np.int32),
            column_first=np.concatenate([[0], np.cumsum(sizes)])[:-1].astype(np.int32),
            column_count=np.array(sizes, np.int32),
            columns=np.concatenate([*columns, np.zeros(0, np.int32)]).astype(np.int32),
        )


class _Releaser:
    """Owns the handles of top scenes, apart from the object whose end triggers their release."""

    def __init__(self) -> None:
        self._scenes: set[int] = set()

    def add(self, scene: int) -> None:
        self._scenes.add(scene)

    def one(self, scene: int) -> None:
        self._scenes.discard(scene)
        library.load().api.rtcReleaseScene(scene)

    def everything(self) -> None:
        while self._scenes:
            library.load().api.rtcReleaseScene(self._scenes.pop())

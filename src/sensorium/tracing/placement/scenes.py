"""The scenes that rays are cast into: one Embree scene per world, its objects in instance arrays.

Objects of a world are grouped by kind of motion and by mask; each group is one instance array. Fixed objects are
committed once, moving ones by writing their transforms and committing the array: no mesh is ever rebuilt. Coordinates
are float32 around an anchor, a float64 point of the world near the sensor.
"""

import threading
from collections.abc import Iterable
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.runtime import worker_pool
from sensorium.scene.layout import Layout
from sensorium.scene.volumes import AIR, BANK, SURFACE, VOLUME
from sensorium.tracing.embree.meshes import mesh_scenes, mesh_tables
from sensorium.tracing.placement import motion
from sensorium.tracing.placement.motion import MountTables
from sensorium.tracing.placement.world_arrays import KIND_BITS, InstanceTables, Objects, WorldArrays

# Four bits of a ray's 32-bit mask are surfaces, volumes, air and banks that no sensor hides; the others are for bodies
# hidden from the same sensors, one for each kind of object on them.
_MOST_HIDDEN_GROUPS = 28

# In place of the bit of a kind of object that a hidden body does not carry
_NO_BIT = -1

# Anchors lie on a grid this wide, so that they depend on nothing but the sensor's own place. Coordinates near the
# sensor stay below 64 m, where float32 resolves 4 um.
ANCHOR_GRID_M = 64.0


class BodyMotion(NamedTuple):
    """The last arguments of `PlacedScenes.place_around`."""

    positions: NDArray[np.float64]
    quaternions: NDArray[np.float64]
    anchor: NDArray[np.float64]


class PlacedScenes:
    """Top scenes of all worlds, placed at an instant or over an interval."""

    def __init__(
        self,
        layout: Layout,
        worlds: int,
        body_names: tuple[str, ...],
        hidden: Iterable[frozenset[str]] = (),
        *,
        banks: bool = True,
    ) -> None:
        """Lay out the arrays.

        Args:
            layout: The scene.
            worlds: Number of worlds.
            body_names: Bodies of the worlds.
            hidden: Sets of bodies that some rays pass through.
            banks: Whether rays may hit the faces of volumes that kernels clip by their planes; a box around the rays
                costs a third of their time.
        """
        self.layout = layout
        self.worlds = worlds
        self.lock = threading.RLock()
        self._body_names = body_names
        self._mesh_scenes = mesh_scenes(layout.meshes)
        self.meshes = mesh_tables(self._mesh_scenes, layout.mesh_index)
        self._centers = self._mesh_centers()
        self.mounts = self._mount_tables()
        self._body_radius_m = self._body_radii()
        self._hidden = frozenset(hidden)
        self._banks = banks
        self._kind = self._kinds()
        self._mask_bits = self._hide_bits(self._hidden)
        self._known_masks: dict[tuple[tuple[str, ...], tuple[tuple[int, ...], ...]], NDArray[np.uint32]] = {}
        bits = [self._mask_bits.get(name or "", KIND_BITS) for name in layout.body]
        self._column_bit = np.ascontiguousarray(np.array(bits, np.int64).reshape(-1, len(KIND_BITS)).T)

        # Nothing is placed yet
        self.anchor = self._nowhere = np.full((worlds, 3), np.inf)
        self.arrays = WorldArrays(worlds, layout.mesh_index.shape[1])
        self.motion = BodyMotion(np.zeros((0, worlds, 0, 3)), np.zeros((0, worlds, 0, 4)), np.zeros((worlds, 3)))
        self._made_for = (0, np.zeros((worlds, len(body_names)), np.uint8))
        self._none_new = np.zeros(worlds, np.bool_)
        self._to_make = np.ones(worlds, np.bool_)
        self.committed = True
        """Whether rays can be traced through the top-level scenes, as last placed."""
        self._no_motion = np.full((worlds, len(body_names)), motion.PLACED, np.uint8)

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "scenes that sensors look at can be neither copied nor pickled; "
            "make the environment or the caster anew, from its scene, its world and its seed"
        )

    @property
    def tables(self) -> InstanceTables:
        """The instance arrays as last placed."""
        assert self.arrays.tables is not None, "place() comes first"
        return self.arrays.tables

    def mask_without(self, hide: Iterable[str], *, air: bool = True) -> int:
        """Ray mask that passes through the hidden bodies, and without `air` through fog banks and other air."""
        return self._mask(hide, (SURFACE, VOLUME, AIR, BANK) if air else (SURFACE, VOLUME))

    def masks_of_sweep(self, hide: Iterable[str]) -> NDArray[np.uint32]:
        """Ray masks for all but air, through the hidden bodies, and for no volumes, shape (2,)."""
        return self._masks(tuple(hide), (SURFACE, VOLUME), ())

    def masks_of_light(self, hide: Iterable[str], *, banks: bool = False) -> NDArray[np.uint32]:
        """Ray masks for surfaces only and for volumes only, through the hidden bodies, shape (2,).

        Args:
            hide: Hidden bodies.
            banks: Whether volumes that kernels clip by their planes are visible.
        """
        return self._masks(tuple(hide), (SURFACE,), (VOLUME, AIR, BANK) if banks else (VOLUME, AIR))

    def _masks(self, hide: tuple[str, ...], *kinds: tuple[int, ...]) -> NDArray[np.uint32]:
        """A ray mask for each list of kinds; kept, since every sweep asks."""
        masks = self._known_masks.get((hide, kinds))
        if masks is None:
            masks = np.array([self._mask(hide, each) for each in kinds], np.uint32)
            self._known_masks[hide, kinds] = masks
        return masks

    def _mask(self, hide: Iterable[str], kinds: tuple[int, ...]) -> int:
        """Ray mask that sees objects of these kinds, but for those on hidden bodies."""
        hidden, mask = set(hide), 0
        for kind in kinds:
            mask |= 1 << KIND_BITS[kind]
            for name, bits in self._mask_bits.items():
                mask |= 0 if name in hidden or bits[kind] == _NO_BIT else 1 << bits[kind]
        return mask

    def can_hide(self, hide: frozenset[str]) -> bool:
        """Whether these bodies, and no others, can be hidden together."""
        return not hide or hide in self._hidden

    def redraw(self, layout: Layout, worlds: NDArray[np.bool_]) -> None:
        """Set a layout in which some worlds differ; they are rebuilt at their next placement.

        Args:
            layout: Of the same meshes, materials and bodies as before, with a row for each world.
            worlds: Which worlds, bool (worlds,).
        """
        with self.lock:
            rows, mounts = np.flatnonzero(worlds), self.mounts
            position, quaternion = self._mounts_of(layout, rows)
            self._to_make = self._to_make | worlds  # before anything changes: an exception must not lose it
            self.layout = layout
            self.meshes = self.meshes._replace(of_object=layout.mesh_index)
            mounts.position[rows], mounts.quaternion[rows] = position, quaternion
            if (mounts.body >= 0).any():
                self._body_radius_m = self._body_radii()
            if self._has_volumes:
                self._kind = self._kinds()

    def place(
        self, positions: NDArray[np.float64], quaternions: NDArray[np.float64], near: NDArray[np.float64]
    ) -> None:
        """Place every body, and commit.

        Args:
            positions: p_WB [m], shape (knots, worlds, bodies, 3); knots are evenly spaced over the interval, one for an
                instant.
            quaternions: q_WB, shape (knots, worlds, bodies, 4).
            near: Approximate origin of the rays [m], shape (worlds, 3).
        """
        self.place_around(positions, quaternions, self.on_grid(near))

    def place_around(
        self, positions: NDArray[np.float64], quaternions: NDArray[np.float64], anchor: NDArray[np.float64]
    ) -> None:
        """The same for anchors of `on_grid` [m], shape (worlds, 3)."""
        # The kind of motion of each body determines the arrays
        knots, worlds, bodies = positions.shape[:3]
        if knots > 1 and bodies:
            kinds = np.empty((worlds, bodies), np.uint8)
            worker_pool.run(motion.classify, worlds, positions, quaternions, self._body_radius_m, kinds)
        else:
            kinds = self._no_motion

        # A signal may raise between any two lines: the next call then finds nothing placed, and starts over
        was_committed, self.committed = self.committed, False
        before, self.anchor = self.anchor, self._nowhere
        new = self._rebuild(kinds, knots)
        if not self.arrays.traceable:
            self.arrays.ensure_traceable(self.layout.mesh_index, self.meshes.scene)
        if not was_committed:
            new = np.ones(worlds, np.bool_)

        # The anchor follows the rays on a coarse grid
        self.motion = BodyMotion(positions, quaternions, anchor)
        where = (self.tables, self.mounts, positions, quaternions, anchor, before, new)
        if worlds > 1:
            worker_pool.share(motion.place_shared, worlds, *where)
        else:
            worker_pool.run(motion.place, worlds, *where)
        self.anchor, self.committed = anchor, True

    def begin_instant(self, anchor_before: NDArray[np.float64]) -> None:
        """Prepare for images of an instant whose kernel writes transforms itself; nothing is committed.

        Args:
            anchor_before: Filled with the anchors that fixed objects were last written for [m], shape (worlds, 3),
                infinite where never.
        """
        anchor_before[...] = self.anchor
        self.anchor, self.committed = self._nowhere, False
        new = self._rebuild(self._no_motion, 1)
        if new is not self._none_new:
            anchor_before[new] = np.inf

    def end_instant(self, anchor: NDArray[np.float64]) -> None:
        """Record the anchors that the kernel wrote fixed objects for [m], shape (worlds, 3)."""
        self.anchor = anchor

    @staticmethod
    def on_grid(near: NDArray[np.float64]) -> NDArray[np.float64]:
        """The anchors for rays from there [m], shape (worlds, 3)."""
        return np.ascontiguousarray(np.rint(near / ANCHOR_GRID_M) * ANCHOR_GRID_M + 0.0)  # no minus zero

    # --- set-up -----------------------------------------------------------------------------------------------------

    def _mount_tables(self) -> MountTables:
        """Mounts of the meshes' centers: Embree holds each mesh around its own middle."""
        layout = self.layout
        index = {name: i for i, name in enumerate(self._body_names)}
        for name in layout.body:
            if name is not None and name not in index:
                known = ", ".join(self._body_names) or "none"
                raise SpecError(
                    f"an object of the scene is on body {name!r}, which the world does not have (it has: {known})"
                )
        body = np.array([-1 if name is None else index[name] for name in layout.body], np.int32)
        return MountTables(body, *self._mounts_of(layout, np.arange(len(layout.mesh_index))))

    def _mesh_centers(self) -> NDArray[np.float64] | None:
        """Middles of the meshes [m], and a last for absent ones; None where all are zero, as of shapes."""
        centers = np.array([scene.center for scene in self._mesh_scenes] + [np.zeros(3)])
        return centers if centers.any() else None

    def _mounts_of(self, layout: Layout, rows: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Positions and quaternions of the meshes' centers on their bodies, of some rows of a layout."""
        centers = self._centers
        position, quaternion = layout.X_BO.position[rows], layout.X_BO.quaternion[rows]
        if centers is not None:
            position = layout.X_BO[rows].apply(centers[layout.mesh_index[rows]])
        return np.ascontiguousarray(position), np.ascontiguousarray(quaternion)  # of one memory layout, for kernels

    def _body_radii(self) -> NDArray[np.float64]:
        """Farthest point of each body's objects from the body's origin [m], shape (worlds, bodies)."""
        mesh_radius = np.array([scene.radius_m for scene in self._mesh_scenes] + [0.0])
        radii = np.zeros((self.worlds, len(self._body_names)))
        for column in np.flatnonzero(self.mounts.body >= 0):
            mesh, body = self.layout.mesh_index[:, column], self.mounts.body[column]
            reach = np.linalg.norm(self.mounts.position[:, column], axis=-1) + mesh_radius[mesh]
            radii[:, body] = np.maximum(radii[:, body], np.where(mesh >= 0, reach, 0.0))
        return radii

    def _hide_bits(self, hidden: Iterable[frozenset[str]]) -> dict[str, tuple[int, int, int, int]]:
        """Mask bits of each hidden body for the kinds of objects on it, one for all that the same sensors hide."""
        hidden = sorted(hidden, key=sorted)
        for name in sorted(frozenset().union(*hidden)):
            if name not in self._body_names:
                known = ", ".join(self._body_names) or "none"
                raise SpecError(f"hide names body {name!r}, which the world does not have (it has: {known})")
        groups: dict[tuple[bool, ...], list[str]] = {}
        for name in sorted(frozenset().union(*hidden)):
            groups.setdefault(tuple(name in one for one in hidden), []).append(name)

        # Volumes on a hidden body need bits beside its own; where worlds are redrawn any body may come to carry some
        anywhere = self._has_volumes and len(self.layout.mesh_index) > 1
        bits: dict[str, tuple[int, int, int, int]] = {}
        used, with_volumes = len(groups), 0
        for number, names in enumerate(groups.values(), start=1):
            columns = [column for column, body in enumerate(self.layout.body) if body in names]
            own = [number]
            for kind in (VOLUME, AIR):
                needed = bool((self._kind[:, columns] == kind).any()) or anywhere
                used += needed
                own.append(used if needed else _NO_BIT)
            with_volumes += own[1:] != [_NO_BIT, _NO_BIT]
            bits |= dict.fromkeys(names, (own[0], own[1], own[2], _NO_BIT))  # banks ride on no body
        if used > _MOST_HIDDEN_GROUPS:
            counted = f", and {with_volumes} of them carry fog or the like" if with_volumes else ""
            rule = f"at most {_MOST_HIDDEN_GROUPS} may, each kind of volume on them counted as one more"
            raise SpecError(f"{len(groups)} groups of bodies are hidden from different sensors{counted}; {rule}")
        return bits

    @property
    def _has_volumes(self) -> bool:
        """Whether any object may be a volume."""
        return bool(self.layout.material_kind.any())

    def _objects(self) -> Objects:
        """Grouping properties of objects."""
        mesh_index = self.layout.mesh_index
        if not self._banks and len(self.layout.banks.column):
            mesh_index = np.where(self._kind == BANK, np.int32(-1), mesh_index)
        return Objects(mesh_index, self.mounts.body, self._column_bit, self._kind)

    def _kinds(self) -> NDArray[np.uint8]:
        """Kind of each object: a surface, a volume, air with particles, or a bank of that."""
        return self.layout.object_kind

    # --- arrays -----------------------------------------------------------------------------------------------------

    def _rebuild(self, kinds: NDArray[np.uint8], knots: int) -> NDArray[np.bool_]:
        """Make new instance arrays for worlds that were redrawn or in which a body changed its kind of motion."""
        # Usually none did
        knots_before, kinds_before = self._made_for
        if kinds is kinds_before and self._to_make is self._none_new:  # all stand still, as before
            return self._none_new
        new = self._to_make | (kinds != kinds_before).any(axis=1)
        if knots != knots_before:
            new |= (kinds >= motion.ON_KNOTS).any(axis=1)
        if not new.any():
            return self._none_new
        self._to_make = new  # until they are made, whatever comes between
        self.arrays.make(np.flatnonzero(new), self._objects(), kinds, knots)
        self._made_for, self._to_make = (knots, kinds), self._none_new
        return new

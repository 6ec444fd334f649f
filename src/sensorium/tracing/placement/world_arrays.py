"""Instance arrays of all worlds: objects grouped by their motion, and the memory of their transforms.

Rasterized images need only these. Embree's scenes, which rays are traced through from the top, are built from them
before the first trace: see `world_scenes`. A few kernels do everything, since thousands of worlds may change at once.
"""

import functools
import weakref
from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from sensorium.runtime import jit, worker_pool
from sensorium.tracing.embree import library
from sensorium.tracing.placement.motion import AFFINE_WORDS, FIXED, QUATERNION, QUATERNION_WORDS, segments_of
from sensorium.tracing.placement.world_scenes import ArrayTables, make_scenes

MASK_BITS = 32
"""Bits of a ray's mask. Objects are grouped by kind of motion and by bit: 32 kind + bit."""

KIND_BITS = (0, 29, 30, 31)
"""Bits of surfaces, volumes, air and banks on bodies that no sensor hides, see `scene/volumes.py`."""

# Embree may read some floats past the end
_SPARE_WORDS = 4

_release_scene = types.ExternalFunction("rtcReleaseScene", types.void(types.intp))


class InstanceTables(NamedTuple):
    """All instance arrays of all worlds, flat: the tables for placing them and for reading hits."""

    scene: NDArray[np.int64]  # (worlds,) top scene, 0 before the first trace
    first: NDArray[
        np.int32
    ]  # (worlds + 1,) arrays of world w are first[w] .. first[w + 1]; its instID counts from there
    geometry: NDArray[np.int64]  # (arrays,) Embree geometry; of no meaning where there is no scene
    buffer: NDArray[np.int64]  # (arrays,) address of the transforms, float32 [segments + 1, items, 12 or 16]
    mask: NDArray[np.uint32]  # (arrays,) bit of rays that see it
    kind: NDArray[np.uint8]  # (arrays,) kind of motion
    segments: NDArray[np.int32]  # (arrays,)
    column_first: NDArray[np.int32]  # (arrays,) object of item i is columns[column_first + i]
    column_count: NDArray[np.int32]  # (arrays,)
    columns: NDArray[np.int32]


class Objects(NamedTuple):
    """Grouping properties of objects."""

    mesh_index: NDArray[np.int32]  # (1 | worlds, objects) mesh of each, below zero where the world has none
    body: NDArray[np.int32]  # (objects,) that they ride on, below zero for none
    bit: NDArray[np.int64]  # (kinds, objects) of the mask, for an object of each kind there
    kind: NDArray[np.uint8]  # (1 | worlds, objects) SURFACE, VOLUME, AIR or BANK


class _Transforms(NamedTuple):
    """Memory of one object of each kind of motion, shape (kinds,)."""

    segments: NDArray[np.int32]
    words: NDArray[np.int64]  # of all its transforms


class WorldArrays:
    """The arrays of all worlds, and the memory that Embree reads as long as its scenes live."""

    def __init__(self, worlds: int, objects: int) -> None:
        self._embree = library.load()  # which kernels call
        self.scene = np.zeros(worlds, np.int64)
        self.tables: InstanceTables | None = None
        """All arrays of all worlds, as last made."""
        self.traceable = False
        """Whether every world has its scene, and the tables include it."""
        self._columns = np.zeros((worlds, objects), np.int32)
        self._made = _room(worlds, 1)
        self._memory = [np.zeros(0, np.float32)] * worlds
        self._words, self._address = np.zeros(worlds, np.int64), np.zeros(worlds, np.int64)  # of each one's memory
        weakref.finalize(self, _release_all, self.scene)

    def make(self, worlds: NDArray[np.int64], objects: Objects, kinds: NDArray[np.uint8], knots: int) -> None:
        """Rebuild some worlds, an array for each group; transforms are written later, at a commit or by a kernel.

        Args:
            worlds: Which worlds, shape (rows,).
            objects: Those of all worlds.
            kinds: How each body moves, shape (worlds, bodies).
            knots: Knots of the motion that the arrays are for.
        """
        words, each = np.empty(len(worlds), np.int64), _transforms_of(knots)
        self.traceable = False
        given = (worlds, objects, kinds, each, self.scene, self._columns)
        most = worker_pool.without_fork(group_objects, *given, self._made, words)
        if most > self._made.kind.shape[1]:
            self._made = _widened(self._made, most)
            worker_pool.without_fork(group_objects, *given, self._made, words)
        self._make_room(worlds, words)
        self._made.buffer[worlds] = self._address[worlds, None] + 4 * self._made.offset[worlds]
        self.tables = self._end_to_end()

    def ensure_traceable(self, mesh_index: NDArray[np.int32], mesh_scene: NDArray[np.int64]) -> None:
        """Build the scenes of worlds that have none.

        Args:
            mesh_index: Mesh of each object, shape (1 | worlds, objects).
            mesh_scene: Embree scene of each mesh.
        """
        worlds = np.flatnonzero(self.scene == 0)
        what = (mesh_index, mesh_scene, self._columns, self._address, self._made)
        worker_pool.share(make_scenes, len(worlds), self._embree.device, worlds, *what, self.scene)
        self._embree.check(f"making the instance arrays of {len(worlds)} worlds")
        self.tables, self.traceable = self._end_to_end(), True

    def transforms(self, world: int, number: int) -> NDArray[np.float32]:
        """Transforms of one array as they stand, shape (segments + 1, items, words); a copy."""
        memory, made = self._memory[world], self._made
        words = QUATERNION_WORDS if made.kind[world, number] == QUATERNION else AFFINE_WORDS
        shape = (int(made.segments[world, number]) + 1, int(made.column_count[world, number]), words)
        start = int(made.offset[world, number])
        return memory[start : start + int(np.prod(shape))].reshape(shape).copy()

    def _make_room(self, worlds: NDArray[np.int64], words: NDArray[np.int64]) -> None:
        """Ensure that some worlds, which have no scenes now, have this much memory each.

        A world that has changed before usually has enough.
        """
        small = self._words[worlds] < words
        for world, size in zip(worlds[small].tolist(), words[small].tolist(), strict=True):
            memory = np.zeros(size, np.float32)
            address = memory.ctypes.data
            self._words[world] = 0  # if a signal raises before the end, it is allocated again
            self._memory[world], self._address[world] = memory, address
            self._words[world] = size

    def _end_to_end(self) -> InstanceTables:
        """The arrays of all worlds, concatenated."""
        made, (worlds, objects) = self._made, self._columns.shape
        used = np.arange(made.kind.shape[1]) < made.arrays[:, None]
        row = (np.arange(worlds, dtype=np.int32) * np.int32(objects))[:, None]
        return InstanceTables(
            scene=self.scene.copy(),
            first=np.concatenate([[0], np.cumsum(made.arrays)]).astype(np.int32),
            geometry=made.geometry[used],
            buffer=made.buffer[used],
            mask=made.mask[used],
            kind=made.kind[used],
            segments=made.segments[used],
            column_first=(made.column_first + row)[used],
            column_count=made.column_count[used],
            columns=self._columns.reshape(-1).copy(),
        )


@functools.cache
def _transforms_of(knots: int) -> _Transforms:
    """Memory of objects over this many knots."""
    plain = segments_of.py_func  # type: ignore[attr-defined]  # compiling it for Python takes longer than all this
    segments = np.array([plain(kind, knots) for kind in range(QUATERNION + 1)], np.int32)
    words = np.where(np.arange(QUATERNION + 1) == QUATERNION, QUATERNION_WORDS, AFFINE_WORDS) * (segments + 1)
    return _Transforms(segments, words.astype(np.int64))


def _room(worlds: int, most: int) -> ArrayTables:
    """Tables for this many arrays in each world."""
    shape = (worlds, most)
    return ArrayTables(
        arrays=np.zeros(worlds, np.int32),
        geometry=np.zeros(shape, np.int64),
        offset=np.zeros(shape, np.int64),
        buffer=np.zeros(shape, np.int64),
        mask=np.zeros(shape, np.uint32),
        kind=np.zeros(shape, np.uint8),
        segments=np.zeros(shape, np.int32),
        column_first=np.zeros(shape, np.int32),
        column_count=np.zeros(shape, np.int32),
        index_offset=np.zeros(worlds, np.int64),
    )


def _widened(narrow: ArrayTables, most: int) -> ArrayTables:
    """The same with room for more."""
    wide = _room(len(narrow.arrays), most)
    for name in ArrayTables._fields:
        old = getattr(narrow, name)
        getattr(wide, name)[..., : old.shape[-1]] = old
    return wide


def _release_all(scenes: NDArray[np.int64]) -> None:
    """Release all scenes, when nothing refers to them any more."""
    api = library.load().api
    for scene in scenes[scenes != 0].tolist():
        api.rtcReleaseScene(scene)


@jit.kernel
def group_objects(worlds, objects, kinds, each, scene, columns, made, words):
    """Group the objects of some worlds, and release their outdated scenes.

    Args:
        worlds: Which worlds.
        objects: `Objects`.
        kinds: How bodies move, uint8 (worlds, bodies).
        each: `_Transforms`.
        scene: Of all worlds, 0 for none; those of these worlds are none then.
        columns: Objects in the order of their groups, absent ones last, int32 (worlds, objects), filled.
        made: `ArrayTables`, filled but for geometry and buffer.
        words: Size of the memory of each of these worlds, filled.

    Returns:
        The greatest number of groups; if the tables hold fewer, they must be grouped again.
    """
    count, most = columns.shape[1], np.int64(0)
    items = jit.zeros((QUATERNION + 1) * MASK_BITS, np.int32)  # of each group, then where its next one goes
    keys, group = jit.empty(count, np.int64), jit.empty(count, np.int64)
    for row in range(worlds.shape[0]):
        world = worlds[row]
        if scene[world] != 0:
            _release_scene(scene[world])
            scene[world] = 0

        # Which groups there are, in their order
        here, used, present = world if objects.mesh_index.shape[0] > 1 else np.int64(0), 0, 0
        for column in range(count):
            if objects.mesh_index[here, column] < 0:
                group[column] = -1
                continue
            body = objects.body[column]
            kind = np.int64(kinds[world, body]) if body >= 0 else np.int64(FIXED)
            bit = objects.bit[objects.kind[here, column], column]
            key = MASK_BITS * kind + bit
            group[column] = key
            items[key] += 1
            present += 1
            if items[key] == 1:
                place = used
                while place > 0 and keys[place - 1] > key:
                    keys[place] = keys[place - 1]
                    place -= 1
                keys[place] = key
                used += 1

        # An array for each
        start, at = 0, np.int64(0)
        for number in range(used):
            key = keys[number]
            kind, size = key // MASK_BITS, items[key]
            if number < made.kind.shape[1]:
                made.offset[world, number] = at
                made.mask[world, number] = np.uint32(1) << np.uint32(key % MASK_BITS)
                made.kind[world, number], made.segments[world, number] = kind, each.segments[kind]
                made.column_first[world, number], made.column_count[world, number] = start, size
            at += size * each.words[kind]
            items[key] = start
            start += size
        made.arrays[world], made.index_offset[world] = used, at
        words[row], most = at + start + _SPARE_WORDS, max(most, used)

        # Objects in their order
        for column in range(count):
            key = group[column]
            if key >= 0:
                columns[world, items[key]] = column
                items[key] += 1
            else:
                columns[world, present] = column
                present += 1
        for number in range(used):
            items[keys[number]] = 0
    return most

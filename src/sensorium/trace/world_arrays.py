"""Top scenes of worlds and their instance arrays: made in one kernel, since thousands of worlds may change at once."""

import weakref
from typing import NamedTuple

import numba
import numpy as np
from numba import types
from numpy.typing import NDArray

from sensorium import jit, threads
from sensorium.blocks import NONE, next_block, shared
from sensorium.jit import pointer_from_address
from sensorium.trace import library
from sensorium.trace.motion import AFFINE_WORDS, QUATERNION, QUATERNION_WORDS, segments_of

# rtcore_geometry.h, rtcore_buffer.h, rtcore_scene.h
_GEOMETRY_INSTANCE_ARRAY = np.int32(122)
_BUFFER_INDEX, _BUFFER_TRANSFORM = np.int32(0), np.int32(23)
_FORMAT_UINT, _FORMAT_3X4_ROW_MAJOR, _FORMAT_QUATERNION = np.int32(0x5001), np.int32(0x9134), np.int32(0xB001)
_SCENE_DYNAMIC_ROBUST = np.int32(5)
_BUILD_LOW, _BUILD_MEDIUM = np.int32(0), np.int32(1)

# Up to so many objects of a world Embree builds the better hierarchy in less time than the one it calls low
_MEDIUM_OBJECTS = 256

# Objects are grouped by kind of motion and mask bit: 32 kind + bit
MASK_BITS = 32
ABSENT = np.int64(1 << 30)
"""Group of objects that a world does not have."""

# Embree may read some floats past the end
_SPARE_WORDS = 4

_p, _i32, _u32, _size = types.intp, types.int32, types.uint32, types.uintp
_new_scene = types.ExternalFunction("rtcNewScene", _p(_p))
_set_scene_flags = types.ExternalFunction("rtcSetSceneFlags", types.void(_p, _i32))
_set_scene_quality = types.ExternalFunction("rtcSetSceneBuildQuality", types.void(_p, _i32))
_release_scene = types.ExternalFunction("rtcReleaseScene", types.void(_p))
_new_geometry = types.ExternalFunction("rtcNewGeometry", _p(_p, _i32))
_set_scenes = types.ExternalFunction("rtcSetGeometryInstancedScenes", types.void(_p, _p, _size))
_set_buffer = types.ExternalFunction(
    "rtcSetSharedGeometryBuffer", types.void(_p, _i32, _u32, _i32, _p, _size, _size, _size)
)
_set_steps = types.ExternalFunction("rtcSetGeometryTimeStepCount", types.void(_p, _u32))
_set_mask = types.ExternalFunction("rtcSetGeometryMask", types.void(_p, _u32))
_attach = types.ExternalFunction("rtcAttachGeometryByID", types.void(_p, _p, _u32))
_release_geometry = types.ExternalFunction("rtcReleaseGeometry", types.void(_p))


class InstanceTables(NamedTuple):
    """All instance arrays of all worlds, flat: what kernels need to place them and to read hits."""

    scene: NDArray[np.int64]  # (worlds,) top scene
    first: NDArray[
        np.int32
    ]  # (worlds + 1,) arrays of world w are first[w] .. first[w + 1]; its instID counts from there
    geometry: NDArray[np.int64]  # (arrays,) Embree geometry
    buffer: NDArray[np.int64]  # (arrays,) address of the transforms, float32 [segments + 1, items, 12 or 16]
    mask: NDArray[np.uint32]  # (arrays,) bit of rays that see it
    kind: NDArray[np.uint8]  # (arrays,) kind of motion
    segments: NDArray[np.int32]  # (arrays,)
    column_first: NDArray[np.int32]  # (arrays,) object of item i is columns[column_first + i]
    column_count: NDArray[np.int32]  # (arrays,)
    columns: NDArray[np.int32]


class _Made(NamedTuple):
    """Arrays of some worlds, each with room for as many."""

    arrays: NDArray[np.int32]  # (rows,) how many
    geometry: NDArray[np.int64]  # (rows, most)
    buffer: NDArray[np.int64]  # (rows, most)
    mask: NDArray[np.uint32]  # (rows, most)
    kind: NDArray[np.uint8]  # (rows, most)
    segments: NDArray[np.int32]  # (rows, most)
    column_first: NDArray[np.int32]  # (rows, most) within the row
    column_count: NDArray[np.int32]  # (rows, most)


class WorldArrays:
    """The scenes of all worlds, and what they read as long as they live."""

    def __init__(self, worlds: int, objects: int) -> None:
        self.scene = np.zeros(worlds, np.int64)
        self._columns = np.zeros((worlds, objects), np.int32)
        self._made = _room(worlds, 1)
        self._memory = [np.zeros(0, np.float32)] * worlds
        self._words, self._address = np.zeros(worlds, np.int64), np.zeros(worlds, np.int64)  # of each one's memory
        weakref.finalize(self, _release_all, self.scene)

    def make(
        self,
        worlds: NDArray[np.int64],
        group: NDArray[np.int64],
        mesh_index: NDArray[np.int32],
        mesh_scene: NDArray[np.int64],
        knots: int,
    ) -> InstanceTables:
        """Make new scenes for some worlds, an array for each group; transforms are written by who commits or draws.

        Args:
            worlds: Which worlds, shape (rows,).
            group: Group of each object, ABSENT where the world has none, shape (rows, objects).
            mesh_index: Mesh of each object, shape (rows, objects).
            mesh_scene: Embree scene of each mesh.
            knots: Knots of the motion that the arrays are for.

        Returns:
            All arrays of all worlds.
        """
        embree = library.load()
        order = np.argsort(group, axis=1, kind="stable").astype(np.int32)
        ordered = np.take_along_axis(group, order, axis=1)
        changes = (ordered[:, 1:] != ordered[:, :-1]) & (ordered[:, 1:] < ABSENT)
        most = max(1, int(changes.sum(axis=1).max(initial=0)) + 1)

        # One piece of memory a world: transforms of all its arrays, then indices of their items
        plain = segments_of.py_func  # type: ignore[attr-defined]  # compiling it for Python takes longer than all this
        segments = np.array([plain(kind, knots) for kind in range(QUATERNION + 1)], np.int32)
        words = np.where(np.arange(QUATERNION + 1) == QUATERNION, QUATERNION_WORDS, AFFINE_WORDS) * (segments + 1)
        present = ordered < ABSENT
        transforms = np.where(present, words[np.where(present, ordered // MASK_BITS, 0)], 0).sum(axis=1)
        outgrown = self._make_room(worlds, transforms + present.sum(axis=1) + _SPARE_WORDS)

        # Old scenes may read their memory until the kernel has released them
        made, scene, before = _room(len(worlds), most), np.zeros(len(worlds), np.int64), self.scene[worlds]
        addresses = self._address[worlds]
        where = (order, ordered, np.ascontiguousarray(mesh_index), mesh_scene, addresses, transforms, segments)
        threads.share(_make_arrays, len(worlds), embree.device, *where, before, scene, made)
        del outgrown
        self.scene[worlds] = scene
        embree.check(f"making the instance arrays of {len(worlds)} worlds")
        self._keep(worlds, made, order)
        return self._tables()

    def transforms(self, world: int, number: int) -> NDArray[np.float32]:
        """Transforms of one array as they stand, shape (segments + 1, items, words); a copy."""
        memory, made = self._memory[world], self._made
        words = QUATERNION_WORDS if made.kind[world, number] == QUATERNION else AFFINE_WORDS
        shape = (int(made.segments[world, number]) + 1, int(made.column_count[world, number]), words)
        start = (int(made.buffer[world, number]) - memory.ctypes.data) // 4
        return memory[start : start + int(np.prod(shape))].reshape(shape).copy()

    def _make_room(self, worlds: NDArray[np.int64], words: NDArray[np.int64]) -> list[NDArray[np.float32]]:
        """See that some worlds have so much memory each; what was too small for them is given back.

        A world that has changed before as a rule has room for what it is now.
        """
        small = worlds[self._words[worlds] < words]
        outgrown = [self._memory[world] for world in small.tolist()]
        self._words[worlds] = np.maximum(self._words[worlds], words)
        for world in small.tolist():
            self._memory[world] = memory = np.zeros(self._words[world], np.float32)
            self._address[world] = memory.ctypes.data
        return outgrown

    def _keep(self, worlds: NDArray[np.int64], made: _Made, order: NDArray[np.int32]) -> None:
        """Take in what was made."""
        most = max(self._made.kind.shape[1], made.kind.shape[1])
        if most > self._made.kind.shape[1]:
            wider = _room(len(self.scene), most)
            for name in _Made._fields:
                old = getattr(self._made, name)
                getattr(wider, name)[..., : old.shape[-1]] = old
            self._made = wider
        self._columns[worlds] = order
        self._made.arrays[worlds] = made.arrays
        for name in _Made._fields[1:]:
            some = getattr(made, name)
            getattr(self._made, name)[worlds, : some.shape[1]] = some

    def _tables(self) -> InstanceTables:
        """The arrays of all worlds end to end."""
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


def _room(rows: int, most: int) -> _Made:
    """Room for so many arrays in each row."""
    shape = (rows, most)
    return _Made(
        arrays=np.zeros(rows, np.int32),
        geometry=np.zeros(shape, np.int64),
        buffer=np.zeros(shape, np.int64),
        mask=np.zeros(shape, np.uint32),
        kind=np.zeros(shape, np.uint8),
        segments=np.zeros(shape, np.int32),
        column_first=np.zeros(shape, np.int32),
        column_count=np.zeros(shape, np.int32),
    )


def _release_all(scenes: NDArray[np.int64]) -> None:
    """Release what was made, when nobody holds it any more."""
    api = library.load().api
    for scene in scenes[scenes != 0].tolist():
        api.rtcReleaseScene(scene)


@jit.function
def _make_rows(
    first, step, count, device, order, group, mesh_index, mesh_scene, memory, index_first, segments, before, scene, made
):
    """The work of `_make_arrays`."""
    number_in_array = jit.zeros(mesh_scene.shape[0], np.int64)  # from one on, 0 where the array has none of it
    used_scenes = jit.zeros(mesh_scene.shape[0] + 1, np.int64)
    objects = group.shape[1]
    row = next_block(first, step, count, NONE)
    while row < count:
        # The old scene first: the new one is written over what it reads
        if before[row] != 0:
            _release_scene(before[row])
        top = _new_scene(device)
        _set_scene_flags(top, _SCENE_DYNAMIC_ROBUST)
        _set_scene_quality(top, _BUILD_MEDIUM if objects <= _MEDIUM_OBJECTS else _BUILD_LOW)
        at, at_index = np.int64(0), np.int64(index_first[row])
        start, number = np.int64(0), np.int64(0)
        while start < objects and group[row, start] < ABSENT:
            key, end = group[row, start], start
            while end < objects and group[row, end] == key:
                end += 1
            kind, bit, items = key // MASK_BITS, key % MASK_BITS, end - start

            # Only the meshes the group uses: an array of one item takes the first scene, whatever its index says
            index_address = memory[row] + 4 * at_index
            index = numba.carray(pointer_from_address(index_address), items, np.uint32)
            used = np.int64(0)
            for i in range(items):
                mesh = mesh_index[row, order[row, start + i]]
                if number_in_array[mesh] == 0:
                    used_scenes[used] = mesh_scene[mesh]
                    used += 1
                    number_in_array[mesh] = used
                index[i] = number_in_array[mesh] - 1
            for i in range(items):
                number_in_array[mesh_index[row, order[row, start + i]]] = 0

            geometry = _new_geometry(device, _GEOMETRY_INSTANCE_ARRAY)
            _set_scenes(geometry, used_scenes.ctypes.data, used)
            _set_buffer(geometry, _BUFFER_INDEX, 0, _FORMAT_UINT, index_address, 0, 4, items)
            words = np.int64(QUATERNION_WORDS if kind == QUATERNION else AFFINE_WORDS)
            transform = _FORMAT_QUATERNION if kind == QUATERNION else _FORMAT_3X4_ROW_MAJOR
            _set_steps(geometry, segments[kind] + 1)
            for segment in range(segments[kind] + 1):
                address = memory[row] + 4 * (at + segment * items * words)
                _set_buffer(geometry, _BUFFER_TRANSFORM, segment, transform, address, 0, 4 * words, items)
            made.mask[row, number] = np.uint32(1) << np.uint32(bit)
            _set_mask(geometry, made.mask[row, number])
            _attach(top, geometry, number)
            _release_geometry(geometry)  # the scene keeps it

            made.geometry[row, number], made.buffer[row, number] = geometry, memory[row] + 4 * at
            made.kind[row, number], made.segments[row, number] = kind, segments[kind]
            made.column_first[row, number], made.column_count[row, number] = start, items
            at += (segments[kind] + 1) * items * words
            at_index += items
            start, number = end, number + 1
        made.arrays[row] = number
        scene[row] = top
        row = next_block(first, step, count, row)


_share_rows = shared(_make_rows)


@jit.kernel
def _make_arrays(
    first, step, count, device, order, group, mesh_index, mesh_scene, memory, index_first, segments, before, scene, made
):
    """Make the scenes of a share of the rows.

    Args:
        first, step, count: Share of the rows.
        device: Embree's.
        order: Objects sorted by group; group: their groups in that order.
        mesh_index: Mesh of each object, unsorted; mesh_scene: scene of each mesh.
        memory: Address of each row's memory; index_first: where indices begin in it, in words.
        segments: Of each kind of motion.
        before: Scenes to be released, 0 for none.
        scene: Filled with the new scenes.
        made: Filled with their arrays.
    """
    _share_rows(
        first,
        step,
        count,
        (device, order, group, mesh_index, mesh_scene, memory, index_first, segments, before, scene, made),
    )

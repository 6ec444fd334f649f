"""Embree's top-level scenes of worlds, built from their instance arrays."""

from typing import NamedTuple

import numba
import numpy as np
from numba import types
from numpy.typing import NDArray

from sensorium.runtime import jit
from sensorium.runtime.jit import pointer_from_address
from sensorium.runtime.worker_pool import NONE, next_block, shared
from sensorium.tracing.placement.motion import AFFINE_WORDS, QUATERNION, QUATERNION_WORDS

# rtcore_geometry.h, rtcore_buffer.h, rtcore_scene.h
_GEOMETRY_INSTANCE_ARRAY = np.int32(122)
_BUFFER_INDEX, _BUFFER_TRANSFORM = np.int32(0), np.int32(23)
_FORMAT_UINT, _FORMAT_3X4_ROW_MAJOR, _FORMAT_QUATERNION = np.int32(0x5001), np.int32(0x9134), np.int32(0xB001)
_SCENE_DYNAMIC_ROBUST = np.int32(5)
_BUILD_LOW, _BUILD_MEDIUM = np.int32(0), np.int32(1)

# Up to this many objects per world Embree builds the better hierarchy in less time than the one it calls low
_MEDIUM_OBJECTS = 256

_p, _i32, _u32, _size = types.intp, types.int32, types.uint32, types.uintp
_new_scene = types.ExternalFunction("rtcNewScene", _p(_p))
_set_scene_flags = types.ExternalFunction("rtcSetSceneFlags", types.void(_p, _i32))
_set_scene_quality = types.ExternalFunction("rtcSetSceneBuildQuality", types.void(_p, _i32))
_new_geometry = types.ExternalFunction("rtcNewGeometry", _p(_p, _i32))
_set_scenes = types.ExternalFunction("rtcSetGeometryInstancedScenes", types.void(_p, _p, _size))
_set_buffer = types.ExternalFunction(
    "rtcSetSharedGeometryBuffer", types.void(_p, _i32, _u32, _i32, _p, _size, _size, _size)
)
_set_steps = types.ExternalFunction("rtcSetGeometryTimeStepCount", types.void(_p, _u32))
_set_mask = types.ExternalFunction("rtcSetGeometryMask", types.void(_p, _u32))
_attach = types.ExternalFunction("rtcAttachGeometryByID", types.void(_p, _p, _u32))
_release_geometry = types.ExternalFunction("rtcReleaseGeometry", types.void(_p))


class ArrayTables(NamedTuple):
    """Instance arrays of all worlds, with the same capacity in each.

    A world has one block of memory: transforms of all its arrays, then indices of their items.
    """

    arrays: NDArray[np.int32]  # (worlds,) how many
    geometry: NDArray[np.int64]  # (worlds, most) Embree's
    offset: NDArray[np.int64]  # (worlds, most) of the transforms in the world's memory [words]
    buffer: NDArray[np.int64]  # (worlds, most) their address
    mask: NDArray[np.uint32]  # (worlds, most)
    kind: NDArray[np.uint8]  # (worlds, most) of motion
    segments: NDArray[np.int32]  # (worlds, most)
    column_first: NDArray[np.int32]  # (worlds, most) within the world
    column_count: NDArray[np.int32]  # (worlds, most)
    index_offset: NDArray[np.int64]  # (worlds,) of the indices in the memory [words]


@jit.function
def _make(first, step, count, device, worlds, mesh_index, mesh_scene, columns, memory, made, scene):
    """The work of `make_scenes`."""
    number_in_array = jit.zeros(mesh_scene.shape[0], np.int64)  # from one on, 0 where the array has none of it
    used_scenes = jit.zeros(mesh_scene.shape[0] + 1, np.int64)
    objects = columns.shape[1]
    row = next_block(first, step, count, NONE)
    while row < count:
        world = worlds[row]
        here = world if mesh_index.shape[0] > 1 else 0
        top = _new_scene(device)
        _set_scene_flags(top, _SCENE_DYNAMIC_ROBUST)
        _set_scene_quality(top, _BUILD_MEDIUM if objects <= _MEDIUM_OBJECTS else _BUILD_LOW)
        for number in range(made.arrays[world]):
            start, items = np.int64(made.column_first[world, number]), np.int64(made.column_count[world, number])

            # Only the meshes that the group uses: an array of one item uses the first scene, whatever its index is
            index_address = memory[world] + 4 * (made.index_offset[world] + start)
            index = numba.carray(pointer_from_address(index_address), items, np.uint32)
            used = np.int64(0)
            for i in range(items):
                mesh = mesh_index[here, columns[world, start + i]]
                if number_in_array[mesh] == 0:
                    used_scenes[used] = mesh_scene[mesh]
                    used += 1
                    number_in_array[mesh] = used
                index[i] = number_in_array[mesh] - 1
            for i in range(items):
                number_in_array[mesh_index[here, columns[world, start + i]]] = 0

            geometry, kind = _new_geometry(device, _GEOMETRY_INSTANCE_ARRAY), made.kind[world, number]
            _set_scenes(geometry, used_scenes.ctypes.data, used)
            _set_buffer(geometry, _BUFFER_INDEX, 0, _FORMAT_UINT, index_address, 0, 4, items)
            words = np.int64(QUATERNION_WORDS if kind == QUATERNION else AFFINE_WORDS)
            transform = _FORMAT_QUATERNION if kind == QUATERNION else _FORMAT_3X4_ROW_MAJOR
            _set_steps(geometry, made.segments[world, number] + 1)
            for segment in range(made.segments[world, number] + 1):
                address = made.buffer[world, number] + 4 * segment * items * words
                _set_buffer(geometry, _BUFFER_TRANSFORM, segment, transform, address, 0, 4 * words, items)
            _set_mask(geometry, made.mask[world, number])
            _attach(top, geometry, number)
            _release_geometry(geometry)  # the scene keeps it
            made.geometry[world, number] = geometry
        scene[world] = top
        row = next_block(first, step, count, row)


_share_worlds = shared(_make)


@jit.kernel
def make_scenes(first, step, count, device, worlds, mesh_index, mesh_scene, columns, memory, made, scene):
    """Build the scenes of a share of some worlds.

    Args:
        first, step, count: Share of the worlds.
        device: Embree's.
        worlds: Which they are.
        mesh_index: Mesh of each object, (1 | worlds, objects); mesh_scene: scene of each mesh.
        columns: Objects in the order of their arrays, (worlds, objects).
        memory: Address of each world's memory; indices of items are written there.
        made: `ArrayTables`; geometry is filled.
        scene: Of all worlds; filled.
    """
    _share_worlds(first, step, count, (device, worlds, mesh_index, mesh_scene, columns, memory, made, scene))

"""Triangle meshes in Embree: one small committed scene per mesh, shared by all its instances."""

import weakref
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import worker_pool
from sensorium.scene.mesh import Mesh
from sensorium.tracing.embree import library
from sensorium.tracing.embree.one_sided import backs_filter

# rtcore_geometry.h, rtcore_buffer.h, rtcore_scene.h
_GEOMETRY_TRIANGLE = 0
_BUFFER_INDEX, _BUFFER_VERTEX = 0, 1
_FORMAT_UINT3, _FORMAT_FLOAT3 = 0x5003, 0x9003
_SCENE_ROBUST = 4
_EVERY_MASK = 0xFFFFFFFF

# Meshes from this size on, some milliseconds of work, are built on all threads
_LARGE_FACES = 20_000


class MeshTables(NamedTuple):
    """The meshes that objects are made of."""

    scene: NDArray[np.int64]  # (meshes,) Embree scene of each alone
    vertices: NDArray[np.int64]  # (meshes,) address of float32 (n, 3) around the middle of its bounds [m]
    faces: NDArray[np.int64]  # (meshes,) address of uint32 (m, 3)
    vertex_count: NDArray[np.int64]  # (meshes,)
    face_count: NDArray[np.int64]  # (meshes,)
    half: NDArray[np.float64]  # (meshes, 3) half the sides of its bounds [m]
    has_backs: NDArray[np.bool_]  # (meshes,) whether all its faces are seen from both sides
    of_object: NDArray[np.int32]  # (1 | worlds, objects) mesh of each object


class MeshScene:
    """The committed Embree scene of one mesh.

    Vertices are stored in float32 around the middle of the mesh's bounds, so that a mesh modeled far from its own
    origin keeps its precision; `center` [m] is what was taken off.
    """

    def __init__(self, mesh: Mesh) -> None:
        embree = library.load()
        api = embree.api
        self.center = np.asarray(mesh.bounds, np.float64).mean(axis=0)
        local = mesh.vertices - self.center
        self.radius_m = float(np.sqrt((local**2).sum(axis=1).max()))

        # Embree reads 16 bytes a vertex: one spare vertex at the end keeps the last read inside the buffer
        vertices = np.zeros((len(local) + 1, 3), np.float32)
        vertices[:-1] = local
        faces = np.ascontiguousarray(mesh.faces, np.uint32)

        scene = api.rtcNewScene(embree.device)
        api.rtcSetSceneFlags(scene, _SCENE_ROBUST)
        geometry = api.rtcNewGeometry(embree.device, _GEOMETRY_TRIANGLE)
        api.rtcSetSharedGeometryBuffer(
            geometry, _BUFFER_VERTEX, 0, _FORMAT_FLOAT3, vertices.ctypes.data, 0, 12, len(local)
        )
        api.rtcSetSharedGeometryBuffer(geometry, _BUFFER_INDEX, 0, _FORMAT_UINT3, faces.ctypes.data, 0, 12, len(faces))
        api.rtcSetGeometryMask(geometry, _EVERY_MASK)

        # Edge resolution finds the corners of faces by these addresses, and the one-sided filter its face flags
        one_sided = None if mesh.one_sided is None else mesh.one_sided.astype(np.uint8)
        backs = 0 if one_sided is None else one_sided.ctypes.data
        addresses = np.array([vertices.ctypes.data, faces.ctypes.data, backs], np.int64)
        api.rtcSetGeometryUserData(geometry, addresses.ctypes.data)
        if one_sided is not None:
            address: int = backs_filter()  # type: ignore[no-untyped-call]
            api.rtcSetGeometryIntersectFilterFunction(geometry, address)
            api.rtcSetGeometryOccludedFilterFunction(geometry, address)
        api.rtcCommitGeometry(geometry)
        api.rtcAttachGeometryByID(scene, geometry, 0)
        api.rtcReleaseGeometry(geometry)
        if len(faces) >= _LARGE_FACES:
            embree.commit_on_all_threads(scene)
        else:
            worker_pool.without_fork(api.rtcCommitScene, scene)
        embree.check(f"building a mesh of {len(faces)} faces")

        # The scene reads these buffers as long as it lives
        self.handle = int(scene)
        self.vertices, self.faces, self._addresses, self._one_sided = vertices, faces, addresses, one_sided
        self.has_backs = one_sided is None
        self.half_m = np.abs(local).max(axis=0)
        weakref.finalize(self, api.rtcReleaseScene, scene)


_built: "weakref.WeakKeyDictionary[Mesh, MeshScene]" = weakref.WeakKeyDictionary()


def mesh_scene(mesh: Mesh) -> MeshScene:
    """The scene of this mesh, built on first use and kept as long as the mesh."""
    scene = _built.get(mesh)
    if scene is None:
        scene = _built[mesh] = MeshScene(mesh)
    return scene


def mesh_scenes(meshes: tuple[Mesh, ...]) -> tuple[MeshScene, ...]:
    """Scenes of all meshes, in the same order."""
    return tuple(mesh_scene(mesh) for mesh in meshes)


def mesh_tables(scenes: Sequence[MeshScene], of_object: NDArray[np.int32]) -> MeshTables:
    """Tables of meshes, valid as long as the scenes.

    Args:
        scenes: Of all meshes.
        of_object: Mesh of each object, -1 where a world has none, shape (1 | worlds, objects).
    """
    return MeshTables(
        scene=np.array([scene.handle for scene in scenes], np.int64),
        vertices=np.array([scene.vertices.ctypes.data for scene in scenes], np.int64),
        faces=np.array([scene.faces.ctypes.data for scene in scenes], np.int64),
        vertex_count=np.array([len(scene.vertices) - 1 for scene in scenes], np.int64),
        face_count=np.array([len(scene.faces) for scene in scenes], np.int64),
        half=np.array([scene.half_m for scene in scenes], np.float64).reshape(-1, 3),
        has_backs=np.array([scene.has_backs for scene in scenes], np.bool_),
        of_object=of_object,
    )

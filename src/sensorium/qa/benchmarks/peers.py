"""The same rays into the same triangles through other libraries, if they are installed; one thread each."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.scene.mesh import Mesh

# a caster of float32 rays (n, 3), (n, 3) that returns distances
Cast = Callable[[NDArray[np.float32], NDArray[np.float32]], NDArray[np.float32]]


def open3d(mesh: Mesh) -> Cast:
    """Open3D `RaycastingScene.cast_rays`."""
    import open3d as o3d

    scene = o3d.t.geometry.RaycastingScene(nthreads=1)
    tensor: Any = o3d.core.Tensor  # its stubs have no arrays
    scene.add_triangles(tensor(mesh.vertices.astype(np.float32)), tensor(mesh.faces.astype(np.uint32)))

    def cast(origins: NDArray[np.float32], directions: NDArray[np.float32]) -> NDArray[np.float32]:
        rays = tensor(np.concatenate([origins, directions], axis=1))
        return scene.cast_rays(rays, nthreads=1)["t_hit"].numpy()

    return cast


def warp_cpu(mesh: Mesh) -> Cast:
    """Warp `mesh_query_ray` on its CPU device."""
    import warp as wp

    wp.config.quiet = True
    wp.init()
    miss = wp.constant(float("inf"))

    # Warp reads the annotations; they are its types, not Python's
    vectors: Any = wp.array(dtype=wp.vec3)
    numbers: Any = wp.array(dtype=wp.float32)

    def query(mesh_id: wp.uint64, origins: vectors, directions: vectors, distance: numbers) -> None:
        i = wp.tid()
        found = wp.mesh_query_ray(mesh_id, origins[i], directions[i], 1.0e6)
        distance[i] = wp.where(found.result, found.t, miss)

    launched = wp.kernel(query)
    points = wp.array(mesh.vertices.astype(np.float32), dtype=wp.vec3, device="cpu")
    indices = wp.array(mesh.faces.reshape(-1).astype(np.int32), dtype=wp.int32, device="cpu")
    target = wp.Mesh(points=points, indices=indices)

    def cast(origins: NDArray[np.float32], directions: NDArray[np.float32]) -> NDArray[np.float32]:
        o = wp.array(origins, dtype=wp.vec3, device="cpu", copy=False)
        d = wp.array(directions, dtype=wp.vec3, device="cpu", copy=False)
        distance = wp.zeros(len(origins), dtype=wp.float32, device="cpu")
        wp.launch(launched, dim=len(origins), inputs=[target.id, o, d, distance], device="cpu")
        return distance.numpy()

    return cast


def mujoco(mesh: Mesh) -> Cast:
    """MuJoCo `mj_multiRay`, which fires from one origin a call; all rays are taken from the first."""
    import mujoco as mj

    spec = mj.MjSpec()
    body = spec.add_mesh(name="terrain")
    body.uservert = mesh.vertices.astype(np.float32).reshape(-1)
    body.userface = mesh.faces.astype(np.int32).reshape(-1)
    body.inertia = mj.mjtMeshInertia.mjMESH_INERTIA_SHELL
    geom = spec.worldbody.add_geom(type=mj.mjtGeom.mjGEOM_MESH, meshname="terrain")
    geom.contype = geom.conaffinity = 0
    model = spec.compile()
    data = mj.MjData(model)
    mj.mj_forward(model, data)

    def cast(origins: NDArray[np.float32], directions: NDArray[np.float32]) -> NDArray[np.float32]:
        count = len(directions)
        distance, geoms = np.zeros(count), np.zeros(count, np.int32)
        mj.mj_multiRay(
            model,
            data,
            pnt=origins[0].astype(np.float64),
            vec=directions.astype(np.float64).reshape(-1),
            geomgroup=None,
            flg_static=1,
            bodyexclude=-1,
            geomid=geoms,
            dist=distance,
            normal=None,
            nray=count,
            cutoff=1e6,
        )
        return np.where(geoms >= 0, distance, np.inf).astype(np.float32)

    return cast


PEERS: dict[str, tuple[Callable[[Mesh], Cast], float]] = {
    # name -> (how to make it, share of the rays to time it on)
    "Open3D cast_rays": (open3d, 1.0),
    "Warp CPU kernel": (warp_cpu, 0.125),
    "MuJoCo mj_multiRay": (mujoco, 0.0625),
}

"""The camera with a poor lens and noisy pixels, against the bare casting of its ideal rays and of theirs to the sun."""

import numpy as np

import sensorium as sn
from sensorium.physics.fields import Sun
from sensorium.qa.benchmarks.bare import bare_shadows, bare_trace, packed
from sensorium.qa.benchmarks.timing import ratio, thread_count
from sensorium.runtime import worker_pool
from sensorium.scene.mesh import Mesh
from sensorium.sensors.camera.camera import CameraModel
from sensorium.sensors.common.attached import AttachedSensor
from sensorium.tracing.embree.packet import ALL_OBJECTS, BLOCK, COHERENT_ADDRESS

COLUMNS, ROWS, FACTOR = 1024, 768, 3

_SUN = Sun(elevation_deg=35.0, azimuth_deg=120.0)
_EYE = (0.0, 0.0, 3.0)


def camera() -> sn.Camera:
    """Three bands, sample factor 3, defocus, all five Seidel terms, noise and a converter."""
    return sn.Camera(
        pupil_distance_m=3.81e-3,
        width_m=4.762e-3,
        height_m=3.571e-3,
        columns=COLUMNS,
        rows=ROWS,
        focal_length_m=3.8e-3,
        pupil_radius_m=0.95e-3,
        exposure_s=1e-4,
        gamma=0.5,
        vignetting_per_m=50.0,
        spherical=1e5,
        astigmatism=1e5,
        curvature=1e5,
        distortion=1e5,
        coma=1e5,
        sample_factor=FACTOR,
        noise=sn.imaging.PixelNoise(read_noise_e=9.0, prnu=0.01, dsnu_e=2.0),
        adc=sn.Adc(bits=12),
    )


def rig(mesh: Mesh) -> tuple[sn.Environment, AttachedSensor[sn.CameraImage]]:
    """The camera above the middle of the scene, after its first image."""
    scene = sn.Scene()
    scene.add(mesh, material=sn.TwoLayer(refractive_index=1.5, roughness=0.3, reflectance=0.5, diffuse_roughness=0.3))
    world = sn.worlds.Static({"mast": sn.Pose(position=_EYE)}, step_s=0.1)
    env = sn.Environment(scene, world, sun=_SUN)
    sensor = env.attach(camera(), body="mast")
    env.step()
    return env, sensor


class BarePicture:
    """The bare casting of a picture's rays, and of one to the sun from every surface that faces it."""

    def __init__(self, env: sn.Environment, sensor: AttachedSensor[sn.CameraImage], mesh: Mesh) -> None:
        model = sensor._model
        assert isinstance(model, CameraModel)
        at_ns = sensor.read().start_ns
        placed = env._tracer.place(at_ns, at_ns, np.array([_EYE]))
        self._scene = int(placed.tables.scene[0])
        self._directions = np.ascontiguousarray(model._caster.rays.direction_S.reshape(-1, 3))
        count = len(self._directions)
        self._origins = np.broadcast_to((np.array(_EYE) - placed.anchor[0]).astype(np.float32), (count, 3)).copy()
        self._rays = packed(self._origins[None], self._directions[None])
        self._time = np.zeros(count, np.float32)
        self._range_m, self._face = np.zeros(count, np.float32), np.zeros(count, np.uint32)
        self._trace()

        # Surfaces that face the sun, by the mesh's own normals, and a millimeter towards it
        met = self._range_m < 1e29
        corners = mesh.vertices[mesh.faces[self._face[met]]]
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        sun_W = _SUN.direction_W
        seen = np.einsum("ij,ij->i", normal, self._directions[met]) < 0.0
        facing = (normal @ sun_W > 0.0) == seen
        points = self._origins[met] + self._directions[met] * self._range_m[met, None] + 1e-3 * sun_W
        self._points = np.ascontiguousarray(points[facing], np.float32)
        self._sun = sun_W.astype(np.float32)
        self._lit = np.zeros(len(self._points), np.bool_)

    def __call__(self) -> None:
        """Cast both."""
        self._trace()
        blocks = -(-len(self._points) // BLOCK)
        where = (self._scene, self._points, self._sun, self._time, ALL_OBJECTS, COHERENT_ADDRESS, self._lit)
        worker_pool.run(bare_shadows, blocks, *where)

    def _trace(self) -> None:
        blocks = -(-len(self._directions) // BLOCK)
        rays = (self._rays, self._time, ALL_OBJECTS, COHERENT_ADDRESS)
        scenes = np.array([self._scene], np.int64)
        worker_pool.run(bare_trace, blocks, scenes, *rays, self._range_m[None], self._face[None])


def against_bare_casting(mesh: Mesh, *, rounds: int = 7) -> float:
    """Time of an image through the public interface over that of the bare casting of its rays, one thread."""
    env, sensor = rig(mesh)
    with thread_count(1):
        return 1.0 / ratio(env.step, BarePicture(env, sensor, mesh), rounds=rounds)

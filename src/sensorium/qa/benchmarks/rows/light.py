"""The lidar that follows the light, against the bare trace of its first rays."""

import numpy as np

import sensorium as sn
from sensorium.qa.benchmarks.rows.sweep import CHANNELS, COLUMNS, BareSweep, Rig
from sensorium.qa.benchmarks.timing import ratio, thread_count
from sensorium.scene.mesh import Mesh

# Sectors that are mirrors or glass take this share of the azimuth
_SPECIAL = 0.05


def rig(mesh: Mesh, *, max_depth: int, fog: str = "everywhere") -> Rig:
    """A moving lidar in fog over two-layer ground; with a depth, a twentieth of the ground is mirror or glass.

    Args:
        mesh: The ground.
        max_depth: Of the lidar.
        fog: "everywhere", in a "bank" around the lidar, or "nowhere".
    """
    ground = sn.TwoLayer(refractive_index=1.5, roughness=0.3, reflectance=0.5, diffuse_roughness=0.3)
    scene = sn.Scene()
    if max_depth:
        middle = mesh.vertices[mesh.faces].mean(axis=1)
        sector = np.arctan2(middle[:, 1], middle[:, 0]) * 18.0 / np.pi
        special = np.abs(sector % 1.0 - 0.5) < _SPECIAL / 2
        even = np.floor(sector) % 2 == 0
        scene.add(_part(mesh, ~special), material=ground, label="ground")
        scene.add(_part(mesh, special & even), material=sn.Mirror(reflectance=0.9), label="mirror")
        scene.add(_part(mesh, special & ~even), material=sn.ThinGlass(), label="glass")
    else:
        scene.add(mesh, material=ground, label="ground")
    world = sn.worlds.Kinematic({"car": sn.paths.Circle(center=(0, 3, 2.5), radius=3.0, rate=0.5)}, step_s=0.1)
    medium = sn.media.fog(visibility_m=200.0)
    if fog == "bank":
        scene.add(sn.shapes.box(60, 60, 20), pose=sn.Pose((0, 0, 5)), material=medium, label="fog")
    env = sn.Environment(scene, world, atmosphere=medium if fog == "everywhere" else None)
    pattern = sn.patterns.Spinning(elevation_deg=tuple(np.linspace(22.5, -22.5, CHANNELS)), columns=COLUMNS, rate_hz=10)
    spec = sn.Lidar(
        pattern=pattern,
        mode="relative",
        max_depth=max_depth,
        beam=sn.Beam(detector_offset_m=0.005),
        noise=sn.RangeNoise(base_m=5e-4, slope=4.44e-4),
    )
    made = Rig(env, env.attach(spec, body="car"), pattern)
    made.sweep()
    return made


def against_bare_trace(mesh: Mesh, *, max_depth: int, rounds: int = 15) -> float:
    """Time of a sweep through the public interface over that of the bare trace of its first rays, one thread."""
    subject = rig(mesh, max_depth=max_depth)
    with thread_count(1):
        return 1.0 / ratio(subject.sweep, BareSweep(subject), rounds=rounds)


def inside_a_bank(mesh: Mesh, *, rounds: int = 15) -> float:
    """Time of a sweep inside a fog bank over that of the same in the open, without any fog, one thread."""
    bank, clear = (rig(mesh, max_depth=0, fog=fog) for fog in ("bank", "nowhere"))
    with thread_count(1):
        return 1.0 / ratio(bank.sweep, clear.sweep, rounds=rounds)


def bytes_a_ray(mesh: Mesh) -> float:
    """Memory that a single-return reading takes, in bytes a ray."""
    scan = rig(mesh, max_depth=0).lidar.read()
    arrays = (scan.range_m, scan.points, scan.intensity, scan.cause, scan.object_id, scan.face_id, scan.label)
    return sum(array.nbytes for array in arrays) / scan.range_m.size


def _part(mesh: Mesh, chosen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Mesh:
    """Some faces of a mesh."""
    used, faces = np.unique(mesh.faces[chosen], return_inverse=True)
    return Mesh(mesh.vertices[used], faces.reshape(-1, 3))

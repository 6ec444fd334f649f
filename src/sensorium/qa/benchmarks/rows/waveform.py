"""The waveform lidar, against the bare trace of the rays of its pulses."""

import numpy as np

import sensorium as sn
from sensorium.qa.benchmarks.bare import BareRays
from sensorium.qa.benchmarks.rows.sweep import Rig
from sensorium.qa.benchmarks.timing import ratio, thread_count
from sensorium.scene.mesh import Mesh
from sensorium.sensors.lidar.waveform.tables import beam_rays

# rays of a pulse: by eq. 8 of the VANE paper for its beam at 80 m, and among many
MANY, FEW = 5417, 19

# the paper's beam for few pulses, a scanner's for many
_BEAMS = {
    MANY: sn.Beam(half_divergence_rad=0.005, exit_radius_m=0.0125, pulse_s=4e-9),
    FEW: sn.Beam(half_divergence_rad=0.0015, exit_radius_m=0.005, pulse_s=4e-9),
}


def rig(mesh: Mesh, *, rays: int, channels: int, columns: int) -> Rig:
    """A lidar that drives over two-layer ground and keeps the returns, with noise, out to 120 m."""
    scene = sn.Scene()
    ground = sn.TwoLayer(refractive_index=1.5, roughness=0.3, reflectance=0.5, diffuse_roughness=0.3)
    scene.add(mesh, material=ground, label="ground")
    world = sn.worlds.Kinematic({"car": sn.paths.Circle(center=(0, 3, 2.5), radius=3.0, rate=0.5)}, step_s=0.1)
    env = sn.Environment(scene, world)
    elevation = tuple(np.linspace(10.0, -22.5, channels))
    pattern = sn.patterns.Spinning(elevation_deg=elevation, columns=columns, rate_hz=10)
    layout = sn.waveform.Grid() if rays == MANY else sn.waveform.Spiral(count=rays)
    spec = sn.Lidar(
        pattern=pattern,
        mode="waveform",
        max_range_m=120.0,
        beam=_BEAMS[rays],
        receiver=sn.Receiver(half_field_rad=0.01),
        waveform=sn.waveform.Waveform(rays=layout),
    )
    made = Rig(env, env.attach(spec, body="car"), pattern)
    made.sweep()
    return made


class BarePulses(BareRays):
    """The bare trace of the rays of a rig's last pulses, in the same scene."""

    def __init__(self, of: Rig) -> None:
        scan, spec = of.lidar.read(), of.lidar.spec
        assert isinstance(spec, sn.Lidar)
        placed = of.env._tracer.place(scan.start_ns, scan.end_ns, scan.X_WS.position[0, :, 0])
        pose = scan.pose(scan.ray_time_ns.reshape(-1))
        rays, axis = beam_rays(spec), of.pattern.rays().direction_S.reshape(-1, 3).astype(np.float64)

        # Across each axis: level to its left, and up
        left = np.cross([0.0, 0.0, 1.0], axis)
        left /= np.linalg.norm(left, axis=-1, keepdims=True)
        aside = rays.u[:, None] * left[:, None] + rays.v[:, None] * np.cross(axis, left)[:, None]
        directions = axis[:, None] + np.tan(spec.beam.widest_rad) * aside
        directions /= np.linalg.norm(directions, axis=-1, keepdims=True)
        rotation = pose.rotation
        turned = np.einsum("pij,prj->pri", rotation, spec.beam.exit_radius_m * aside)
        origins = (pose.position - placed.anchor[0])[:, None] + turned
        share = of.pattern.rays().offset_ns.reshape(-1) / (scan.end_ns - scan.start_ns)
        super().__init__(
            placed.tables.scene[:1].copy(),
            origins,
            np.einsum("pij,prj->pri", rotation, directions),
            np.repeat(share, len(rays.u)),
        )


def against_bare_trace(
    mesh: Mesh, *, rays: int, channels: int | None = None, columns: int | None = None, rounds: int = 15
) -> float:
    """Time of a sweep through the public interface over that of the bare trace of its rays, one thread."""
    few = rays == FEW
    subject = rig(mesh, rays=rays, channels=channels or (64 if few else 4), columns=columns or (256 if few else 16))
    with thread_count(1):
        return 1.0 / ratio(subject.sweep, BarePulses(subject), rounds=rounds)

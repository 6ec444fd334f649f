"""The geometric lidar sweep: against the bare trace, over threads, rays and triangles, and with a thousand bodies."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

import sensorium as sn
from sensorium.qa.benchmarks.bare import BareRays
from sensorium.qa.benchmarks.scenes import terrain
from sensorium.qa.benchmarks.timing import best, ratio, seconds, thread_count, two_threads_ratio
from sensorium.scene.mesh import Mesh
from sensorium.sensors.common.attached import AttachedSensor

CHANNELS, COLUMNS = 128, 2048


class Rig(NamedTuple):
    """A vehicle with a lidar, one sweep a step, driving and turning over the scene."""

    env: sn.Environment
    lidar: AttachedSensor[sn.Scan]
    pattern: sn.patterns.Spinning

    def sweep(self) -> None:
        """One step of the world and the sweep that ends with it."""
        self.env.step()


def rig(mesh: Mesh, *, bodies: int = 0, columns: int = COLUMNS, channels: int = CHANNELS) -> Rig:
    """The scene with a moving lidar above its middle and, on request, bodies flying about."""
    rng = np.random.default_rng(1)
    scene = sn.Scene()
    scene.add(mesh, label="ground")
    moving: dict[str, sn.paths.Path] = {"car": sn.paths.Circle(center=(0, 3, 2.5), radius=3.0, rate=0.5)}
    crate = sn.shapes.box(0.5, 0.5, 0.5)
    for number in range(bodies):
        name = f"crate{number}"
        scene.add(crate, body=name, label="crate")
        start = (*rng.uniform(-60, 60, 2), 1.0)
        moving[name] = sn.paths.Line(start=start, velocity=tuple(rng.normal(size=3) * 3))
    env = sn.Environment(scene, sn.worlds.Kinematic(moving, step_s=0.1))
    elevation = tuple(np.linspace(22.5, -22.5, channels)) if channels > 1 else (0.0,)
    pattern = sn.patterns.Spinning(elevation_deg=elevation, columns=columns, rate_hz=10)
    made = Rig(env, env.attach(sn.Lidar(pattern=pattern), body="car"), pattern)
    made.sweep()
    return made


class BareSweep(BareRays):
    """The bare trace of the rays that a rig's last sweep fired, in the very scene it fired them into."""

    def __init__(self, of: Rig) -> None:
        scan = of.lidar.read()
        placed = of.env._tracer.place(scan.start_ns, scan.end_ns, scan.X_WS.position[0, :, 0])
        pose, rays = scan.pose(scan.ray_time_ns), of.pattern.rays()
        share = rays.offset_ns.reshape(-1) / (scan.end_ns - scan.start_ns)
        origins, directions = pose.position - placed.anchor[0], pose.rotate(rays.direction_S)
        super().__init__(placed.tables.scene[:1].copy(), origins, directions, share)


def against_bare_trace(mesh: Mesh, *, bodies: int = 0, rounds: int = 15) -> float:
    """Rate of the lidar through the public interface over the rate of the bare trace, one thread."""
    subject = rig(mesh, bodies=bodies)
    with thread_count(1):
        bare = BareSweep(subject)
        return ratio(subject.sweep, bare, rounds=rounds)


def ray_rate(mesh: Mesh) -> float:
    """Rays per second of the lidar on all threads."""
    subject = rig(mesh)
    return CHANNELS * COLUMNS / best(subject.sweep)


def two_threads_over_one(mesh: Mesh, *, bare: bool = False, rounds: int = 11) -> float:
    """Rate on two threads over the rate on one, of the lidar or of the bare trace."""
    subject = rig(mesh)
    call: Callable[[], None] = BareSweep(subject) if bare else subject.sweep

    return two_threads_ratio(call, rounds=rounds)


def cost_of_moving(mesh: Mesh, bodies: int = 1000, *, rounds: int = 11) -> float:
    """Share of a sweep spent on moving bodies within it: reading poses, writing transforms, committing; one thread."""
    subject = rig(mesh, bodies=bodies)
    tracer, shares = subject.env._tracer, []
    with thread_count(1):
        for _ in range(rounds):
            whole = seconds(subject.sweep)
            scan = subject.lidar.read()
            tracer.forget_placement()
            place = partial(tracer.place, scan.start_ns, scan.end_ns, scan.X_WS.position[0, :, 0])
            shares.append(seconds(place) / whole)
    return float(np.median(shares))


def over_rays(mesh: Mesh, counts: tuple[int, ...]) -> dict[int, float]:
    """Nanoseconds a ray for sweeps of different sizes, one thread; linear scaling keeps them equal."""
    costs = {}
    for count in counts:
        channels = CHANNELS if count >= CHANNELS * 8 else 1
        subject = rig(mesh, channels=channels, columns=count // channels)
        with thread_count(1):
            costs[count] = 1e9 * best(subject.sweep) / (channels * (count // channels))
    return costs


def over_triangles(counts: tuple[int, ...]) -> dict[int, float]:
    """Nanoseconds a ray on terrains of different sizes, one thread; a good hierarchy grows with the logarithm."""
    costs = {}
    for count in counts:
        subject = rig(terrain(round((count / 2) ** 0.5) + 1, spheres=0))
        with thread_count(1):
            costs[count] = 1e9 * best(subject.sweep) / (CHANNELS * COLUMNS)
    return costs

"""`sensorium bench`: measures the figures the library claims, and prints each with its target."""

import json
import os
import platform
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import sensorium
from sensorium.core.errors import MissingExtraError
from sensorium.qa.benchmarks.peers import PEERS
from sensorium.qa.benchmarks.rows import (
    accuracy,
    camera,
    cone,
    depth,
    depth_errors,
    depth_warp,
    imu,
    light,
    live,
    mujoco,
    parts,
    radar,
    recording,
    scatter,
    startup,
    sweep,
    waveform,
)
from sensorium.qa.benchmarks.scenes import terrain
from sensorium.qa.benchmarks.timing import Spread, ratio, thread_count
from sensorium.runtime import worker_pool
from sensorium.scene.mesh import Mesh
from sensorium.tracing.embree import library

# Least speed relative to a peer, in rays per second on one thread
_PEER_TARGETS = {"Open3D cast_rays": 2.5, "Warp CPU kernel": 20.0, "MuJoCo mj_multiRay": 60.0}

# side of an image of one world that is worth a second thread, and of one as large as those of devices [px]
_WIDE, _LARGE = 256, 512

# Objects in the images, few and many
_CROWDS = (
    depth.Crowd(100, 1, 64, 64),
    depth.Crowd(100, 3, 64, 64),
    depth.Crowd(500, 2, 64, 64),
    depth.Crowd(500, 3, 64, 64),
    depth.Crowd(100, 1, 640, 480),
    depth.Crowd(500, 3, 640, 480),
)


@dataclass(frozen=True)
class Figure:
    """One measured figure."""

    what: str
    measured: str
    target: str
    met: bool | None
    """Whether the target is met; None without a target or if a peer is not installed."""


def main(quick: bool = False, out: Path | None = None) -> bool:
    """Measure, print, and on request write the figures as JSON.

    Args:
        quick: Leave out the largest scenes and the cold start.
        out: File to write.

    Returns:
        Whether every target was met.
    """
    console = Console()
    table = Table(title=f"Sensorium {sensorium.__version__} on {_machine()}")
    for column in ("figure", "measured", "target", ""):
        table.add_column(column)
    figures = []
    with console.status("measuring"):
        for figure in _figures(quick):
            figures.append(figure)
            mark = {True: "[green]met", False: "[red]missed", None: ""}[figure.met]
            table.add_row(figure.what, figure.measured, figure.target, mark)
            console.log(f"{figure.what}: {figure.measured}")
    console.print(table)
    if out is not None:
        out.write_text(json.dumps({"machine": _machine(), "figures": [asdict(f) for f in figures]}, indent=2) + "\n")
    return all(figure.met is not False for figure in figures)


def _figures(quick: bool) -> Iterator[Figure]:
    """Every figure, one after the other."""
    mesh = terrain()
    size = f"{sweep.CHANNELS} x {sweep.COLUMNS} rays, {len(mesh.faces) / 1e6:.2f} M triangles"
    yield _at_least(f"lidar sweep over bare trace, 1 thread ({size})", sweep.against_bare_trace(mesh), 0.8)
    yield Figure("lidar sweep, all threads", f"{sweep.ray_rate(mesh) / 1e6:.1f} Mray/s", "", None)
    yield from _against_peers(mesh)
    moving = sweep.cost_of_moving(mesh)
    yield Figure("moving 1,000 bodies in the sweep", f"{100 * moving:.1f} % of it", "under 15 %", moving < 0.15)
    if worker_pool.get_threads() >= 2:
        yield _at_least("two threads over one", sweep.two_threads_over_one(mesh), 1.7)
        alone = sweep.two_threads_over_one(mesh, bare=True)
        yield Figure("the same for the bare trace: what this machine gives", f"{alone:.2f} x", "", None)

    # Light
    for max_depth, most in ((0, 1.5), (3, 2.0)):
        over = light.against_bare_trace(mesh, max_depth=max_depth)
        special = "" if max_depth == 0 else ", 5 % mirrors and glass"
        what = f"relative lidar: time over bare trace, depth {max_depth}{special}, 1 thread"
        yield Figure(what, f"{over:.2f} x", f"at most {most:g} x", over <= most)
    over = light.inside_a_bank(mesh)
    what = "relative lidar inside a fog bank: time over the same in the open, 1 thread"
    yield Figure(what, f"{over:.2f} x", "at most 1.3 x", over <= 1.3)
    for bundle, of in ((waveform.MANY, "single pulses"), (waveform.FEW, "a spinning scan")):
        over = waveform.against_bare_trace(mesh, rays=bundle)
        what = f"waveform lidar: time over bare trace of its {bundle:,} rays a pulse, {of}, 1 thread"
        yield Figure(what, f"{over:.2f} x", "at most 1.6 x", over <= 1.6)
    over = camera.against_bare_casting(mesh)
    size = f"{camera.COLUMNS} x {camera.ROWS}, three bands, {camera.FACTOR} x {camera.FACTOR} samples a pixel"
    what = f"camera ({size}, aberrations, noise): time over bare casting with shadow rays, 1 thread"
    yield Figure(what, f"{over:.2f} x", "at most 3 x", over <= 3.0)
    yield from _depth_cameras(256 if quick else depth.WORLDS)
    what = f"radar, a frame of {radar.CELLS}, ten cars, clutter and multipath"
    yield Figure(f"{what}, echoes from rays", _cost(radar.frame_cost("rays")), "", None)
    yield Figure(f"{what}, from nearest points", _cost(radar.frame_cost("cone")), "", None)
    memory = light.bytes_a_ray(mesh)
    yield Figure("memory of a single-return reading", f"{memory:.0f} bytes a ray", "under 150", memory < 150)

    # Scaling
    rays = sweep.over_rays(mesh, (1_000, 10_000, 100_000, 1_000_000, *(() if quick else (10_000_000,))))
    yield Figure("cost over rays, 1 thread", _listed(rays, "rays"), "linear: flat", None)
    triangles = sweep.over_triangles((10_000, 100_000, 1_000_000, *(() if quick else (10_000_000,))))
    yield Figure("cost over triangles, 1 thread", _listed(triangles, "triangles"), "near logarithmic", None)

    yield from _depth_over_warp()
    yield from _parts(1_000_000 if quick else 10_000_000)
    yield from _inertial()
    yield from _cone()
    yield from _engine()
    yield from _recording()
    yield from _live()

    # Truth
    error = accuracy.plane_error()
    yield Figure("largest relative range error, planes to 200 m", f"{error:.1e}", "under 1e-5", error < 1e-5)
    seen, predicted = accuracy.sphere_sag()
    yield Figure(
        "unit sphere, 5,120 faces: sag seen, predicted",
        f"{seen:.3e}, {predicted:.3e} m",
        "seen within predicted",
        seen <= predicted + 1e-6,
    )

    # Waiting
    yield _below("import sensorium", startup.import_s(), 0.5)
    yield _below("first sweep in a new process, kernels cached", startup.first_sweep_warm_s(), 2.0)
    if not quick:
        yield _below("first sweep in a new process, nothing cached", startup.first_sweep_cold_s(), 20.0)


def _against_peers(mesh: Mesh) -> Iterator[Figure]:
    """Rays per second over those of other libraries, one thread each, same rays and triangles, in turn."""
    subject = sweep.rig(mesh)
    bare = sweep.BareSweep(subject)
    anchor = subject.env._tracer.place(*_interval(subject)).anchor[0]
    for name, (make, share) in PEERS.items():
        what, target = f"lidar sweep over {name}, 1 thread", f"at least {_PEER_TARGETS[name]:g}"
        try:
            cast = make(mesh)
        except ImportError:
            yield Figure(what, "not installed", target, None)
            continue

        # A slow peer gets every n-th run of neighboring rays, so that it sees all of the scene
        count = len(bare.origins)
        chosen = np.arange(count).reshape(-1, 64)[:: round(1 / share)].reshape(-1)
        origins = np.ascontiguousarray(bare.origins[chosen] + anchor.astype(np.float32))
        directions = np.ascontiguousarray(bare.directions[chosen])
        with thread_count(1):
            speed = ratio(subject.sweep, partial(cast, origins, directions), rounds=5)
        yield _at_least(what, speed / share, _PEER_TARGETS[name])


def _depth_over_warp() -> Iterator[Figure]:
    """Depth images of many worlds over the same on Warp's CPU device, which has one thread."""
    what, target = f"depth and labels of {depth_warp.WORLDS} worlds over Warp's CPU device", "at least 12 x"
    try:
        over = depth_warp.against_warp()
    except ImportError:
        yield Figure(what, "Warp is not installed", target, None)
        return
    yield Figure(f"{what}, all threads", f"{over:.1f} x", target, over >= 12.0)
    with thread_count(1):
        yield Figure(f"{what}, 1 thread", f"{depth_warp.against_warp():.1f} x", "", None)


def _depth_cameras(worlds: int) -> Iterator[Figure]:
    """Depth and labels of many worlds, all of which move, all threads."""
    size = f"{worlds:,} worlds x {depth.SIDE} x {depth.SIDE}, {depth.OBSTACLES} moving obstacles each"
    what = f"depth cameras, whole steps with commits over bare trace ({size})"
    yield _at_least(what, depth.against_bare_trace(worlds), 0.85)
    share = depth.cost_of_random_placement(worlds)
    yield Figure("placement drawn at every step adds to it", f"{100 * share:.1f} %", "under 5 %", share < 0.05)
    share = depth.cost_of_reset(worlds)
    yield Figure("reset of a tenth of the worlds, share of a step", f"{100 * share:.1f} %", "under 10 %", share < 0.1)
    share = scatter.cost_of_redraw(worlds)
    what = f"reset with other things in the world ({scatter.THINGS} each), share of a step"
    yield Figure(what, f"{100 * share:.1f} %", "under 10 %", share < 0.1)
    costs = depth.cost_a_world((1, 4, 16, 17, 24, 32, 64, 256, worlds, 4 * worlds))
    listed = ", ".join(f"{count:,}: {cost.microseconds:.1f}" for count, cost in costs.items())
    ratios = ", ".join(f"{cost.relative:.2f}" for cost in costs.values())
    flat = all(0.9 <= cost.relative <= 1.1 for count, cost in costs.items() if count > 16)
    measured = f"{listed} us a world; {ratios} times the last"
    yield Figure("a step of theirs, by number of worlds", measured, "flat to 10 % beyond 16", flat)
    rates = [
        f"{crowd.balls} of {20 * 4**crowd.subdivisions} triangles, {crowd.width} x {crowd.height}: "
        f"{depth.drawn_over_traced(crowd):.1f} x"
        for crowd in _CROWDS
    ]
    yield Figure("images drawn over the same traced, balls around the camera, 1 thread", "; ".join(rates), "", None)
    errors = depth_errors.cost_of_errors(worlds // 2)
    measured = "; ".join(f"{name} {cost:.2f}" for name, cost in errors.items())
    yield Figure(f"steps with errors over traced ones without, {worlds // 2:,} worlds", measured, "", None)
    for some, side in ((worlds // 4, depth.SIDE), (1, _LARGE)):
        faults = depth_errors.cost_of_faults(some, side=side)
        measured = "; ".join(f"{name} {cost:.2f}" for name, cost in faults.items())
        what = f"steps with faults of pixels over those without, {some:,} x {side} x {side} pixels"
        yield Figure(what, measured, "", None)
    if worker_pool.get_threads() >= 2:
        both, wide = depth.two_threads_over_one(), depth.two_threads_over_one(side=_WIDE)
        alone = depth.two_threads_over_one(bare=True)
        measured = f"{both:.2f} x, of {_WIDE} x {_WIDE} pixels {wide:.2f} x (bare trace of the first {alone:.2f} x)"
        yield Figure("two threads over one, a single world", measured, "above 1", both > 1.0)


def _parts(triangles: int) -> Iterator[Figure]:
    """A scene in two parts, a process each, against one process of two threads."""
    size = f"{triangles / 1e6:g} M triangles in 2 parts, 1 M rays"
    what, target = f"casting into parts over one process, 2 cores ({size})", "at least 0.4"
    try:
        figures = parts.against_one_process(triangles=triangles)
    except ImportError:
        yield Figure(what, "Ray is not installed", target, None)
        return
    rates = f"{figures.parts.best / 1e6:.2f} over {figures.whole.best / 1e6:.2f} Mray/s"
    yield Figure(what, f"{figures.speed:.2f} x ({rates})", target, figures.speed >= 0.4)
    same = f"{figures.other_ranges} ranges, {figures.other_faces} faces (neighbors at an edge)"
    yield Figure("rays of these that differ from one process", same, "no range", figures.other_ranges == 0)
    each = ", ".join(f"{report.memory_bytes / 1e6:.0f} MB" for report in figures.reports)
    held = ", ".join(f"{report.mesh_bytes / 1e6:.0f}" for report in figures.reports)
    meshes = f"their meshes {held} MB of {figures.mesh_bytes / 1e6:.0f}"
    yield Figure("memory of each part's process", f"{each}; {meshes}", "its part's", None)


def _inertial() -> Iterator[Figure]:
    """IMUs of nine axes with a full chain: many worlds, one world, and over NumPy."""
    size = f"{imu.WORLDS:,} worlds x {imu.STEPS:,} steps"
    for moving in (False, True):
        what = f"IMUs {'moving' if moving else 'at rest'}, {size}"
        rate = imu.sensing_rate(moving=moving)
        yield Figure(f"{what}, all threads", _rate(rate), "at least 17 M/s on 2 cores", rate.best >= 17e6)
        with thread_count(1):
            yield Figure(f"{what}, 1 thread", _rate(imu.sensing_rate(moving=moving)), "", None)
        over = imu.sensing_over_numpy(moving=moving)
        yield Figure(f"{what}, over their chain alone in NumPy, 1 thread", f"{over:.2f} x", "", None)

    for series in (True, False):
        what = f"their chain on plain arrays, {'many samples' if series else 'one sample'} a call"
        yield Figure(f"{what}, all threads", _rate(imu.chain_rate(series=series)), "", None)
        with thread_count(1):
            yield Figure(f"{what}, 1 thread", _rate(imu.chain_rate(series=series)), "", None)
    yield Figure("their chain over that in NumPy, 1 thread", f"{imu.chain_over_numpy():.2f} x", "", None)

    for moving in (False, True):
        where = "moving" if moving else "at rest"
        step, empty = imu.step_cost(moving=moving), imu.step_cost(moving=moving, sensing=False)
        yield Figure(f"one IMU {where} in one world, a step", _cost(step), "about 30 us", step.best < 33e-6)
        yield Figure(f"the environment alone, {where}, a step", _cost(empty), "", None)
    yield Figure("the chain alone on plain arrays, a sample of nine axes", _cost(imu.sample_cost()), "", None)


def _cone() -> Iterator[Figure]:
    """Readings of cone sensors: the heaviest case of the thesis's Table 5, which cost it 30 ms a frame, and beyond."""
    lined, uneven, exact = "1,000 lines a face", "1,000 lines a face, which are not parallel", "exact"
    for count, how, per_object, most_ms in (
        (10, lined, False, 1.5),
        (10, lined, True, 1.5),
        (10, uneven, True, 1.5),
        (10, exact, False, 0.2),
        (10, exact, True, 0.2),
        (1000, lined, False, 5.0),
        (1000, exact, False, 5.0),
        (1000, exact, True, None),
    ):
        cost = cone.reading_cost(
            count, "exact" if how == exact else 1000, per_object=per_object, keystones=how == uneven
        )
        what = f"a reading of a cone sensor: {count:,} obstacles, {how}{', every object' if per_object else ''}"
        target, met = ("", None) if most_ms is None else (f"under {most_ms:g} ms", cost.best < 1e-3 * most_ms)
        yield Figure(what, _cost(cost), target, met)


def _engine() -> Iterator[Figure]:
    """Added cost of sensors per step of a physics engine, and the parts of a step's time."""
    what, target = "four ideal sensors on 50 MuJoCo bodies, beyond casting and commit, 1 thread", "about 50 us a step"
    try:
        cost = mujoco.step_cost()
    except ImportError:
        yield Figure(what, "MuJoCo is not installed", target, None)
        return
    us = {name: f"{1e6 * value:.0f}" for name, value in cost._asdict().items()}
    yield Figure(f"{what}, lidar at 10 Hz", f"{us['usual_s']} us a step", target, cost.usual_s < 75e-6)
    yield Figure("the same, the lidar too at every step", f"{us['added_s']} us a step", target, cost.added_s < 75e-6)
    each = ", ".join(f"{name} {us[name + '_s']}" for name in ("imu", "magnetometer", "encoder", "lidar"))
    yield Figure("each of them alone", f"{each} us", "", None)
    split = f"casting {us['casting_s']}, commit {us['commit_s']} us within such a step"
    again = f"{us['casting_alone_s']} and {us['commit_alone_s']} us"
    yield Figure("casting and commit", f"{split}; the same calls by themselves {again}", "", None)
    engine = f"mj_step {us['engine_s']}, ours {1e6 * (cost.world_s - cost.engine_s):.0f}"
    second = f"accelerations, where asked for, {us['forward_s']} more"
    yield Figure("the world alone", f"{us['world_s']} us ({engine}; {second})", "", None)
    ratio = mujoco.step_ratio()
    what = f"a step without sensors of a robot of 26 joints over mj_step, {1e6 * ratio.engine_s:.0f} us"
    yield Figure(what, f"{ratio.full:.2f} x", "at most 2 x", ratio.full <= 2.0)
    yield Figure("the same with accelerations=False", f"{ratio.light:.2f} x", "at most 1.5 x", ratio.light <= 1.5)


def _recording() -> Iterator[Figure]:
    """Cost of recording."""
    env = recording.room()
    for paced, how in ((True, "at 10 Hz"), (False, "back to back")):
        held = recording.held(env, paced=paced)
        measured = f"{1e3 * held.worst_s:.1f} ms at worst, {1e3 * held.median_s:.1f} median"
        what = f"recording blocks the run, for each cloud of 262,144 points, {how}"
        yield Figure(what, measured, "at most 10 ms", held.worst_s <= 10e-3)
    yield Figure("recording alone", f"{recording.throughput(env) / 1e6:.0f} MB/s", "", None)


def _live() -> Iterator[Figure]:
    """Cost of sending clouds to other programs while a run goes on."""
    for name in live.PATHS:
        what = f"{name}: added to a step by a live cloud of {live.CHANNELS * live.COLUMNS:,} points, at 20 Hz"
        try:
            cost = live.added(name)
        except MissingExtraError as error:
            yield Figure(what, str(error), "at most 10 ms (p99)", None)
            continue
        times = f"{1e3 * cost.p99_s:.1f} ms p99 (CPU {1e3 * cost.send_cpu_p99_s:.1f}), {1e3 * cost.median_s:.1f} median"
        yield Figure(what, f"{times}; {100 * cost.received:.0f} % received", "at most 10 ms (p99)", cost.p99_s <= 10e-3)


def _interval(rig: sweep.Rig) -> tuple[int, int, "np.ndarray[tuple[int, int], np.dtype[np.float64]]"]:
    scan = rig.lidar.read()
    return scan.start_ns, scan.end_ns, scan.X_WS.position[0, :, 0]


def _at_least(what: str, value: float, target: float) -> Figure:
    return Figure(what, f"{value:.2f} x", f"at least {target:g} x", value >= target)


def _below(what: str, value_s: float, target_s: float) -> Figure:
    return Figure(what, f"{value_s:.2f} s", f"under {target_s:g} s", value_s < target_s)


def _rate(rate: Spread) -> str:
    return f"{rate.best / 1e6:.1f} M axis-samples/s best, {rate.median / 1e6:.1f} median"


def _cost(cost: Spread) -> str:
    return f"{1e6 * cost.best:.1f} us best, {1e6 * cost.median:.1f} median"


def _listed(costs: dict[int, float], of: str) -> str:
    return ", ".join(f"{10 ** round(np.log10(n)):.0e}: {cost:.0f}" for n, cost in costs.items()) + f" ns a ray ({of})"


def _machine() -> str:
    embree = library.load()
    cores = os.cpu_count()
    return f"{platform.machine()}, {cores} cores, {worker_pool.get_threads()} threads, packets of {embree.packet_width}"

"""The same bytes whatever the threads, batches, parts, order of attaching, and however often the process starts.

Run by itself (`python -m sensorium.qa.validation.laws.determinism`) it prints the hash of every sensor's output as
JSON, which is how a check compares two processes.
"""

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.corruption import Noise
from sensorium.physics.imaging import PixelNoise
from sensorium.qa.validation.check import Axis, Comparison, Family
from sensorium.runtime import threads
from sensorium.scene.partition.part_files import PartIndex
from sensorium.sensors.inertial.imu import Output
from sensorium.sensors.inertial.triaxial import AngularGroup, LinearGroup
from sensorium.tracing.partitioned.messages import Bodies, Sent, Shared
from sensorium.tracing.partitioned.part import Part
from sensorium.tracing.placement.scenes import PlacedScenes
from sensorium.tracing.rays import checked_rays, middle_of

DETERMINISM = Family("Determinism")

_WORLDS = 8

_INERTIAL: tuple[Output, ...] = ("acceleration", "angular_velocity", "delta_velocity")

# Of scans, all that every one of a kind has
_ONLY_SOME = ("normals", "ambient", "width_s")
_GEOMETRY = tuple(field.name for field in sn.Scan.FIELDS if not field.of_light and field.name not in _ONLY_SOME)
_LIGHT = tuple(field.name for field in sn.Scan.FIELDS if field.name not in _ONLY_SOME)

# What is hashed of each sensor
_OUTPUTS: dict[str, tuple[str, ...]] = {
    "lidar": _GEOMETRY,
    "light": _LIGHT,
    "waveform": (*_LIGHT, "width_s"),
    "camera": ("image",),
    "depth_camera": ("depth_m", "segmentation", "normals"),
    "cone": ("range_m", "point", "azimuth", "elevation"),
    "radar": ("range_m", "range_rate_m_s", "azimuth_rad", "power_W", "object_id", "valid"),
    "imu": _INERTIAL,
    "magnetometer": ("magnetic_field",),
    "encoder": ("position", "velocity"),
    "odometer": ("distance", "velocity"),
    "gnss": ("position", "velocity"),
    "barometer": ("pressure_Pa",),
    "sun_sensor": ("cosine",),
}

_HITS = ("range_m", "object_id", "face_id", "label", "normal", "barycentric")

_SAME = "the same bytes; physics.md 0: randomness is a function of seed, name, tick, world and element"


def _specifications() -> dict[str, tuple[Any, dict[str, Any]]]:
    """Every sensor with noise on all that it measures, and where it is attached."""
    spinning = sn.patterns.Spinning(elevation_deg=tuple(np.linspace(8.0, -20.0, 8)), columns=120, rate_hz=10)
    ahead = sn.patterns.Raster(
        height=4, width=6, horizontal_fov_deg=(-20, 20), vertical_fov_deg=(-15, 5), rate_hz=10, firing="columns"
    )
    pixels = sn.patterns.Pinhole.from_fov(48, 27, 80.0, rate_hz=10)
    noise = sn.RangeNoise(base_m=0.01, slope=1e-3, dropout=0.05)
    white = Noise(std=0.01, walk=1e-3)
    linear, angular = LinearGroup(noise=white), AngularGroup(noise=white)
    on_car = {"body": "car", "pose": sn.Pose((0, 0, 1.2)), "hide": ("car",)}
    parameters = sn.waveform.Parameters(
        peak_power_W=70.0, aperture_radius_m=0.0125, wavelength_m=905e-9, pulse_duration_s=4e-9, divergence_rad=0.010,
        receiver_length_m=0.05, receiver_width_m=0.04, stop_s=300e-9,
    )  # fmt: skip
    camera = sn.Camera(
        pupil_distance_m=6.0001e-3, width_m=6.4e-3, height_m=4.8e-3, columns=32, rows=24, focal_length_m=6e-3,
        pupil_radius_m=0.5e-3, exposure_s=1e-3, sample_factor=1, pupil_rays=1, noise=PixelNoise(read_noise_e=5.0),
        timing=sn.Timing(rate_hz=10.0),
    )  # fmt: skip
    fast = sn.Timing(rate_hz=50.0)
    return {
        "lidar": (sn.Lidar(pattern=spinning, noise=noise), on_car),
        "light": (sn.Lidar(pattern=spinning, mode="relative", max_depth=1, noise=noise), on_car),
        "waveform": (
            parameters.lidar(pattern=ahead, max_depth=1, waveform={"rays": {"kind": "grid", "across": 5}}),
            on_car,
        ),
        "camera": (camera, on_car),
        "depth_camera": (
            sn.DepthCamera(
                pattern=pixels,
                outputs={"depth", "segmentation", "normals"},
                max_range_m=30.0,
                noise=sn.DepthNoise(multiplier=0.01, dropout=0.02),
            ),
            on_car,
        ),
        "cone": (
            sn.ConeSensor(
                timing=fast,
                horizontal_fov_deg=60.0,
                vertical_fov_deg=40.0,
                range_m=40.0,
                range={"noise": Noise(std=0.02)},
            ),
            on_car,
        ),
        "radar": (
            sn.Radar(
                timing=sn.Timing(rate_hz=10.0),
                chirp=sn.radar.Chirp(bandwidth_hz=149.896229e6, ramp_s=60e-6, samples=64, chirps=32),
                source="rays",
                vertical_fov_deg=10.0,
                ray_spacing_deg=0.5,
                cross_sections={"ball": 10.0},
            ),
            on_car,
        ),
        "imu": (sn.Imu(timing=fast, linear=linear, angular=angular, outputs=_INERTIAL), {"body": "car"}),
        "magnetometer": (sn.Magnetometer(timing=fast, noise=Noise(std=1e-8)), {"body": "car"}),
        "encoder": (sn.Encoder(timing=fast, noise=Noise(std=1e-3), counts_per_turn=1024), {"joint": "wheel"}),
        "odometer": (sn.Odometer(timing=fast, radius_m=0.3, noise=Noise(std=1e-3)), {"joint": "wheel"}),
        "gnss": (sn.Gnss(timing=fast, hdop=1.0, vdop=1.5, uere_m=1.0), {"body": "car"}),
        "barometer": (sn.Barometer(timing=fast, noise=Noise(std=2.0)), {"body": "car"}),
        "sun_sensor": (sn.SunSensor(timing=fast, noise=Noise(std=1e-3)), {"body": "car"}),
    }


def _scene() -> sn.Scene:
    scene = sn.Scene()
    scene.add(sn.shapes.plane(100.0), label="ground")
    scene.add(sn.shapes.box(1, 20, 4), pose=sn.Pose((12, 0, 2)), label="wall")
    scene.add(sn.shapes.box(0.1, 4, 3), pose=sn.Pose((8, -6, 1.5)), material=sn.Mirror(reflectance=0.9), label="mirror")
    scene.add(sn.shapes.sphere(0.7, subdivisions=2), body="ball", label="ball")
    scene.add(sn.shapes.box(4, 2, 1.5), body="car", label="car")
    return scene


def outputs(
    *, worlds: int = _WORLDS, first_world: int = 0, order: Sequence[str] | None = None
) -> dict[str, list[NDArray[Any]]]:
    """What every sensor reports over a fifth of a second of a drive through fog, as arrays with an axis of worlds.

    Args:
        worlds: How many worlds.
        first_world: Number of the first.
        order: Names of sensors in the order they are attached.
    """
    world = sn.worlds.Kinematic(
        {
            "car": sn.paths.Line(start=(-5, 0, 0.8), velocity=(8, 0, 0)),
            "ball": sn.paths.Circle(center=(4, 2, 1), radius=2.0, rate=3.0),
        },
        {"wheel": sn.paths.JointLine(0.1, 26.0)},
        step_s=0.02,
    )
    env = sn.Environment(
        _scene(), world, worlds=worlds, first_world=first_world, seed=11, atmosphere=sn.media.fog(visibility_m=60.0),
        sun=sn.fields.Sun(elevation_deg=40.0), magnetic=sn.fields.UniformMagnetic((2e-5, 0.0, -4e-5)),
    )  # fmt: skip
    made = _specifications()
    handles = {name: env.attach(made[name][0], name=name, **made[name][1]) for name in order or _OUTPUTS}
    found: dict[str, list[NDArray[Any]]] = {name: [] for name in _OUTPUTS}
    for _ in env.run(duration_s=0.2):
        for name, handle in handles.items():
            for reading in handle.readings():
                found[name] += [_taken(name, field, reading) for field in _OUTPUTS[name]]
    silent = [name for name in handles if not found[name]]
    if silent:
        raise SpecError(f"{silent[0]} reported nothing in 0.2 s; a run that is compared must have readings")
    return found


def _taken(name: str, field: str, reading: Any) -> NDArray[Any]:
    """One output; of a radar's list, which is as long as the longest of its batch, only what was detected."""
    values = np.array(getattr(reading, field))
    if name != "radar":
        return values
    return np.asarray(values.sum(axis=-1) if field == "valid" else values[reading.valid])


def hashes(arrays: dict[str, list[NDArray[Any]]]) -> dict[str, str]:
    """A hash of each sensor's output, 12 hex digits."""
    found = {}
    for name, parts in arrays.items():
        digest = hashlib.sha256()
        for part in parts:
            digest.update(np.ascontiguousarray(part).tobytes())
        found[name] = digest.hexdigest()[:12]
    return found


def _compared(reference: dict[str, str], *others: dict[str, str]) -> Comparison:
    """How many of the other runs differ, sensor by sensor; the note prints the hashes."""
    differ = [float(sum(other[name] != reference[name] for other in others)) for name in reference]
    note = ", ".join(f"{name} {digest}" for name, digest in reference.items())
    return Comparison(differ, 0.0, x=Axis("sensor"), y=Axis("runs that differ"), note=note)


@DETERMINISM.check(
    "threads",
    "Every sensor's output has the same bytes on one thread and on two.",
    reference=_SAME,
)
def _threads(quick: bool) -> Comparison:
    before, runs = threads.get_threads(), []
    try:
        for count in (1, 2):
            sn.set_threads(count)
            runs.append(hashes(outputs()))
    finally:
        sn.set_threads(before)
    return _compared(*runs)


@DETERMINISM.check(
    "batches",
    "Eight worlds at once give the bytes of two batches of four.",
    reference=_SAME,
)
def _batches(quick: bool) -> Comparison:
    whole = outputs()
    halves = [outputs(worlds=4, first_world=first) for first in (0, 4)]
    joined = {
        name: [np.concatenate(pair) for pair in zip(halves[0][name], halves[1][name], strict=True)] for name in whole
    }
    return _compared(hashes(whole), hashes(joined))


@DETERMINISM.check(
    "attach-order",
    "Sensors attached in any order, or alone, report the same bytes.",
    reference=_SAME,
)
def _order(quick: bool) -> Comparison:
    names = list(_OUTPUTS)
    first, backwards = hashes(outputs(worlds=2)), hashes(outputs(worlds=2, order=names[::-1]))
    some = names[1::2]
    alone = hashes(outputs(worlds=2, order=some))
    return _compared(first, backwards, first | {name: alone[name] for name in some})


@DETERMINISM.check(
    "restarts",
    "A process started anew reports the same bytes.",
    reference=_SAME,
)
def _restarts(quick: bool) -> Comparison:
    command = [sys.executable, "-m", "sensorium.qa.validation.laws.determinism"]
    source = str(Path(sn.__file__).parents[1])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600, check=True)
    return _compared(hashes(outputs()), json.loads(done.stdout.splitlines()[-1]))


def _rays(count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rng = np.random.default_rng(1)
    return rng.normal(size=(count, 3)) * 0.3 + [0, 0, 3.0], rng.normal(size=(count, 3)) * [1, 1, 0.3]


def _hashed(hits: Any) -> dict[str, str]:
    return hashes({name: [np.asarray(getattr(hits, name))] for name in _HITS})


def _nearest_of_parts(folder: Path, origin: NDArray[Any], direction: NDArray[Any]) -> dict[str, str]:
    """All rays in every part, and the nearest hit by (distance, number of the facet), as VANE's caster does."""
    index = PartIndex.load(folder)
    rays, _ = checked_rays(origin, direction, 0.0, np.inf, 0, world_count=1)
    near = PlacedScenes.on_grid(middle_of(rays, np.zeros((1, 3))))
    shared = Shared(near, Bodies((), np.zeros((1, 0, 3)), np.zeros((1, 0, 4))), frozenset(), False)
    sent = Sent.of(rays.origin, rays.direction, rays.time, rays.t_max)
    parts = [Part(str(folder), number, 1.0) for number in range(len(index.parts))]
    answers = [part.cast(sent, shared).of_all(len(rays.origin)) for part in parts]

    first_facet = np.cumsum([0, *(entry.faces for entry in index.objects)])[:-1]
    distance = np.stack([np.where(hits.object_id < 0, np.inf, hits.range_m) for hits in answers])
    facet = np.stack([first_facet[hits.object_id] + hits.face_id for hits in answers])
    chosen = np.lexsort((facet, distance), axis=0)[0]
    pick = np.arange(len(chosen))
    return hashes({name: [np.stack([getattr(h, name) for h in answers])[chosen, pick]] for name in _HITS})


@DETERMINISM.check(
    "partitions",
    "A scene in one, two and three parts gives the hits of the whole; with Ray in processes of their own (not quick).",
    reference="VANE: least by (distance, facet), independent of the partition; physics.md 10",
)
def _partitions(quick: bool) -> Comparison:
    scene = sn.Scene()
    rng = np.random.default_rng(3)
    scene.add(sn.shapes.heightfield(rng.uniform(0, 0.6, (40, 40)), 60.0, 60.0), label="hills")
    for _ in range(12):
        scene.add(sn.shapes.sphere(0.6, subdivisions=2), pose=sn.Pose((*rng.uniform(-25, 25, 2), 1.0)), label="ball")
    origin, direction = _rays(5_000 if quick else 50_000)
    whole = _hashed(sn.RayCaster(scene).cast(origin, direction))
    others = []
    with tempfile.TemporaryDirectory() as kept:
        for parts in (1, 2, 3):
            folder = Path(kept) / str(parts)
            sn.split_scene(scene.objects, folder, parts=parts)
            others.append(_nearest_of_parts(folder, origin, direction))
        if not quick and importlib.util.find_spec("ray") is not None:
            with sn.cluster.joined(cpus=2):
                for parts in (1, 2, 3):
                    with sn.PartitionedCaster(Path(kept) / str(parts)) as caster:
                        others.append(_hashed(caster.cast(origin, direction)))
    return _compared(whole, *others)


if __name__ == "__main__":
    print(json.dumps(hashes(outputs())))

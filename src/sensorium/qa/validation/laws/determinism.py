"""The same bytes for any number of threads, batches, parts, order of attaching, and in every process.

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
from sensorium.core.spec import checked
from sensorium.qa.validation.check import Axis, Comparison, Family
from sensorium.runtime import worker_pool
from sensorium.scene.partition.part_files import PartIndex
from sensorium.sensors.common.attached import AttachedSensor
from sensorium.sensors.registry import Sample, all_kinds, loaded
from sensorium.tracing.partitioned.messages import Bodies, Sent, Shared
from sensorium.tracing.partitioned.part import Part
from sensorium.tracing.placement.scenes import PlacedScenes
from sensorium.tracing.rays import checked_rays, middle_of

DETERMINISM = Family("Determinism")

_WORLDS = 8

_HITS = ("range_m", "object_id", "face_id", "label", "normal", "barycentric")

_SAME = "the same bytes; physics.md 0: randomness is a function of seed, name, tick, world and element"


def _samples() -> dict[str, tuple[type[Any], Sample]]:
    """Every sensor with noise on all that it measures, by name: its specification, and where it is attached."""
    found: dict[str, tuple[type[Any], Sample]] = {}
    for kind, sensor in all_kinds():
        for name, sample in sensor.samples.items():
            if name in found:
                raise SpecError(f"sensor {kind!r} has a sample {name!r}, as another has; names of samples must differ")
            found[name] = loaded(sensor.spec), sample
    return found


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
    """Outputs of every sensor over a fifth of a second of a drive through fog, as arrays with an axis of worlds.

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
    samples = _samples()
    handles = {name: _attached(env, name, *samples[name]) for name in order or samples}
    found: dict[str, list[NDArray[Any]]] = {name: [] for name in samples}
    for _ in env.run(duration_s=0.2):
        for name, handle in handles.items():
            for reading in handle.readings():
                sample = samples[name][1]
                found[name] += [_taken(sample, output, reading) for output in sample.outputs]
    silent = [name for name in handles if not found[name]]
    if silent:
        raise SpecError(f"{silent[0]} reported nothing in 0.2 s; a run that is compared must have readings")
    return found


def _attached(env: sn.Environment, name: str, spec: type[Any], sample: Sample) -> AttachedSensor[Any]:
    """A sensor of the checks, at its place."""
    mount = dict(sample.mount)
    if "position" in mount:
        mount["pose"] = sn.Pose(mount.pop("position"))
    return env.attach(checked(spec, sample.fields, ""), name=name, **mount)


def _taken(sample: Sample, output: str, reading: Any) -> NDArray[Any]:
    """One output; of a list that is as long as the longest of its batch, only what counts."""
    values = np.array(getattr(reading, output))
    if not sample.only_valid:
        return values
    return np.asarray(values.sum(axis=-1) if output == "valid" else values[reading.valid])


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
    """Number of the other runs that differ, sensor by sensor; the note prints the hashes."""
    differ = [float(sum(other[name] != reference[name] for other in others)) for name in reference]
    note = ", ".join(f"{name} {digest}" for name, digest in reference.items())
    return Comparison(differ, 0.0, x=Axis("sensor"), y=Axis("runs that differ"), note=note)


@DETERMINISM.check(
    "threads",
    "Every sensor's output has the same bytes on one thread and on two.",
    reference=_SAME,
)
def _threads(quick: bool) -> Comparison:
    before, runs = worker_pool.get_threads(), []
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
    names = list(_samples())
    first, backwards = hashes(outputs(worlds=2)), hashes(outputs(worlds=2, order=names[::-1]))
    some = names[1::2]
    alone = hashes(outputs(worlds=2, order=some))
    return _compared(first, backwards, first | {name: alone[name] for name in some})


@DETERMINISM.check(
    "restarts",
    "A new process reports the same bytes.",
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

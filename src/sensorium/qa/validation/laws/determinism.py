"""The same bytes for any number of threads, batches, parts, order of attaching, and in every process.

Run by itself (`python -m sensorium.qa.validation.laws.determinism`) it prints the hash of every sensor's output as
JSON, which is how a check compares two processes.
"""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sensorium as sn
from sensorium.qa.validation.check import Axis, Comparison, Family
from sensorium.qa.validation.sample_run import hashes, outputs, samples
from sensorium.runtime import worker_pool
from sensorium.scene.partition.part_files import PartIndex
from sensorium.tracing.partitioned.messages import Bodies, Sent, Shared
from sensorium.tracing.partitioned.part import Part
from sensorium.tracing.placement.scenes import PlacedScenes
from sensorium.tracing.rays import checked_rays, middle_of

DETERMINISM = Family("Determinism")

_HITS = ("range_m", "object_id", "face_id", "label", "normal", "barycentric")

_SAME = "the same bytes; physics.md 0: randomness is a function of seed, name, tick, world and element"


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
    names = list(samples())
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

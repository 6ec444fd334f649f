"""A drive with the sample of every sensor kind, for checks that compare bytes."""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.core.spec import checked
from sensorium.sensors.common.attached import AttachedSensor
from sensorium.sensors.registry import Sample, all_kinds, loaded

_WORLDS = 8


def samples() -> dict[str, tuple[type[Any], Sample]]:
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
    known = samples()
    handles = {name: _attached(env, name, *known[name]) for name in order or known}
    found: dict[str, list[NDArray[Any]]] = {name: [] for name in known}
    for _ in env.run(duration_s=0.2):
        for name, handle in handles.items():
            for reading in handle.readings():
                sample = known[name][1]
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

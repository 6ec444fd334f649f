"""Examples in docstrings of the public names: they run, and give what they say."""

import doctest
import importlib.util
import inspect

import numpy as np
import pytest

import sensorium as sn

# What a newcomer meets first has an example
HAVE_ONE = [
    *("Pose", "Mesh", "Scene", "SceneBatch", "Scatter", "RayCaster", "Environment", "Timing", "Lidar", "Camera"),
    *("DepthCamera", "Imu", "Accelerometer", "Gyroscope", "Magnetometer", "Encoder", "Odometer", "Gnss", "Barometer"),
    *("SunSensor", "ConeSensor", "Radar", "RangeNoise", "DetectionLimit", "Lambertian"),
    *("shapes.box", "shapes.sphere", "shapes.cylinder", "shapes.plane", "shapes.heightfield"),
    *("worlds.Static", "worlds.Kinematic", "worlds.Replay", "worlds.Joined", "worlds.Commanded", "worlds.MuJoCo"),
    *("patterns.Spinning", "patterns.Raster", "patterns.Pinhole", "patterns.Table"),
    *("paths.Line", "paths.Circle", "paths.Waypoints"),
    *("corruption.Bias", "corruption.Noise", "corruption.Fault", "record.McapRecorder", "devices.names"),
    *("materials.load", "media.Fog", "fields.Sun", "fields.UniformMagnetic", "optics.fresnel"),
    "analysis.allan_deviation",
]

NEEDS = {"worlds.MuJoCo": "mujoco"}


def public():
    """Every public class and function by the name that a user writes after `sn.`, each once."""
    seen = set()
    for name in sn.__all__:
        value = getattr(sn, name)
        members = [(name, value)]
        if inspect.ismodule(value):
            names = getattr(value, "__all__", [each for each in vars(value) if not each.startswith("_")])
            members = [(f"{name}.{each}", getattr(value, each)) for each in names]
        for path, member in members:
            of_ours = getattr(member, "__module__", "").startswith("sensorium")
            if callable(member) and of_ours and id(member) not in seen:
                seen.add(id(member))
                yield path, member


def examples():
    """The examples of each public name, with those of its methods."""
    finder = doctest.DocTestFinder(exclude_empty=True, recurse=True)
    for path, member in public():
        if ">>>" not in (member.__doc__ or "") and not inspect.isclass(member):
            continue
        found = finder.find(member, path, module=False, globs={"sn": sn, "np": np})
        for test in found:
            if test.examples:
                yield test.name, test


EXAMPLES = dict(examples())


def test_what_a_newcomer_meets_has_an_example():
    assert [name for name in HAVE_ONE if name not in EXAMPLES] == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_gives_what_it_says(name, tmp_path, monkeypatch):
    if name in NEEDS and importlib.util.find_spec(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not installed")
    monkeypatch.chdir(tmp_path)
    said = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    runner.run(EXAMPLES[name], out=said.append, clear_globs=False)
    assert runner.failures == 0, "".join(said)
    assert any(example.want for example in EXAMPLES[name].examples), "it checks nothing"

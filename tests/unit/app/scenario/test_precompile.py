"""Compiling in two processes: when, and that the other process does its part."""

import subprocess

import pytest

from sensorium.app.gallery import path_of
from sensorium.app.scenario import Scenario, precompile
from sensorium.app.scenario.precompile import compile_light
from sensorium.runtime import jit
from sensorium.tracing.kernels.light.kernel import sweep_light

PATH = path_of("yard-drive")
SMALL = {
    "sensors.roof.pattern.elevation_deg.channels": 4,
    "sensors.roof.pattern.columns": 32,
    "sensors.roof.mode": "relative",
    "sensors.imu.enabled": False,
}


@pytest.fixture
def started(monkeypatch):
    """Processes that were started, with nothing in the cache."""
    processes = []

    class Watched(subprocess.Popen):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            if "sensorium.app.scenario.precompile" in self.args:  # others are started to look at the machine
                processes.append(self)

    monkeypatch.setattr(subprocess, "Popen", Watched)
    monkeypatch.setattr(jit, "is_cached", lambda kernel: False)
    monkeypatch.setattr(precompile.os, "cpu_count", lambda: 2)
    return processes


def test_the_other_process_compiles_the_light_and_ends_well(started):
    with precompile.precompile(Scenario.load(PATH, SMALL), PATH, SMALL) as compile_rest:
        (process,) = started
        assert process.returncode is None
        compile_rest()
        assert process.returncode == 0


def test_the_other_process_does_not_outlive_a_run_that_fails(started):
    with pytest.raises(KeyError), precompile.precompile(Scenario.load(PATH, SMALL), PATH, SMALL):
        raise KeyError
    assert started[0].returncode is not None


def test_a_sweep_of_the_compiling_process_is_one_of_the_light():
    """What it compiles is the one kernel that all such lidars share: another lidar adds no version of it."""
    compile_light()
    versions = len(sweep_light.signatures)
    env = Scenario.load(
        PATH, {**SMALL, "sensors": {"roof": Scenario.load(PATH, SMALL).data["sensors"]["roof"]}}
    ).environment()
    for _ in env.run(0.1):
        pass
    assert len(sweep_light.signatures) == versions == 1


@pytest.mark.parametrize(
    "values",
    [
        {"sensors.roof.mode": "geometric", "sensors.roof.max_depth": 0, "sensors.roof.threshold": 0.0},
        {"sensors.roof.enabled": False},
        {"sensors.wheel_left.enabled": False, "sensors.wheel_right.enabled": False},
    ],
    ids=["no light", "no lidar", "nothing else"],
)
def test_where_there_is_nothing_to_share_nothing_is_done(started, values):
    values = {**SMALL, **values}
    with precompile.precompile(Scenario.load(PATH, values), PATH, values) as compile_rest:
        compile_rest()
    assert not started


def test_the_cache_is_known_by_the_kernel():
    compile_light()
    assert jit.is_cached(sweep_light)
    assert precompile._light_is_cached()

    @jit.kernel
    def never_called(x):
        return x

    assert not jit.is_cached(never_called)

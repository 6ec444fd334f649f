"""Compiling in two processes: when, and that the other process does its part."""

import subprocess

import pytest

from sensorium import jit
from sensorium.gallery import path_of
from sensorium.scenario import Scenario, ahead

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
            if "sensorium" in self.args:  # others are started to look at the machine
                processes.append(self)

    monkeypatch.setattr(subprocess, "Popen", Watched)
    monkeypatch.setattr(jit, "is_cached", lambda kernel: False)
    monkeypatch.setattr(ahead.os, "cpu_count", lambda: 2)
    return processes


def test_the_other_process_runs_the_lidar_alone_and_ends_well(started):
    assert ahead.compile_ahead(Scenario.load(PATH, SMALL), PATH, SMALL)
    (process,) = started
    assert process.returncode == 0
    assert "sensors.wheel_left.enabled=false" in process.args
    assert "duration_s=0.1" in process.args


@pytest.mark.parametrize(
    "values",
    [
        {"sensors.roof.mode": "geometric"},
        {"sensors.roof.enabled": False},
        {"sensors.wheel_left.enabled": False, "sensors.wheel_right.enabled": False},
    ],
    ids=["no light", "no lidar", "nothing else"],
)
def test_where_there_is_nothing_to_share_nothing_is_done(started, values):
    values = {**SMALL, **values}
    assert not ahead.compile_ahead(Scenario.load(PATH, values), PATH, values)
    assert not started


def test_the_cache_is_known_by_the_name_of_the_kernel(tmp_path, monkeypatch):
    monkeypatch.setattr(jit, "cache_folder", lambda: tmp_path)
    assert not jit.is_cached(ahead.LIGHT_KERNEL)
    (tmp_path / "trace").mkdir()
    (tmp_path / "trace" / "kernel.sweep_light-41.py311.nbi").touch()
    assert jit.is_cached(ahead.LIGHT_KERNEL)
    assert not jit.is_cached("sweep")

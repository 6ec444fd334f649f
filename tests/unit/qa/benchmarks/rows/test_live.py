"""The benchmark of live sinks gives what it measured."""

import pytest

from sensorium.qa.benchmarks.rows import live


@pytest.mark.slow
@pytest.mark.parametrize("name", live.PATHS)
def test_every_cloud_is_received(name, monkeypatch):
    monkeypatch.setattr(live, "CHANNELS", 4)
    monkeypatch.setattr(live, "COLUMNS", 64)
    measured = live.added(name, steps=8, rounds=2)
    assert measured.received == 1.0
    assert 0.0 < measured.send_cpu_p99_s < 1.0

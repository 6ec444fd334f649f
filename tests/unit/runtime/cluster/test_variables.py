"""Variables of the environment that hold for a while."""

import os

from sensorium.runtime.cluster.variables import environment


def test_all_are_put_back(monkeypatch):
    monkeypatch.setenv("SENSORIUM_A", "1")
    monkeypatch.delenv("SENSORIUM_B", raising=False)
    with environment({"SENSORIUM_A": None, "SENSORIUM_B": "2"}):
        assert "SENSORIUM_A" not in os.environ
        assert os.environ["SENSORIUM_B"] == "2"
    assert os.environ["SENSORIUM_A"] == "1"
    assert "SENSORIUM_B" not in os.environ

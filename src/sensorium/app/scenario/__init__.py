"""Scenarios: one file describes a run, one command runs it."""

from sensorium.app.scenario.scenario import Scenario, json_schema
from sensorium.app.scenario.worlds import WorldSpec

__all__ = ["Scenario", "WorldSpec", "json_schema"]

"""Scenarios: one file describes a run, one command runs it."""

from sensorium.scenario.scenario import Scenario, json_schema
from sensorium.scenario.worlds import WorldSpec

__all__ = ["Scenario", "WorldSpec", "json_schema"]

"""Radar: parts of its specification, its detections, and its physics as functions of numbers and arrays."""

from sensorium.physics import radio
from sensorium.physics.radio import *  # noqa: F403
from sensorium.sensors.radar.reading import EchoCause, RadarReading
from sensorium.sensors.radar.spec import LABELS, Cfar, Ground, Radar

__all__ = ["LABELS", "Cfar", "EchoCause", "Ground", "Radar", "RadarReading"]
__all__ += radio.__all__

"""The radar: its specification and its parts, and its detections."""

from sensorium.sensors.radar.reading import EchoCause, RadarReading
from sensorium.sensors.radar.spec import LABELS, Cfar, Ground, Radar

__all__ = ["LABELS", "Cfar", "EchoCause", "Ground", "Radar", "RadarReading"]

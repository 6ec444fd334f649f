"""Waveform lidars: the options of waveform mode, its readings, and detectors on arrays.

`sn.waveform.Waveform(...)` goes into `sn.Lidar(mode="waveform", waveform=...)`; `sn.waveform.Parameters` describes such
a lidar by the twelve parameters of the VANE paper; `sn.waveform.find_returns` runs detectors over plain arrays.
"""

from sensorium.sensors.lidar.waveform.detectors import (
    Centroid,
    Cfar,
    Detector,
    GaussianDecomposition,
    LeadingEdge,
    Threshold,
)
from sensorium.sensors.lidar.waveform.find_returns import Returns, find_returns
from sensorium.sensors.lidar.waveform.parameters import Parameters
from sensorium.sensors.lidar.waveform.pulses import GaussianPulse, PulseShape, TablePulse
from sensorium.sensors.lidar.waveform.rays import Grid, Spiral, SubRays
from sensorium.sensors.lidar.waveform.reading import Waveforms
from sensorium.sensors.lidar.waveform.spec import Waveform

__all__ = [
    "Centroid",
    "Cfar",
    "Detector",
    "GaussianDecomposition",
    "GaussianPulse",
    "Grid",
    "LeadingEdge",
    "Parameters",
    "PulseShape",
    "Returns",
    "Spiral",
    "SubRays",
    "TablePulse",
    "Threshold",
    "Waveform",
    "Waveforms",
    "find_returns",
]

"""Recordings of real sensors: read as plain arrays, and measured.

`sn.recordings.open_recording("parking.pcap")` reads one; `sn.recordings.measure_recording("parking.pcap")` gives what
it shows of its device, with 95 % intervals, as `sensorium measure` does.
"""

from sensorium.recordings.measurement import Curve, Figure, Measurement, load_measurement
from sensorium.recordings.opening import measure_recording, open_recording
from sensorium.recordings.scans import LidarRecording

__all__ = [
    "Curve",
    "Figure",
    "LidarRecording",
    "Measurement",
    "load_measurement",
    "measure_recording",
    "open_recording",
]

"""What a spinning lidar does, measured in a recording: noise, bias, timing, returns, signal."""

from sensorium.core.errors import SpecError
from sensorium.recordings.measure.lidar_timing import timing_figures
from sensorium.recordings.measurement import Measurement
from sensorium.recordings.scans import LidarRecording


def measure_lidar(recording: LidarRecording) -> Measurement:
    """Figures, curves and remarks of a recording."""
    if not (recording.range_m > 0.0).any():
        raise SpecError(f"{recording.source!r} has no return of {recording.device}")
    figures = timing_figures(recording)
    return Measurement("lidar", recording.device, recording.source, tuple(figures), (), recording.remarks)

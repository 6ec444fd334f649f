"""Detections of a radar in a report: ranges over time, and the last range-speed map."""

from typing import Any

import numpy as np

from sensorium.sensors.common.attached import AttachedSensor
from sensorium.sensors.radar.reading import RadarReading
from sensorium.view.lidar_plots import canvas, frame, key
from sensorium.view.radar_plots import over_time, range_doppler
from sensorium.view.report.pictures import figure_address

# Of more detections every so-manieth is shown, so that a report of any run stays light
_MOST = 20_000


class DetectionRecord:
    """Detections of one attached radar in the first world, of the first of several sensors."""

    def __init__(self, sensor: AttachedSensor[Any]) -> None:
        self._sensor = sensor
        self._kept: list[np.ndarray[tuple[int, ...], np.dtype[np.float64]]] = []
        self._last: RadarReading | None = None
        self._every, self._seen = 1, 0
        self.readings = 0

    def add(self, reading: RadarReading) -> None:
        """One more frame."""
        self.readings += 1
        self._last = reading.row(0, 0)
        found = self._last.flat()
        rows = np.column_stack(
            [np.full(len(found.range_m), reading.end_ns * 1e-9), found.range_m, found.range_rate_m_s]
        )
        number = self._seen + np.arange(len(rows))
        self._seen += len(rows)
        self._kept.append(rows[number % self._every == 0])
        if sum(map(len, self._kept)) > 2 * _MOST:
            self._kept = [np.concatenate(self._kept)[::2]]
            self._every *= 2

    def images(self) -> list[dict[str, str]]:
        """Pictures of the run."""
        if self._last is None:
            return []
        figure, (axes,) = canvas(9.6, 3.6)
        time_s, range_m, rate_m_s = np.concatenate(self._kept).T if self._kept else np.zeros((3, 0))
        frame(axes, f"{self._sensor.name}: detections", "time [s]", "range [m]")
        over_time(figure, axes, time_s, range_m, rate_m_s)
        words = f"Detections of the run, {self._seen:,} in {self.readings:,} frames"
        found = [{"sensor": self._sensor.name, "words": words, "address": figure_address(figure)}]
        if self._last.map_W is not None:
            figure, (axes,) = canvas(9.6, 4.4)
            range_doppler(figure, axes, self._last, title=f"{self._sensor.name}: range and speed")
            if self._last.valid.any():
                key(axes, where="upper right")
            words = f"Range-speed map of the frame that ended at {self._last.end_ns * 1e-9:.3f} s"
            found.append({"sensor": self._sensor.name, "words": words, "address": figure_address(figure)})
        return found

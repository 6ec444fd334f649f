"""Detections of a radar as a table: a row for each, with its cause."""

from pathlib import Path
from typing import Any

import numpy as np

from sensorium.record.tables import Cell, CsvTable, ParquetTable
from sensorium.sensors.common.attached import Arrival
from sensorium.sensors.common.spec import Rig
from sensorium.sensors.radar.reading import RadarReading

# Arrays of a reading that are measured, and names of columns
_MEASURED = ("range_m", "range_rate_m_s", "azimuth_rad", "elevation_rad", "power_W", "snr_dB", "cross_section_m2")


class DetectionTable:
    """The file of one radar.

    Columns: time_ns, by the sensor's clock; arrival_ns, the true arrival time; world and sensor, if there are several;
    detection, counted from the strongest; the measured values with their units; and of the truth object_id, label and
    cause, as in the reading. A frame without detections has no row.
    """

    def __init__(self, kind: type[CsvTable] | type[ParquetTable], path: Path, rig: Rig, *, truth: bool) -> None:
        """Begin.

        Args:
            kind: Of table.
            path: Its file.
            rig: Mount of the radar.
            truth: Whether there are columns of truth.
        """
        self._rig, self._truth = rig, truth
        columns: dict[str, type] = {"time_ns": int, "arrival_ns": int}
        columns |= {"world": int} if rig.world_axis else {}
        columns |= {"sensor": int} if rig.sensor_axis else {}
        columns |= {"detection": int} | dict.fromkeys(_MEASURED, float)
        columns |= {"truth_object_id": int, "truth_label": int, "truth_cause": int} if truth else {}
        self.table = kind(path, columns)

    def add(self, arrivals: list[Arrival[RadarReading]]) -> None:
        """Add a row for each detection of each reading."""
        for arrival in arrivals:
            for row in range(self._rig.worlds * self._rig.sensors):
                world, sensor = divmod(row, self._rig.sensors)
                found = arrival.reading.row(world, sensor).flat()
                own: list[Cell] = [arrival.reading.time_ns, arrival.arrival_ns]
                own += [self._rig.first_world + world] * self._rig.world_axis + [sensor] * self._rig.sensor_axis
                columns: list[list[Any]] = [np.asarray(getattr(found, name)).tolist() for name in _MEASURED]
                if self._truth:
                    columns += [found.object_id.tolist(), found.label.tolist(), found.cause.tolist()]
                for number, cells in enumerate(zip(*columns, strict=True)):
                    self.table.add([*own, number, *cells])
        self.table.flush()

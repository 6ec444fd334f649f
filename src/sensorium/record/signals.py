"""Readings of sampled sensors as tables: CSV or Parquet, one file a sensor, truth beside the measurement."""

import warnings
from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import RecordError, SpecError
from sensorium.environment import Environment
from sensorium.record.reading_files import file_stem, made_folder
from sensorium.record.recorder import Recorder
from sensorium.record.tables import Cell, CsvTable, ParquetTable, require_pyarrow
from sensorium.sensors.common.attached import Arrival, AttachedSensor
from sensorium.sensors.common.sampled import Quantity, SampledReading
from sensorium.sensors.common.spec import Rig
from sensorium.sensors.registry import kind_of, loaded


@dataclass(frozen=True)
class Column:
    """One number of each reading.

    Attributes:
        name: Its name, with its unit.
        quantity: Its quantity.
        component: Number of the component.
    """

    name: str
    quantity: Quantity
    component: int

    def values(self, reading: SampledReading) -> NDArray[np.generic]:
        """The numbers of a reading, in the shape of its leading axes."""
        whole = np.asarray(getattr(reading, self.quantity.name))
        return whole.reshape(*reading.valid.shape, -1)[..., self.component]


def columns_of_reading(reading: SampledReading) -> tuple[Column, ...]:
    """The columns of a reading, which are the same for all of one sensor; empty for a kind without quantities.

    Positions and velocities of an encoder are in the unit of its joint, rad or m, which is not in their names.
    """
    return tuple(
        Column(name, quantity, component)
        for quantity in reading.quantities
        for component, name in enumerate(quantity.columns)
    )


_TABLES: dict[str, type[CsvTable] | type[ParquetTable]] = {"csv": CsvTable, "parquet": ParquetTable}


class ReadingTable(Protocol):
    """The file of one sensor; a registration names its own as a class that is called as `DetectionTable` is."""

    table: CsvTable | ParquetTable
    """Where the rows go."""

    def add(self, arrivals: list[Arrival[Any]]) -> None:
        """Add the rows of some readings."""


class SignalRecorder(Recorder):
    """Writes readings of inertial and other sampled sensors as they arrive, a row for each.

        with sn.record.SignalRecorder("signals") as recorder:
            for _ in env.run(10.0):
                recorder.record(env)

    Each sensor has a file of its name; lidars have none, and a radar a row for each detection (`DetectionTable`).
    Columns: time_ns, by the sensor's clock; arrival_ns, the true arrival time; world and sensor, if there are several;
    then one a number with its unit in its name (acceleration_x_m_s2), and the same without errors,
    truth_acceleration_x_m_s2. Integers are exact and floats keep every bit; cells of an invalid reading are empty.
    Files appear when the recorder is closed. The partial file of a killed process, imu.csv.part, can be read: see
    `CsvTable` and `ParquetTable`.
    """

    def __init__(
        self, folder: str | PathLike[str], *, format: Literal["csv", "parquet"] = "csv", truth: bool = True
    ) -> None:
        """Begin.

        Args:
            folder: Where the files go; made where it does not exist.
            format: Of the files; parquet needs the extra `parquet`.
            truth: Whether there are columns of truth.
        """
        if format not in _TABLES:
            raise SpecError(f"format is {format!r}; it must be one of {', '.join(_TABLES)}")
        if format == "parquet":
            require_pyarrow()
        self.folder = made_folder(folder)
        self._format, self._truth, self._closed = format, truth, False
        self._signals: dict[str, ReadingTable | None] = {}
        self._stems: set[str] = set()

    def record(self, env: Environment) -> None:
        """Record the last step of an environment: the readings that arrived in it."""
        if self._closed:
            raise SpecError(f"recorder of {str(self.folder)!r} is closed; nothing can be recorded any more")
        try:
            for sensor in env.sensors.values():
                arrivals = sensor.arrivals()
                if not arrivals:
                    continue
                if sensor.name not in self._signals:
                    self._signals[sensor.name] = self._begun(sensor, arrivals[0].reading)
                signal = self._signals[sensor.name]
                if signal is not None:
                    signal.add(arrivals)
        except OSError as error:
            raise self._failed(error) from None

    def close(self) -> None:
        """Move every file to its final name; nothing can be recorded after."""
        if self._closed:
            return
        self._closed = True
        try:
            for signal in self._signals.values():
                if signal is not None:
                    signal.table.close()
        except OSError as error:
            raise self._failed(error) from None

    def _begun(self, sensor: AttachedSensor[Any], reading: Any) -> "ReadingTable | None":
        """The file of a sensor that has its first reading; None for one that has no such file."""
        table_kind = kind_of(sensor.spec, type(reading)).table
        if table_kind == "none":
            return None
        if table_kind is not None:
            path = self.folder / f"{self._stem(sensor.name)}.{self._format}"
            made: ReadingTable = loaded(table_kind)(_TABLES[self._format], path, sensor.rig, truth=self._truth)
            return made
        columns = columns_of_reading(reading) if isinstance(reading, SampledReading) else ()
        if not columns:
            kind = type(reading).__name__
            warnings.warn(f"sensor {sensor.name!r} is in no table: no columns stand for its {kind}", stacklevel=3)
            return None
        stem = self._stem(sensor.name)
        kinds: dict[str, type] = {"time_ns": int, "arrival_ns": int}
        kinds |= {"world": int} if sensor.rig.world_axis else {}
        kinds |= {"sensor": int} if sensor.rig.sensor_axis else {}
        kinds |= {column.name: column.quantity.kind for column in columns}
        truths = tuple(column for column in columns if column.quantity.has_truth) if self._truth else ()
        kinds |= {f"truth_{column.name}": column.quantity.kind for column in truths}
        table = _TABLES[self._format](self.folder / f"{stem}.{self._format}", kinds)
        return _Signal(table, sensor.rig, columns, truths)

    def _stem(self, sensor: str) -> str:
        """The name of a sensor's file, which no other has."""
        stem = file_stem(sensor, self._stems)
        self._stems.add(stem)
        return stem

    def _failed(self, error: OSError) -> RecordError:
        return RecordError(f"{str(self.folder)!r} cannot be written any more: {error.strerror}")


class _Signal:
    """The file of one sensor."""

    def __init__(
        self, table: CsvTable | ParquetTable, rig: Rig, columns: tuple[Column, ...], truths: tuple[Column, ...]
    ) -> None:
        self.table = table
        self._columns, self._truths = columns, truths
        self._rows = rig.worlds * rig.sensors
        self._names: list[list[int]] = [
            [rig.first_world + world] * rig.world_axis + [number] * rig.sensor_axis
            for world in range(rig.worlds)
            for number in range(rig.sensors)
        ]

    def add(self, arrivals: list[Arrival[SampledReading]]) -> None:
        """Add a row for each world and sensor of each reading."""
        for arrival in arrivals:
            reading = arrival.reading
            cells = self._cells(self._columns, reading)
            if self._truths:
                cells += self._cells(self._truths, arrival.truth())
            valid = np.asarray(reading.valid).reshape(self._rows).tolist()
            for row, own in enumerate(self._names):
                start: list[Cell] = [reading.time_ns, arrival.arrival_ns, *own]
                self.table.add(start + [values[row] if valid[row] else None for values in cells])
        self.table.flush()

    def _cells(self, columns: tuple[Column, ...], reading: SampledReading) -> list[list[Any]]:
        """Values of each column, each a list over rows."""
        return [column.values(reading).reshape(self._rows).tolist() for column in columns]

"""Measurements of a sampled sensor and their truth, as a report keeps them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.sensors.common.attached import AttachedSensor
from sensorium.sensors.common.quantity import Quantity
from sensorium.sensors.common.sampled_reading import SampledReading
from sensorium.view.quantities import quantities_of, values_of
from sensorium.view.report.envelope import Envelope, packed
from sensorium.view.report.error_record import ErrorRecord

Float = NDArray[np.float64]

MOST_SENSORS = 4
"""Sensors of a row of a kind that are shown."""

# Stretches kept of each signal; readings are gathered and worked off together, which is cheaper, but not too many rows
_STRETCHES = 768
_GATHERED, _GATHERED_ROWS = 512, 1 << 16


class SignalRecord:
    """The signals of one attached sensor in the first world: measured, true, and the difference.

    Memory is bounded: an `Envelope` each for the measured value, the truth and the error, and an `ErrorRecord` of
    inertial channels. Errors are those of every reading, not of the kept ones alone.
    """

    def __init__(self, sensor: AttachedSensor[Any], reading: SampledReading) -> None:
        self.name = sensor.name
        self.quantities = quantities_of(reading)
        self.readings = 0
        self._sensor = sensor
        self._rows = min(sensor.rig.sensors, MOST_SENSORS)
        width = self._rows * sum(len(quantity.components) for quantity in self.quantities)
        self._measured, self._true, self._error = (Envelope(width, most=_STRETCHES) for _ in range(3))
        has_inertial = any(quantity.is_inertial for quantity in self.quantities)
        self._record = ErrorRecord(width) if has_inertial else None
        self._gathered: list[tuple[SampledReading, SampledReading]] = []
        self._together = max(1, min(_GATHERED, _GATHERED_ROWS // (sensor.rig.worlds * sensor.rig.sensors)))
        self._first_ns: int | None = None
        self._last_ns = 0

    def add(self, reading: SampledReading, truth: SampledReading) -> None:
        """Keep a reading; its time is the true one, not that of the sensor's clock."""
        self._gathered.append((reading, truth))
        self._first_ns = truth.time_ns if self._first_ns is None else min(truth.time_ns, self._first_ns)
        self._last_ns = max(self._last_ns, truth.time_ns)
        self.readings += 1
        if len(self._gathered) == self._together:
            self._work_off()

    def channels(self) -> int:
        """Number of signals that are shown."""
        return self._rows * sum(len(quantity.components) for quantity in self.quantities)

    def plots(self, most: int) -> list[dict[str, Any]]:
        """One plot for each quantity of each sensor, as page.js draws it.

        Args:
            most: Most stretches of each signal.
        """
        self._work_off()
        found = []
        for title, quantity, columns in self._of_each():
            lines = []
            for component, column in zip(quantity.components, columns, strict=True):
                signals = {"measured": self._measured, "truth": self._true, "error": self._error}
                shown: dict[str, Any] = {"name": component}
                for what, envelope in signals.items():
                    time_s, value = envelope.points(column, most=most)
                    shown[what] = {"t": packed(time_s), "v": packed(value.astype(np.float32))}
                lines.append(shown)
            found.append({"sensor": title, "title": quantity.title, "unit": quantity.unit, "lines": lines})
        return found

    def allan_plots(self) -> tuple[list[dict[str, Any]], str | None]:
        """The Allan deviation of the errors of each inertial quantity; None, with the reason, without one."""
        self._work_off()
        if self._record is None or self._first_ns is None:
            return [], None
        rate_hz = self._sensor.spec.timing.rate_hz or 1.0
        why = self._record.why_none(round((self._last_ns - self._first_ns) * 1e-9 * rate_hz) + 1)
        if why is not None:
            return [], f"{self.name}: no Allan plot, since {why}."
        curves, found = self._record.curves(rate_hz), []
        for title, quantity, columns in self._of_each():
            lines: list[dict[str, Any]] = []
            for component, column in zip(quantity.components, columns, strict=True):
                curve = curves[column]
                if curve is not None:
                    arrays = {"tau": curve.tau_s, "deviation": curve.deviation, "low": curve.low, "high": curve.high}
                    lines.append({"name": component} | {key: packed(a.astype(np.float32)) for key, a in arrays.items()})
            if quantity.is_inertial and lines:
                found.append({"sensor": title, "title": quantity.title, "unit": quantity.unit, "lines": lines})
        return found, None if found else f"{self.name}: no Allan plot, since there is no error; the sensor is ideal."

    def _of_each(self) -> list[tuple[str, Quantity, list[int]]]:
        """Name of the sensor, quantity and columns of everything that gets a plot."""
        found, column = [], 0
        for row in range(self._rows):
            name = f"{self.name}[{row}]" if self._sensor.rig.sensor_axis else self.name
            for quantity in self.quantities:
                size = len(quantity.components)
                found.append((name, quantity, list(range(column, column + size))))
                column += size
        return found

    def _work_off(self) -> None:
        """Pass the collected samples to the envelopes, in order of time: messages may have overtaken each other."""
        if not self._gathered:
            return
        self._gathered.sort(key=lambda pair: pair[1].time_ns)
        time_s = np.array([truth.time_ns for _, truth in self._gathered]) * 1e-9
        measured, true = (
            values_of(readings, self.quantities, self._rows).reshape(len(readings), -1)
            for readings in zip(*self._gathered, strict=True)
        )
        self._gathered.clear()
        error = measured - true
        self._measured.add(time_s, measured)
        self._true.add(time_s, true)
        self._error.add(time_s, error)
        if self._record is not None:
            self._record.add(error)

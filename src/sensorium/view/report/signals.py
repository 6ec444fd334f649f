"""Measurements of a sampled sensor and their truth, as a report keeps them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.analysis import allan_deviation
from sensorium.sensors.common.attached import AttachedSensor
from sensorium.sensors.common.sampled import Quantity, SampledReading
from sensorium.view.quantities import quantities_of, values_of
from sensorium.view.report.envelope import Envelope, packed

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


# Fewer samples than this say little, and a larger share of missing ones than this would distort the curve
_FEWEST_SAMPLES = 512
_MOST_MISSING = 0.01

# Means are used for averaging times of at least this many of them: there they overlap enough, and there are many
_LEAST_AVERAGED = 4


@dataclass(frozen=True)
class AllanCurve:
    """Allan deviation of one channel with its 95 % interval, arrays of shape (taus,)."""

    tau_s: Float
    deviation: Float
    low: Float
    high: Float


class ErrorRecord:
    """The first samples as they are, and means over equal stretches of all of them.

    The first give the Allan deviation at short averaging times, the means at long ones. When the means are full,
    neighbors are averaged and later ones are twice as long.
    """

    def __init__(self, channels: int, *, most: int = 1 << 16) -> None:
        """Begin.

        Args:
            channels: Signals of common times.
            most: Most samples, and most means, that are kept; an even number.
        """
        self._first = np.zeros((most, channels))
        self._means = np.zeros((most, channels))
        self._count, self._filled, self._width = 0, 0, 1
        self._rest = np.zeros((0, channels))
        self._missing, self._before = 0, np.zeros(channels)

    def add(self, errors: Float) -> None:
        """Add samples, shape (n, channels); one that is not finite counts as missing, and as the one before."""
        known = np.isfinite(errors)
        if not known.all():
            self._missing += int((~known).any(axis=1).sum())
            errors = _held(errors, known, self._before)
        if len(errors):
            self._before = errors[-1]
        room = max(0, min(len(errors), len(self._first) - self._count))
        self._first[self._count : self._count + room] = errors[:room]
        self._count += len(errors)

        # Means of all of it
        errors = np.concatenate([self._rest, errors])
        while len(errors) >= self._width:
            if self._filled == len(self._means):
                self._means[: self._filled // 2] = 0.5 * (self._means[0::2] + self._means[1::2])
                self._filled, self._width = self._filled // 2, 2 * self._width
                continue
            stretches = min(len(errors) // self._width, len(self._means) - self._filled)
            used = stretches * self._width
            means = errors[:used].reshape(stretches, self._width, -1).mean(axis=1)
            self._means[self._filled : self._filled + stretches] = means
            self._filled, errors = self._filled + stretches, errors[used:]
        self._rest = errors

    def why_none(self, expected: int) -> str | None:
        """Why there is no Allan plot, as words; None if there is one.

        Args:
            expected: How many samples there should have been.
        """
        if self._count < _FEWEST_SAMPLES:
            return f"{self._count} samples are too few; it needs {_FEWEST_SAMPLES}"
        missing = self._missing + max(0, expected - self._count)
        if missing > _MOST_MISSING * expected:
            return f"{100.0 * missing / expected:.1f} % of the samples are missing; at most 1 % may be"
        return None

    def curves(self, rate_hz: float) -> list[AllanCurve | None]:
        """The curve of each channel; None where there is no error at all."""
        kept = min(self._count, len(self._first))
        parts = [(allan_deviation(self._first[:kept], rate_hz), 0.0)]
        if self._count > kept:
            of_means = allan_deviation(self._means[: self._filled], rate_hz / self._width)
            parts.append((of_means, _LEAST_AVERAGED * self._width / rate_hz))
        begins = [begin for _, begin in parts] + [np.inf]
        curves: list[AllanCurve | None] = []
        for channel in range(self._first.shape[1]):
            if not self._first[:kept, channel].any():
                curves.append(None)
                continue
            columns = []
            for (allan, begin), end in zip(parts, begins[1:], strict=True):
                at = (allan.tau_s >= begin) & (allan.tau_s < end)
                columns.append([allan.tau_s[at], *(a[at, channel] for a in (allan.deviation, allan.low, allan.high))])
            curves.append(AllanCurve(*(np.concatenate(pieces) for pieces in zip(*columns, strict=True))))
        return curves


def _held(values: Float, known: NDArray[np.bool_], before: Float) -> Float:
    """Each unknown value replaced by the last known one of its channel."""
    whole, is_known = np.concatenate([before[None], values]), np.concatenate([np.ones((1, len(before)), bool), known])
    row = np.where(is_known, np.arange(len(whole))[:, None], 0)
    return np.take_along_axis(whole, np.maximum.accumulate(row, axis=0), axis=0)[1:]

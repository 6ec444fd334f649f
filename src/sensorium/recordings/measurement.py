"""Results of measuring a recording: figures with 95 % intervals, curves, and remarks; as JSON and as a table.

The file is a JSON object, written whole or not at all:

    {
      "kind": "sensorium.measurement", "version": 1,
      "device_kind": "lidar", "device": "VLP-16", "source": "parking.pcap",
      "figures": [
        {"quantity": "noise", "value": 0.0081, "unit": "m", "low": 0.0079, "high": 0.0083, "samples": 51234,
         "where": ""}, ...
      ],
      "curves": [
        {"quantity": "noise.by_range", "x_label": "range", "x_unit": "m", "y_label": "range noise", "y_unit": "m",
         "x": [...], "y": [...], "low": [...], "high": [...]}, ...
      ],
      "remarks": ["..."]
    }
"""

import json
import math
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError, in_one_line
from sensorium.files.atomic import replacing
from sensorium.files.plain_files import read_json

if TYPE_CHECKING:
    from rich.table import Table

KINDS = ("lidar", "camera", "depth_camera", "imu", "gnss", "radar", "waveform")

_KIND, _VERSION = "sensorium.measurement", 1

# Prefixes of units that tables print, by power of ten
_PREFIXES = {-12: "p", -9: "n", -6: "u", -3: "m", 0: "", 3: "k", 6: "M"}
_PREFIXED = (
    *("m", "s", "Hz", "m/s", "rad", "rad/s", "m/s^2", "V", "T"),
    *("rad/s/sqrt(Hz)", "m/s^2/sqrt(Hz)", "T/sqrt(Hz)", "rad/s/DN", "m/s^2/DN"),
)


class Figure(NamedTuple):
    """One number that was measured.

    Attributes:
        quantity: Dotted identifier in lower case, such as "noise" or "noise.by_range".
        value: The estimate, in `unit`.
        unit: SI, as "m", "s", "e-", "DN/e-"; "1" for a share or a count.
        low: Lower end of the 95 % interval.
        high: Upper end of the 95 % interval.
        samples: Number of values that the estimate was made from.
        where: Part of the recording, as "range 10 to 20 m" or "beam 3"; "" for all of it.
    """

    quantity: str
    value: float
    unit: str
    low: float
    high: float
    samples: int
    where: str = ""


class Curve(NamedTuple):
    """A quantity against another, with 95 % intervals; arrays have shape (n,).

    Attributes:
        quantity: Dotted identifier, as of a figure.
        x_label: What `x` is, as "range".
        x_unit: Unit of `x`.
        y_label: What `y` is, as "range noise".
        y_unit: Unit of `y`, `low` and `high`.
        x: Where.
        y: Estimates.
        low: Lower ends of the 95 % intervals.
        high: Upper ends of the 95 % intervals.
    """

    quantity: str
    x_label: str
    x_unit: str
    y_label: str
    y_unit: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


class Measurement(NamedTuple):
    """What a recording shows of a device.

    Attributes:
        kind: Kind of device, one of `KINDS`.
        device: Model as found in the recording, as "VLP-16"; "" where the recording does not name it.
        source: Name of the file or folder.
        figures: Numbers with their intervals.
        curves: Quantities against others, for pictures.
        remarks: Sentences on how it was measured, as "the scene is still".
    """

    kind: str
    device: str
    source: str
    figures: tuple[Figure, ...]
    curves: tuple[Curve, ...] = ()
    remarks: tuple[str, ...] = ()

    def figure(self, quantity: str, where: str = "") -> Figure:
        """The figure of this name and place; one that was not measured raises SpecError."""
        for each in self.figures:
            if each.quantity == quantity and each.where == where:
                return each
        place = f" for {where!r}" if where else ""
        raise SpecError(f"quantity is {quantity!r}{place}; {self.source!r} has no such figure")

    def of(self, quantity: str) -> tuple[Figure, ...]:
        """All figures of this name, one a place."""
        return tuple(each for each in self.figures if each.quantity == quantity)

    def curve(self, quantity: str) -> Curve:
        """The curve of this name; one that was not measured raises SpecError."""
        for each in self.curves:
            if each.quantity == quantity:
                return each
        raise SpecError(f"quantity is {quantity!r}; {self.source!r} has no such curve")

    def save(self, path: str | PathLike[str]) -> None:
        """Write the JSON file."""
        text = json.dumps(_as_json(self), indent=1, allow_nan=False) + "\n"
        with replacing(path) as file:
            file.write(text.encode())

    def table(self) -> "Table":
        """The figures as a table for a terminal, in units with prefixes."""
        from rich.box import SIMPLE_HEAD
        from rich.table import Table

        title = f"{self.device or self.kind} in {self.source}"
        table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False)
        for name in ("quantity", "value", "95 % interval", "unit", "samples"):
            table.add_column(name, justify="left" if name in ("quantity", "unit") else "right", no_wrap=True)
        before = ""
        for figure in self.figures:
            if figure.where and figure.quantity != before:
                table.add_row(figure.quantity)
            scale, unit = readable_unit(figure.value, figure.unit)
            digits = _decimals(figure, scale)
            value, low, high = (f"{each * scale:.{digits}f}" for each in (figure.value, figure.low, figure.high))
            first = f"  {figure.where}" if figure.where else figure.quantity
            interval = value if figure.low == figure.high else f"{low} to {high}"
            table.add_row(first, value, interval, unit, f"{figure.samples:,}")
            before = figure.quantity
        return table


def checked(measurement: Measurement) -> Measurement:
    """The same measurement if its numbers are finite and its intervals are in order; else SpecError."""
    if measurement.kind not in KINDS:
        raise SpecError(f"kind is {measurement.kind!r}; it must be one of {', '.join(KINDS)}")
    for each in measurement.figures:
        name = f"{each.quantity} {each.where}".strip()
        if not all(map(math.isfinite, (each.value, each.low, each.high))):
            raise SpecError(f"{name} is {each.value:g} in {each.low:g} to {each.high:g}; all must be finite")
        if each.low > each.high:
            raise SpecError(f"{name} has the interval {each.low:g} to {each.high:g}; its ends must be in order")
    for curve in measurement.curves:
        arrays = (curve.x, curve.y, curve.low, curve.high)
        if any(values.shape != (len(curve.x),) or not np.isfinite(values).all() for values in arrays):
            raise SpecError(f"curve {curve.quantity} must have finite x, y, low and high of one length")
    return measurement


def load_measurement(path: str | PathLike[str]) -> Measurement:
    """Read a file written by `Measurement.save`."""
    data = read_json(path)
    if not isinstance(data, dict) or data.get("kind") != _KIND or data.get("version") != _VERSION:
        raise SpecError(f"{str(path)!r} is no measurement; it must have kind {_KIND!r} and version {_VERSION}")
    try:
        return checked(_from_json(data))
    except SpecError as error:
        raise SpecError(f"{str(path)!r}: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise SpecError(f"{str(path)!r} is no whole measurement: {in_one_line(error)}") from None


def readable_unit(value: float, unit: str) -> tuple[float, str]:
    """Factor and unit with a prefix in which a value has one to three digits before the point."""
    if unit not in _PREFIXED or value == 0.0 or not math.isfinite(value):
        return 1.0, unit
    power = min(max(3 * math.floor(math.log10(abs(value)) / 3.0 + 1e-12), min(_PREFIXES)), max(_PREFIXES))
    if power > 0 and unit not in ("Hz", "V"):
        power = 0
    return 10.0**-power, _PREFIXES[power] + unit


def _decimals(figure: Figure, scale: float) -> int:
    """Decimals that show two digits of the interval's width, or five digits of a value without one."""
    width, size = (figure.high - figure.low) * scale, abs(figure.value) * scale
    if width > 0.0:
        return min(max(1 - math.floor(math.log10(width)), 0), 6)
    return min(max(4 - math.floor(math.log10(size)), 0), 6) if size > 0.0 and abs(size - round(size)) > 1e-9 else 0


def _as_json(measurement: Measurement) -> dict[str, Any]:
    checked(measurement)
    return {
        "kind": _KIND,
        "version": _VERSION,
        "device_kind": measurement.kind,
        "device": measurement.device,
        "source": measurement.source,
        "figures": [{name: _plain(value) for name, value in each._asdict().items()} for each in measurement.figures],
        "curves": [{name: _plain(value) for name, value in each._asdict().items()} for each in measurement.curves],
        "remarks": list(measurement.remarks),
    }


def _plain(value: Any) -> Any:
    """NumPy numbers and arrays as Python's."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _from_json(data: dict[str, Any]) -> Measurement:
    return Measurement(
        kind=str(data["device_kind"]),
        device=str(data["device"]),
        source=str(data["source"]),
        figures=tuple(_figure(each) for each in data["figures"]),
        curves=tuple(_curve(each) for each in data["curves"]),
        remarks=tuple(str(each) for each in data["remarks"]),
    )


def _figure(data: dict[str, Any]) -> Figure:
    value, low, high = (float(data[name]) for name in ("value", "low", "high"))
    return Figure(str(data["quantity"]), value, str(data["unit"]), low, high, int(data["samples"]), str(data["where"]))


def _curve(data: dict[str, Any]) -> Curve:
    labels = [str(data[name]) for name in Curve._fields[:5]]
    arrays = [np.array(data[name], np.float64).reshape(-1) for name in Curve._fields[5:]]
    return Curve(*labels, *arrays)  # type: ignore[arg-type]

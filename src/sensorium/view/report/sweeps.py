"""The last sweep of a lidar in a report: points in space, and the sweep as an image."""

from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.patterns import Spinning
from sensorium.patterns.base import sweep_duration_ns
from sensorium.sensors.common.attached import AttachedSensor
from sensorium.sensors.lidar.lidar import Lidar
from sensorium.sensors.lidar.scan import Cause, Scan
from sensorium.view import lidar_plots as draw
from sensorium.view.lidar_plots import CAUSE_COLORS
from sensorium.view.plots import FAINT, Extent, label_colors, range_image
from sensorium.view.quantities import world_points
from sensorium.view.report.envelope import levels, packed
from sensorium.view.report.pictures import figure_address
from sensorium.view.report.signals import MOST_SENSORS

# Least rows and columns of an image
_LEAST_PIXELS = 4

# Colors of points take one byte each; labels beyond these are shown as unlabeled
_MOST_LABELS = 250


class SweepRecord:
    """The last sweep of one attached lidar in the first world, or the slices that make it up, and counts of all."""

    def __init__(self, sensor: AttachedSensor[Any]) -> None:
        spec = sensor.spec
        assert isinstance(spec, Lidar)
        self.name = sensor.name
        self.readings, self.rays, self.returns = 0, 0, 0
        self._pattern = spec.pattern
        self._sensor = sensor
        self._duration_ns = sweep_duration_ns(spec.pattern.rate_hz)
        self._last: deque[Scan] = deque()

    def add(self, scan: Scan) -> None:
        """Keep a scan, and let those go that are older than a sweep."""
        self.readings += 1
        self.rays += scan.offset_ns.size * self._sensor.rig.worlds * self._sensor.rig.sensors
        self.returns += int(np.count_nonzero(scan.valid))
        self._last.append(scan)
        while self._last[0].end_ns <= scan.end_ns - self._duration_ns:
            self._last.popleft()

    def rows(self) -> list[tuple[str, list[Scan]]]:
        """Name of each sensor that is shown, and the scans of its last sweep."""
        rig = self._sensor.rig
        names = [f"{self.name}[{row}]" if rig.sensor_axis else self.name for row in range(rig.sensors)]
        return [(name, [scan.one(row) for scan in self._last]) for row, name in enumerate(names[:MOST_SENSORS])]

    def clouds(self, labels: Mapping[str, int], most: int) -> list[dict[str, Any]]:
        """The points of the last sweep of each sensor, in the world.

        Args:
            labels: Number of each label name.
            most: Most points of each; of more every so-manieth is shown.
        """
        return [_cloud(name, scans, labels, most) for name, scans in self.rows() if scans]

    def images(self, labels: Mapping[str, int]) -> list[dict[str, str]]:
        """The last sweep of each sensor as an image of ranges and labels, where the pattern makes one."""
        found = []
        for name, scans in self.rows():
            if not scans:
                continue
            up = slice(None, None, -1 if _rises(self._pattern) else 1)
            ranges, numbers = (
                np.concatenate([_first_return(getattr(scan, field))[up] for scan in scans], axis=-1)
                for field in ("range_m", "label")
            )
            if min(ranges.shape) < _LEAST_PIXELS:
                continue
            extent = _extent_deg(self._pattern, ranges.shape)
            figure = range_image(ranges, numbers, labels, extent_deg=extent, title="")
            when_s = scans[-1].end_ns * 1e-9
            words = f"Range (above) and label (below) of each ray, sweep that ended at {when_s:.3f} s"
            found.append({"sensor": name, "words": words, "address": figure_address(figure)})
        return found

    def waveforms(self) -> list[dict[str, str]]:
        """A pulse of the last sweep of each sensor, where samples are kept."""
        return [image for name, scans in self.rows() for image in waveform_images(name, scans)]


def _first_return(array: NDArray[Any]) -> NDArray[Any]:
    """The first of several returns of each ray, shape (channels, columns)."""
    return array if array.ndim == 2 else array[0]


def _rises(pattern: Any) -> bool:
    """Whether the last row of a sweep looks higher than the first: an image has its top row first."""
    heights = pattern.rays(0).direction_S[..., 2].mean(axis=1)
    return bool(heights[-1] > heights[0])


def _extent_deg(pattern: Any, shape: tuple[int, ...]) -> Extent | None:
    """Angles at the edges of a sweep's image, where rows and columns are evenly spaced in them."""
    if not isinstance(pattern, Spinning) or shape != (len(pattern.elevation_deg), pattern.columns):
        return None
    steps = np.diff(pattern.elevation_deg)
    if not np.allclose(steps, steps[0], rtol=1e-6):
        return None
    sense = -1.0 if pattern.direction == "clockwise" else 1.0
    if pattern.azimuth_min_deg is not None and pattern.azimuth_max_deg is not None:
        begin, end = (pattern.azimuth_min_deg, pattern.azimuth_max_deg)[:: int(sense)]
    else:
        begin = pattern.start_azimuth_deg or 0.0
        end = begin + 360.0 * sense
    return begin, end, min(pattern.elevation_deg), max(pattern.elevation_deg)


def _cloud(name: str, scans: list[Scan], labels: Mapping[str, int], most: int) -> dict[str, Any]:
    flat = [scan.flat() for scan in scans]
    total = sum(len(scan.range_m) for scan in flat)

    # Evenly spaced among all returns, so that it is the same every time; then into the world
    chosen = np.arange(total) if total <= most else (np.arange(most) * total) // most
    points, columns, done = [], [], 0
    for scan in flat:
        size = len(scan.range_m)
        at = chosen[(chosen >= done) & (chosen < done + size)] - done
        done += size
        points.append(world_points(scan, at))
        columns.append((scan.label[at], scan.cause[at], scan.intensity[at]))
    xyz = np.concatenate(points)
    label, cause, intensity = (np.concatenate(column) for column in zip(*columns, strict=True))

    # Places as steps of the cloud's own bounds, a 65,535th each
    low, high = (xyz.min(axis=0), xyz.max(axis=0)) if len(xyz) else (np.zeros(3), np.ones(3))
    sweep: dict[str, Any] = {
        "sensor": name,
        "count": len(xyz),
        "total": total,
        "end_s": scans[-1].end_ns * 1e-9,
        "low": low.tolist(),
        "high": high.tolist(),
        "places": [packed(levels(xyz[:, k], low[k], high[k], np.uint16)) for k in range(3)],
        "label": _by_label(label, labels),
    }
    if scans[0].light is not None:
        sweep["cause"] = _by_cause(cause)
        sweep["intensity"] = _by_intensity(intensity)
    return sweep


def _by_label(label: NDArray[Any], labels: Mapping[str, int]) -> dict[str, Any]:
    """Index of each point's label among those seen, with their names and colors; the last has no label."""
    colors = label_colors(labels)
    seen = [(key, number) for key, number in labels.items() if (label == number).any()][:_MOST_LABELS]
    index = np.full(label.shape, len(seen), np.uint8)
    for place, (_, number) in enumerate(seen):
        index[label == number] = place
    names, paints = [key for key, _ in seen], [_hex(colors[number]) for _, number in seen]
    if (index == len(seen)).any():
        names, paints = [*names, "no label"], [*paints, FAINT]
    return {"index": packed(index), "names": names, "colors": paints}


def _by_cause(cause: NDArray[Any]) -> dict[str, Any]:
    seen = [kind for kind in CAUSE_COLORS if (cause == kind).any()]
    index = np.zeros(cause.shape, np.uint8)
    for place, kind in enumerate(seen):
        index[cause == kind] = place
    names = [Cause(kind).name.lower().replace("_", " ") for kind in seen]
    return {"index": packed(index), "names": names, "colors": [CAUSE_COLORS[kind] for kind in seen]}


def _by_intensity(intensity: NDArray[Any]) -> dict[str, Any]:
    """Powers of ten of the intensity, between the first and the last percentile."""
    power = np.log10(np.maximum(intensity.astype(np.float64), 1e-30))
    low, high = np.percentile(power, [1.0, 99.0]) if len(power) else (0.0, 1.0)
    return {"level": packed(levels(power, low, high, np.uint8)), "low": float(low), "high": float(high)}


def _hex(color: NDArray[np.float64]) -> str:
    return "#" + "".join(f"{round(255.0 * part):02x}" for part in color)


# Margins before the first return and behind the last, as shares of their distance and of the range
_MARGIN, _LEAST_MARGIN_M = 0.25, 2.0


def waveform_images(name: str, scans: list[Scan]) -> list[dict[str, str]]:
    """The most informative pulse of a sweep, if its samples were kept.

    Args:
        name: Of the sensor.
        scans: Of one sensor, those of its last sweep.
    """
    kept = [scan for scan in scans if scan.waveform is not None]
    if not kept:
        return []
    scan, at = _most_telling(kept)
    waveform = scan.waveform
    assert waveform is not None
    samples, range_m = waveform.samples[at] * 1e9, waveform.range_m
    seen = _returns(scan.range_m)[(slice(None), *at)] > 0.0
    ranges, causes = (_returns(array)[(slice(None), *at)][seen] for array in (scan.range_m, scan.cause))

    figure, (axes,) = draw.canvas(9.0, 3.4)
    draw.frame(axes, "", "range [m]", "received [nW]")
    axes.step(range_m, samples, where="mid", color=draw.COLORS[0], linewidth=1.0)
    for each in ranges:
        axes.axvline(each, color=draw.COLORS[-1], linewidth=0.8, linestyle=(0, (3, 3)), zorder=1.0)
    draw.points_by_cause(axes, ranges, np.interp(ranges, range_m, samples), causes, size=55, layer=4.0)
    if len(ranges):
        draw.key(axes)
        margin = max(_MARGIN * float(np.ptp(ranges)), _LEAST_MARGIN_M)
        axes.set_xlim(max(ranges.min() - margin, range_m[0]), min(ranges.max() + margin, range_m[-1]))
    found = ", ".join(
        f"{Cause(cause).name.lower().replace('_', ' ')} at {each:.2f} m"
        for each, cause in zip(ranges, causes, strict=True)
    )
    row, column = at
    words = f"Waveform of the pulse of channel {row}, column {column}; returns: {found or 'none'}"
    return [{"sensor": name, "words": words, "address": figure_address(figure)}]


def _returns(array: NDArray[Any]) -> NDArray[Any]:
    """With an axis of returns first, shape (returns, channels, columns)."""
    return array if array.ndim == 3 else array[None]


def _most_telling(scans: list[Scan]) -> tuple[Scan, tuple[int, int]]:
    """The scan and the channel and column of the pulse with most returns, and of those the highest."""
    best: tuple[int, float] | None = None
    for scan in scans:
        assert scan.waveform is not None
        count, peak = (_returns(scan.range_m) > 0.0).sum(axis=0), scan.waveform.samples.max(axis=-1)
        most = count == count.max()
        flat = int(np.argmax(np.where(most, peak, -np.inf)))
        row, column = np.unravel_index(flat, count.shape)
        score = (int(count[row, column]), float(peak[row, column]))
        if best is None or score > best:
            best, chosen = score, (scan, (int(row), int(column)))
    return chosen

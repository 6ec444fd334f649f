"""A pulse of a waveform lidar in the report: received signal over range, and the returns found in it."""

import base64
import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.sensors.lidar.scan import Cause, Scan
from sensorium.view import lidar_plots as draw

_IMAGE_DPI = 95

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
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=_IMAGE_DPI, facecolor=figure.get_facecolor(), metadata={})
    found = ", ".join(
        f"{Cause(cause).name.lower().replace('_', ' ')} at {each:.2f} m"
        for each, cause in zip(ranges, causes, strict=True)
    )
    row, column = at
    words = f"Waveform of the pulse of channel {row}, column {column}; returns: {found or 'none'}"
    address = "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
    return [{"sensor": name, "words": words, "address": address}]


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

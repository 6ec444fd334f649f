"""A data sheet of a lidar's pulse from recorded waveforms.

A sample of the model is the mean of the received power over its bin, of length T, and so is that of the measured shape
h. The shape of the sheet is the one whose means are h, to fourth order in T:

    s(t) = h(t) - (h(t + T) - 2 h(t) + h(t - T)) / 24
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.recordings.fit.fitted import Fitted, estimate, fitted, held_figures, of_figure, value
from sensorium.recordings.measure.waveform import measure_waveform
from sensorium.recordings.measurement import Curve
from sensorium.recordings.readers.las_waveforms import WaveformRecording

Float = NDArray[np.float64]

_HELD = ("pulse.fwhm", "pulse.rise_time", "pulse.fall_time", "pulse.fwhm.by_amplitude")

_LEAST_POINTS = 40

# Points of the sheet's shape within a sample, and height below which its ends are cut off
_WITHIN, _FAINT = 4, 2e-3


def fit_waveform(recording: WaveformRecording, *, hold_out: bool = True) -> Fitted:
    """Fit a sheet to every second pulse, and hold it against those between.

    Args:
        recording: Waveforms.
        hold_out: False fits it to all pulses.
    """
    used, rest = halves(recording) if hold_out else (recording, None)
    measurement = measure_waveform(used)
    spacing = measurement.figure("sample_spacing")
    time_s, shape = _pulse(measurement.curve("pulse.shape"), spacing.value)
    width = measurement.figure("pulse.fwhm")
    note = "A LAS file has points of all beams; the sheet is of one beam ahead."
    values: dict[str, Any] = {
        "frame_rate": estimate(10.0, "Hz", note),
        "pulse": of_figure(width, "ns", 1e9),
        "pulse_times": value((1e9 * time_s).tolist(), "ns", "pulse.shape"),
        "pulse_shape": value(shape.tolist(), "1", "pulse.shape, without the length of a sample"),
        "sample_spacing": value(1e9 * spacing.value, "ns", "sample_spacing"),
    }
    head = {
        "kind": "lidar",
        "model": f"pulse in {measurement.source}",
        "description": f"pulse of {1e9 * width.value:.3g} ns, as measured in {measurement.source}",
        "scan": "single",
    }
    held = held_figures(measurement, None if rest is None else measure_waveform(rest), _HELD)
    return fitted(head, values, measurement, held_out=held, is_whole=not hold_out, remarks=measurement.remarks)


def halves(recording: WaveformRecording) -> tuple[WaveformRecording, WaveformRecording | None]:
    """Every second pulse from the first, and those between."""
    first, second = (
        recording._replace(
            groups=tuple(
                group._replace(
                    samples=group.samples[part::2],
                    returns=group.returns[part::2],
                    location_s=group.location_s[part::2],
                )
                for group in recording.groups
            )
        )
        for part in (0, 1)
    )
    return first, second


def _pulse(curve: Curve, spacing_s: float) -> tuple[Float, Float]:
    """Times from the peak [s], rising, and shares of it, from where the pulse rises to where it has fallen."""
    if len(curve.x) < _LEAST_POINTS:
        raise SpecError(f"the mean pulse has {len(curve.x)} points; a sheet needs {_LEAST_POINTS}, of more pulses")
    first, last = (_WITHIN * end / spacing_s for end in (curve.x[0], curve.x[-1]))
    time_s = np.arange(math.ceil(first), math.floor(last) + 1) * spacing_s / _WITHIN
    before, here, after = (np.interp(time_s + k * spacing_s, curve.x, curve.y) for k in (-1, 0, 1))
    shape = np.maximum(here - (after - 2.0 * here + before) / 24.0, 0.0)
    high = np.flatnonzero(shape > _FAINT)
    kept = slice(max(high[0] - 1, 0), high[-1] + 2)
    shape = shape[kept] / shape.max()
    shape[[0, -1]] = 0.0
    return time_s[kept], shape

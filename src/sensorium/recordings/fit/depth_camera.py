"""A data sheet of a stereo depth camera from its depth frames."""

import math
from typing import Any

import numpy as np

from sensorium.core.errors import SpecError
from sensorium.devices import Sheet, describe
from sensorium.recordings.fit.fitted import (
    Fitted,
    estimate,
    fitted,
    held_figures,
    kept,
    maker_of,
    of_figure,
    value,
)
from sensorium.recordings.measure.depth_camera import measure_depth_camera
from sensorium.recordings.readers.realsense import DepthRecording

LIBRARY = {"Intel RealSense D435": "intel-realsense-d435", "Intel RealSense D455": "intel-realsense-d455"}
"""Data sheet of the library for a device as a recording names it."""

_HELD = ("disparity_noise", "disparity_noise.by_depth", "disparity_quantum")
_LEAST_STEPS = 4
_NS = 1e-9


def fit_depth_camera(recording: DepthRecording, *, hold_out: bool = True) -> Fitted:
    """Fit a sheet to every second frame, and hold it against those between.

    The noise is that about planes without the rounding of disparities, q^2 / 12. The step of disparities is the power
    of two within its interval.

    Args:
        recording: Depth frames.
        hold_out: False fits it to all frames.
    """
    used, rest = halves(recording) if hold_out else (recording, None)
    measurement = measure_depth_camera(used)
    quantum = measurement.of("disparity_quantum")
    if not quantum:
        raise SpecError(f"{measurement.source!r} shows no step of disparities; a sheet needs one")
    bits = round(-math.log2(quantum[0].value))
    step_px = 2.0**-bits
    noise = measurement.figure("disparity_noise")
    inner = math.sqrt(max(noise.value**2 - step_px**2 / 12.0, 0.0)) / noise.value
    noise = noise._replace(value=inner * noise.value, low=inner * noise.low, high=inner * noise.high)
    known = LIBRARY.get(recording.device)
    base = describe(known).sheet if known is not None else None
    size, focal = recording.codes.shape, recording.focal_px
    what = "intrinsics of the bag"
    values: dict[str, Any] = {
        "columns": value(size[2], "1", "size of the frames"),
        "rows": value(size[1], "1", "size of the frames"),
        "focal_length": value(focal, "px", what),
        **_frame_rate(recording, base),
        "depth_unit": value(1e3 * recording.unit_m, "mm", "depth unit of the bag"),
        "baseline": value(1e3 * recording.baseline_m, "mm", "baseline of the bag", **maker_of(base, "baseline")),
        "disparity_noise": of_figure(noise, "px", 1.0, "disparity_noise, without the rounding", means="1 sigma"),
        "disparity_quantum": value(step_px, "px", f"disparity_quantum, measured {quantum[0].value:.6g}"),
        **kept(base, ("min_range", "max_range")),
    }
    remarks = [*measurement.remarks, f"fitted to {len(used.codes)} of {size[0]} frames"]
    if recording.firmware:
        remarks.append(f"the firmware is {recording.firmware}")
    head = {
        "kind": "depth_camera",
        "model": recording.device or "stereo camera",
        "description": f"stereo camera at {size[2]} x {size[1]}, as measured in {measurement.source}",
        "principle": "stereo",
    }
    held = held_figures(measurement, None if rest is None else measure_depth_camera(rest), _HELD)
    return fitted(head, values, measurement, base=base, held_out=held, is_whole=not hold_out, remarks=remarks)


def halves(recording: DepthRecording) -> tuple[DepthRecording, DepthRecording | None]:
    """Every second frame from the first, and those between; of one frame that one, and None."""
    if len(recording.codes) < 2:
        return recording, None
    first, second = (
        recording._replace(codes=recording.codes[part::2], time_ns=recording.time_ns[part::2]) for part in (0, 1)
    )
    return first, second


def _frame_rate(recording: DepthRecording, base: Sheet | None) -> dict[str, Any]:
    """By the median step of several frames; bags of a few may leave frames out."""
    steps = np.diff(recording.time_ns)
    if len(steps) >= _LEAST_STEPS and np.median(steps) > 0:
        return {"frame_rate": value(1.0 / (_NS * float(np.median(steps))), "Hz", "times of the frames")}
    return kept(base, ("frame_rate",)) or {"frame_rate": estimate(30.0, "Hz", "The recording has too few frames.")}

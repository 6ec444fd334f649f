"""What a spinning lidar does, measured in a recording: noise, bias, timing, returns, signal."""

import numpy as np

from sensorium.core.errors import SpecError
from sensorium.recordings.measure.lidar_bias import bias_figures
from sensorium.recordings.measure.lidar_motion import motion_of
from sensorium.recordings.measure.lidar_noise import distribution_figures, noise, noise_figures
from sensorium.recordings.measure.lidar_rays import pairs_of, rays_of, windows_of
from sensorium.recordings.measure.lidar_returns import dropout_figures, quantum_figure, separation_figures
from sensorium.recordings.measure.lidar_signal import signal_figures
from sensorium.recordings.measure.lidar_timing import timing_figures
from sensorium.recordings.measurement import Curve, Figure, Measurement
from sensorium.recordings.scans import LidarRecording

MOST_RAYS = 8_000_000
"""Rays that are measured at once; of a longer recording its first turns are."""

# A shift of this part of the noise is no motion
_STILL = 0.05


def measure_lidar(
    recording: LidarRecording, *, along_rings: bool = False, like: Measurement | None = None
) -> Measurement:
    """Figures, curves and remarks of a recording; what each is, is in docs/recordings.md.

    Args:
        recording: Columns of a spinning lidar.
        along_rings: Measure noise along rings, even if the scene is still.
        like: Of another recording, whose bins of noise are taken, to stand beside it.
    """
    if not (recording.range_m > 0.0).any():
        raise SpecError(f"{recording.source!r} has no return of {recording.device}")
    figures, curves, remarks = timing_figures(recording), list[Curve](), list(recording.remarks)
    recording, unit_m = _bounded(recording, remarks), recording.range_unit_m
    rays = rays_of(recording)
    windows = windows_of(recording, rays)
    ring = noise(windows, is_temporal=False, unit_m=unit_m)
    pairs = pairs_of(recording, rays, unit_m if ring is None else max(ring.value, unit_m))
    motion = motion_of(recording, pairs)
    is_still = motion is not None and ring is not None and motion.shift_m.low < _STILL * ring.value
    if motion is not None:
        figures.append(Figure("motion.shift", motion.shift_m.value, "m", *motion.shift_m[1:], len(pairs.azimuth)))
        figures.append(
            Figure("motion.rotation", motion.rotation.value, "rad", *motion.rotation[1:], len(pairs.azimuth))
        )
    remarks.append(_remark(is_still, None if motion is None else motion.shift_m.value, along_rings=along_rings))
    is_still = is_still and not along_rings
    figures.append(quantum_figure(recording))
    parts = [noise_figures(pairs.samples if is_still else windows, is_temporal=is_still, unit_m=unit_m, like=like)]
    if ring is not None:
        parts.append(([Figure("noise.along_ring", ring.value, "m", ring.low, ring.high, len(windows.block))], []))
        parts.append(bias_figures(recording, ring.value))
        if recording.elevation is None:
            remarks.append("angles of the beams are not known: their biases are not measured; give a calibration")
    if is_still:
        parts += [distribution_figures(pairs.samples, unit_m=unit_m), signal_figures(recording, rays)]
    parts += [dropout_figures(recording, rays, is_temporal=is_still), separation_figures(recording)]
    for more, drawn in parts:
        figures, curves = figures + more, curves + drawn
    return Measurement("lidar", recording.device, recording.source, tuple(figures), tuple(curves), tuple(remarks))


def _bounded(recording: LidarRecording, remarks: list[str]) -> LidarRecording:
    """The first turns of a long recording."""
    if recording.range_m[:, :, 0].size <= MOST_RAYS:
        return recording
    turns = max(int(recording.turn[max(MOST_RAYS // recording.channels, 1)]), 2)
    remarks.append(f"the first {turns} of {int(recording.turn[-1]) + 1} turns are measured")
    return recording.of_turns(0, turns)


def _remark(is_still: bool, shift_m: float | None, *, along_rings: bool) -> str:
    if shift_m is None:
        return "the recording has no two whole turns: noise is measured along rings"
    shown = np.format_float_positional(1e3 * shift_m, precision=2, fractional=False, trim="-")
    moved = f"by {shown} mm from turn to turn"
    if is_still:
        way = "along rings, as in the part that moves" if along_rings else "between turns"
        return f"the scene is still: it shifts {moved}; noise is measured {way}"
    return f"the scene moves {moved}: noise is measured along rings"

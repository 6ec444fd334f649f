"""Figures of an IMU beside its true orientation: noise and bias at rest, tilt, and drift of integrated rates.

At rest, the specific force points up: its angle from the true up R^T z is the tilt error, of the accelerometer and of
the alignment of both frames. In motion the rates, less their mean at rest, are integrated over stretches of T seconds
and compared with the true turn:

    theta = 2 asin(|R_true - R_gyro|_F / (2 sqrt(2)))        R: the fixed axes seen from the IMU

Drift by white noise N alone is N sqrt(3 T); a drift far above it is of scale, misalignment, bias and of the cameras.
"""

import math

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.core.frames import Pose
from sensorium.recordings.measure.figures import median_figure
from sensorium.recordings.measure.imu import ImuRest, rest_bias_figures, white_noise, white_noise_figures
from sensorium.recordings.measure.imu_calibration import turned_directions
from sensorium.recordings.measurement import Figure, Measurement
from sensorium.recordings.readers.imu_truth import TruthRecording

Float = NDArray[np.float64]

_LEAST_REST_S, _MARGIN_S, _STRETCH_S = 5.0, 1.0, 5.0
_LEAST_STRETCHES = 4


def measure_imu_truth(recording: TruthRecording) -> Measurement:
    """Noise, bias, tilt error and drift; the IMU must rest for five seconds at some time."""
    start, end = longest_rest(recording)
    rate_hz, rest = recording.rate_hz, slice(start, end)
    samples, seconds = end - start, (end - start) / recording.rate_hz
    figures: list[Figure] = []
    for name, values, unit in (
        ("gyroscope", recording.gyroscope[rest], "rad/s"),
        ("accelerometer", recording.accelerometer[rest], "m/s^2"),
        ("magnetometer", recording.magnetometer[rest], "T"),
    ):
        fit = white_noise(values, rate_hz)
        figures += white_noise_figures(name, fit, np.ones(3), unit)
        if name == "gyroscope":
            figures += rest_bias_figures(name, fit, values.mean(axis=0), unit)
    tilt = tilt_errors(recording.accelerometer[rest], recording.orientation[rest])
    if len(tilt) >= _LEAST_STRETCHES:
        figures.append(median_figure("accelerometer.tilt_error", tilt, "rad", samples))
    drift = rotation_drift(recording, recording.gyroscope[rest].mean(axis=0))
    if len(drift) >= _LEAST_STRETCHES:
        where = f"over {_STRETCH_S:g} s in motion"
        count = round(_STRETCH_S * rate_hz) * len(drift)
        figures.append(median_figure("gyroscope.drift", drift, "rad", count, where=where))
    known = float(np.isfinite(recording.orientation[:, 0]).mean())
    remarks = (
        f"the longest rest has {seconds:.1f} s; the true orientation is known for {100 * known:.1f} % of the samples",
        "white noise is two-sided; data sheets give sqrt(2) times as much",
    )
    return Measurement("imu", "", recording.path.name, tuple(figures), (), remarks)


def imu_truth_rest(recording: TruthRecording) -> ImuRest:
    """The longest rest of a log."""
    rest = slice(*longest_rest(recording))
    triads = {"accelerometer": recording.accelerometer[rest], "gyroscope": recording.gyroscope[rest]}
    return ImuRest(recording.path.name, recording.rate_hz, triads, {})


def longest_rest(recording: TruthRecording) -> tuple[int, int]:
    """First sample of the longest rest and the one after its last, a second away from motion and from the ends."""
    edges = np.flatnonzero(np.diff(np.concatenate([[True], recording.moving, [True]]).astype(np.int8)))
    if len(edges) == 0:
        raise SpecError(f"{recording.path.name!r} has no rest; the IMU must rest for {_LEAST_REST_S:g} s")
    starts, ends = edges[::2], edges[1::2]
    longest, margin = int(np.argmax(ends - starts)), round(_MARGIN_S * recording.rate_hz)
    start, end = int(starts[longest]) + margin, int(ends[longest]) - margin
    if end - start < _LEAST_REST_S * recording.rate_hz:
        rest_s = max(end - start, 0) / recording.rate_hz
        name = recording.path.name
        raise SpecError(f"the longest rest of {name!r} has {rest_s:.1f} s; it must have {_LEAST_REST_S:g}")
    return start, end


def tilt_errors(accelerometer: Float, orientation: Float) -> Float:
    """Angle between the specific force and the true up, of each tenth of the rest [rad]."""
    angles = []
    for force, quaternions in zip(np.array_split(accelerometer, 10), np.array_split(orientation, 10), strict=True):
        known = np.isfinite(quaternions[:, 0])
        if known.any():
            up, mean = _fixed_axes(quaternions[known])[:, 2].mean(axis=0), force.mean(axis=0)
            cosine = float(up @ mean / (np.linalg.norm(up) * np.linalg.norm(mean)))
            angles.append(math.acos(min(max(cosine, -1.0), 1.0)))
    return np.array(angles)


def rotation_drift(recording: TruthRecording, bias: Float) -> Float:
    """Angle between the true turn and the integrated one, of each stretch in motion with a known truth [rad]."""
    steps = round(_STRETCH_S * recording.rate_hz)
    begins = np.arange(0, len(recording.moving) - steps, steps)
    known = np.isfinite(recording.orientation[:, 0])
    moved = np.array([recording.moving[k : k + steps].all() for k in begins], bool)
    begins = begins[moved & known[begins] & known[begins + steps]]
    if len(begins) == 0:
        return np.zeros(0)
    before, after = (_fixed_axes(recording.orientation[begins + shift]) for shift in (0, steps))
    # Fixed axes turn backwards with the rates, which are taken midway between two samples
    rates = 0.5 * (recording.gyroscope[:-1] + recording.gyroscope[1:]) - bias
    turning = np.repeat(np.stack([rates[k : k + steps] for k in begins], axis=1), 3, axis=1) / recording.rate_hz
    turned = turned_directions(before.reshape(-1, 3), turning, np.eye(3)[None])[0].reshape(-1, 3, 3)
    apart = np.linalg.norm(turned - after, axis=(1, 2))
    return np.asarray(2.0 * np.arcsin(np.clip(apart / (2.0 * math.sqrt(2.0)), 0.0, 1.0)))


def _fixed_axes(orientation: Float) -> Float:
    """Axes of the fixed frame seen from the IMU, shape (n, 3, 3): rows of the rotation matrices."""
    return Pose(np.zeros((len(orientation), 3)), orientation).rotation

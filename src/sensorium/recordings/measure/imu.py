"""Figures of an IMU from a log that begins at rest and goes through still poses: calibration and white noise.

White noise N is that of the Allan deviation of the rest at the beginning (`analysis.fit_allan`, two-sided: samples at
a rate f have the deviation N sqrt(f); data sheets give sqrt(2) N), brought to SI by the scales of the calibration.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.analysis import AllanFit, allan_deviation, fit_allan
from sensorium.recordings.measure.figures import deviation_figure, student_figure
from sensorium.recordings.measure.imu_calibration import (
    Calibrated,
    calibrate_accelerometer,
    calibrate_gyroscope,
    still_poses,
)
from sensorium.recordings.measurement import Curve, Figure, Measurement
from sensorium.recordings.readers.still_poses import InertialRecording

Float = NDArray[np.float64]

UNITS = {"accelerometer": "m/s^2", "gyroscope": "rad/s"}
"""Of the triads."""

_AXES = "xyz"
_PAIRS = ("yz", "zy", "zx", "xz", "xy", "yx")
_WHITE_UP_TO_S = 1.0


def measure_imu(recording: InertialRecording) -> Measurement:
    """Bias, scale, misalignment and white noise of an IMU.

    Args:
        recording: Raw values; the IMU rests at first, then lies still in poses of different directions.
    """
    gravity_m_s2 = recording.gravity_m_s2
    found = still_poses(recording.accelerometer, recording.gyroscope, recording.rate_hz)
    means = np.array([recording.accelerometer[start:end].mean(axis=0) for start, end in found.poses])
    accelerometer = calibrate_accelerometer(means, gravity_m_s2)
    rest = slice(*found.rest)
    directions = (means - accelerometer.value[:3]) @ accelerometer.matrix().T
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    at_rest = recording.gyroscope[rest]
    turns = [recording.gyroscope[end:start] for end, start in zip(found.poses[:-1, 1], found.poses[1:, 0], strict=True)]
    gyroscope = calibrate_gyroscope(turns, directions, at_rest.mean(axis=0), 1.0 / recording.rate_hz)

    noises = {
        "accelerometer": white_noise(recording.accelerometer[rest], recording.rate_hz),
        "gyroscope": white_noise(at_rest, recording.rate_hz),
    }
    figures = _figures("accelerometer", accelerometer, noises["accelerometer"], "m/s^2")
    gyro_figures = _figures("gyroscope", gyroscope, noises["gyroscope"], "rad/s")
    figures += [each for each in gyro_figures if each.quantity != "gyroscope.bias"]
    figures += rest_bias_figures("gyroscope", noises["gyroscope"], gyroscope.value[:3], "DN")
    curves = tuple(
        _curve(name, noises[name], kind, unit)
        for name, kind, unit in (("accelerometer", accelerometer, "m/s^2"), ("gyroscope", gyroscope, "rad/s"))
    )
    seconds = (found.rest[1] - found.rest[0]) / recording.rate_hz
    remarks = (
        f"{len(found.poses)} still poses, after {seconds:.1f} s of rest; gravity was taken as {gravity_m_s2} m/s^2",
        "white noise is two-sided; data sheets give sqrt(2) times as much",
    )
    return Measurement("imu", "", recording.path.name, tuple(figures), curves, remarks)


class ImuRest(NamedTuple):
    """An IMU at rest.

    Attributes:
        source: Name of the recording.
        rate_hz: Of the samples [Hz].
        triads: Values of the accelerometer [m/s^2] and of the gyroscope [rad/s], shape (samples, 3) each.
        lsb: Value of a code of each axis, where the recording has codes.
    """

    source: str
    rate_hz: float
    triads: dict[str, Float]
    lsb: dict[str, Float]


def imu_rest(recording: InertialRecording) -> ImuRest:
    """The rest at the beginning of a log, by the scales of its calibration."""
    measured = measure_imu(recording)
    found = still_poses(recording.accelerometer, recording.gyroscope, recording.rate_hz)
    codes = {"accelerometer": recording.accelerometer, "gyroscope": recording.gyroscope}
    scale = {name: np.array([each.value for each in measured.of(f"{name}.scale")]) for name in codes}
    triads = {name: values[slice(*found.rest)] * scale[name] for name, values in codes.items()}
    return ImuRest(recording.path.name, recording.rate_hz, triads, scale)


def measure_rest(rest: ImuRest) -> Measurement:
    """White noise of an IMU at rest."""
    figures: list[Figure] = []
    for name, values in rest.triads.items():
        noise = white_noise(values, rest.rate_hz)
        figures += white_noise_figures(name, noise, np.ones(3), UNITS[name])
    seconds = len(values) / rest.rate_hz
    return Measurement("imu", "", rest.source, tuple(figures), (), (f"white noise of {seconds:.1f} s at rest",))


def white_noise(values: Float, rate_hz: float) -> AllanFit:
    """White noise of the axes at rest, from averaging times of up to a second."""
    allan = allan_deviation(values - values.mean(axis=0), rate_hz)
    return fit_allan(allan, terms="N", fit_range_s=(0.0, _WHITE_UP_TO_S))


def white_noise_figures(name: str, noise: AllanFit, scale: Float, unit: str) -> list[Figure]:
    """White noise of each axis of a triad.

    Args:
        name: Of the triad.
        noise: Fit of its axes.
        scale: From the unit of the fit to `unit`, of each axis.
        unit: Of the triad, as "rad/s".
    """
    figures = []
    for k, axis in enumerate(_AXES):
        value, *ends = (float(each) for each in np.array([noise.N[k], *noise.intervals["N"][:, k]]) * scale[k])
        low, high = min(value, *ends), max(value, *ends)
        samples = noise.allan.samples
        figures.append(Figure(f"{name}.white_noise", value, f"{unit}/sqrt(Hz)", low, high, samples, f"axis {axis}"))
    return figures


def rest_bias_figures(name: str, noise: AllanFit, mean: Float, unit: str) -> list[Figure]:
    """Mean of each axis at rest, with the error of its white noise: N / sqrt(time)."""
    quantity, samples = f"{name}.bias", noise.allan.samples
    errors = noise.N / np.sqrt(samples / noise.allan.rate_hz)
    return [
        student_figure(quantity, float(mean[k]), unit, float(errors[k]), samples - 1, samples, where=f"axis {axis}")
        for k, axis in enumerate(_AXES)
    ]


def _figures(name: str, found: Calibrated, noise: AllanFit, unit: str) -> list[Figure]:
    scale, figures = found.value[3:6], []
    for quantity, first, of_unit, places in (
        ("bias", 0, "DN", _AXES),
        ("scale", 3, f"{unit}/DN", _AXES),
        ("misalignment", 6, "rad", _PAIRS[: len(found.value) - 6]),
    ):
        for k, place in enumerate(places, start=first):
            error = float(found.error[k])
            where = f"axis {place}" if len(place) == 1 else f"axes {place}"
            figures.append(
                student_figure(
                    f"{name}.{quantity}", float(found.value[k]), of_unit, error, found.degrees, found.used, where=where
                )
            )
    residual_unit = unit if name == "accelerometer" else "rad"
    figures.append(deviation_figure(f"{name}.residual", found.residual, residual_unit, found.degrees, found.used))
    return [*figures, *white_noise_figures(name, noise, scale, unit)]


def _curve(name: str, noise: AllanFit, found: Calibrated, unit: str) -> Curve:
    """Allan deviation at rest, root mean square over the axes."""
    scale, allan = found.value[3:6], noise.allan
    y, low, high = (np.sqrt(((each * scale) ** 2).mean(axis=1)) for each in (allan.deviation, allan.low, allan.high))
    return Curve(f"{name}.allan", "averaging time", "s", "Allan deviation", unit, allan.tau_s, y, low, high)

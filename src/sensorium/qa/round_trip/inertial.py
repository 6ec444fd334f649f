"""Round trip of IMUs and magnetometers: the values of their sheets, measured from readings at rest."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.analysis import allan_deviation
from sensorium.core.frames import Pose
from sensorium.corruption import BiasInstability
from sensorium.devices import Device, ImuSheet, MagnetometerSheet
from sensorium.devices.inertial_sheet import Group
from sensorium.environment import Environment
from sensorium.physics.fields import UniformMagnetic
from sensorium.qa.round_trip.row import Row, Z, in_sheet_unit, number_of, seed_of
from sensorium.scene.scene import Scene
from sensorium.sensors.common.spec import SensorSpec
from sensorium.sensors.inertial.imu import Imu
from sensorium.sensors.inertial.reading import InertialReading
from sensorium.sensors.inertial.triads import Magnetometer
from sensorium.worlds import Static

Array = NDArray[np.float64]

# Noise is read this often [Hz], which changes no density; white noise alone needs fewer samples than a floor does
_RATE_HZ = 10.0
_WORLDS, _SAMPLES, _WHITE_SAMPLES = 32, 12_000, 2_000

# Worlds that each read once: for biases drawn at the start, and for codes
_MANY = 4_000

# The level of the model's bias instability is that of IEEE 952 within this share
_RIPPLE = 0.02

_FIELD_T = (2e-5, 0.0, -4e-5)
_OUTPUTS = {"linear": "acceleration", "angular": "angular_velocity", "magnetic": "magnetic_field"}
_EXACT = 1e-9


def inertial_rows(device: Device) -> list[Row]:
    """Everything of an IMU's or magnetometer's sheet that readings at rest can show."""
    rows = _rate(device)
    groups = _groups(device)
    slow = any(group.in_run_bias is not None for group in groups.values())
    rest = _readings(device, _SAMPLES if slow else _WHITE_SAMPLES, _WORLDS, {"quantization": {"on": False}})
    for target, group in groups.items():
        rows += _white_and_floor(device, target, group, rest[target])
        rows += _deviation(device, target, group, rest[target])
        rows += _initial_bias(device, target, group)
        rows += _codes(device, target, group)
        rows += _limits(device, target, group)
    return rows


def _groups(device: Device) -> dict[str, Group]:
    sheet = device.sheet
    if isinstance(sheet, ImuSheet):
        return sheet.groups
    assert isinstance(sheet, MagnetometerSheet)
    return {"magnetic": sheet}


def _readings(device: Device, samples: int, worlds: int, change: dict[str, Any]) -> dict[str, Array]:
    """Readings of each group at rest, shape (samples, worlds, 3); `change` overrides fields of every group."""
    groups = list(_groups(device))
    fields: dict[str, Any] = dict.fromkeys(groups, change) if device.kind == "imu" else dict(change)
    fields["timing"] = {"rate_hz": _RATE_HZ}
    sensor: SensorSpec[InertialReading]
    sensor = (Imu if device.kind == "imu" else Magnetometer).from_device(device.path, **fields)
    world = Static({"bench": Pose()}, step_s=1.0 / _RATE_HZ)
    env = Environment(Scene(), world, worlds=worlds, magnetic=UniformMagnetic(_FIELD_T), seed=seed_of(device.name))
    attached = env.attach(sensor, body="bench")
    out = {name: np.empty((samples, worlds, 3)) for name in groups}
    for k in range(samples):
        env.step()
        reading = attached.read()
        for name in groups:
            out[name][k] = getattr(reading, _OUTPUTS[name])
    return out


def _white_and_floor(device: Device, target: str, group: Group, signal: Array) -> list[Row]:
    """White noise and bias instability of each axis that has numbers of its own."""
    name = "density" if group.density is not None else "random_walk"
    white = group.density if group.density is not None else group.random_walk
    if white is None:
        return []
    rows = []
    for axes in _axes_alike(white.value):
        density = number_of(group.fields()["noise"]["density"], axes[0])
        floor = group.in_run_bias
        B = 0.0 if floor is None else number_of(group.number("in_run_bias"), axes[0])
        found = _fitted(signal[:, :, axes].reshape(len(signal), -1), density / math.sqrt(2.0), B)

        # The fit gives the two-sided N; a density is sqrt(2) times it, a random walk N itself
        N, *ends = found[0]
        factor = math.sqrt(2.0) if name == "density" else 1.0
        stated = number_of(group.number(name), axes[0])
        what = f"{target} {name.replace('_', ' ')}{_label(axes)}"
        around = (factor * N, factor * ends[0], factor * ends[1])
        rows.append(in_sheet_unit(device.name, what, white, stated, around, axis=axes[0]))
        if floor is not None:
            value, low, high = found[1]
            around = (value, low * (1.0 - _RIPPLE), high * (1.0 + _RIPPLE))
            rows.append(
                in_sheet_unit(device.name, f"{target} in-run bias{_label(axes)}", floor, B, around, axis=axes[0])
            )
    return rows


def _fitted(signal: Array, N: float, B: float) -> list[tuple[float, float, float]]:
    """N, and B where it is not 0, with their intervals, from channels that have the same; shape (samples, channels).

    Allan variances of each channel are fitted by N^2 / tau and B^2 times the variance of the model's flicker; the
    scatter of the channels' coefficients gives the interval of their mean.
    """
    counts = 2.0 ** np.arange(0, math.log2(len(signal) / (8 if B else 64)) + 1e-9)
    allan = allan_deviation(signal, _RATE_HZ, taus_s=counts / _RATE_HZ)
    tau_s = allan.tau_s
    columns = [1.0 / tau_s]
    if B:
        times_s, stds = BiasInstability(instability=1.0).processes()
        columns.append(_sampled_variance(allan.counts[:, None], np.exp(-1.0 / (_RATE_HZ * times_s))) @ stds**2)
    design = np.stack(columns, axis=1)

    # A variance scatters in proportion to itself and to the root of tau
    expected = design @ np.array([N * N, B * B][: len(columns)])
    weight = 1.0 / (expected * np.sqrt(tau_s))
    squares = np.linalg.lstsq(design * weight[:, None], allan.deviation**2 * weight[:, None], rcond=None)[0]
    found = []
    for each in squares:
        mean, error = float(each.mean()), float(each.std(ddof=1) / math.sqrt(len(each)))
        low, high = max(mean - Z * error, 0.0), mean + Z * error
        found.append((math.sqrt(max(mean, 0.0)), math.sqrt(low), math.sqrt(high)))
    return found


def _sampled_variance(m: NDArray[np.int64], phi: Array) -> Array:
    """Allan variance over m samples of a Gauss-Markov process of variance 1 whose samples have correlation phi.

    Var(S) = (m (1 + phi) (1 - phi) - 2 phi (1 - phi^m)) / (1 - phi)^2 for the sum S of m samples, and its covariance
    with the next such sum is phi (1 - phi^m)^2 / (1 - phi)^2; the Allan variance is their difference over m^2.
    """
    rest = 1.0 - phi**m
    variance = (m * (1.0 - phi**2) - 2.0 * phi * rest) / (1.0 - phi) ** 2
    return np.asarray((variance - phi * rest**2 / (1.0 - phi) ** 2) / m**2)


def _deviation(device: Device, target: str, group: Group, signal: Array) -> list[Row]:
    """Noise of a sample, where the sheet gives no density."""
    if group.noise is None:
        return []
    rows = []
    for axes in _axes_alike(group.noise.value):
        around = _spread(signal[:, :, axes].reshape(len(signal), -1))
        stated = number_of(group.number("noise"), axes[0])
        rows.append(
            in_sheet_unit(device.name, f"{target} noise{_label(axes)}", group.noise, stated, around, axis=axes[0])
        )
    return rows


def _initial_bias(device: Device, target: str, group: Group) -> list[Row]:
    """Spread of the first reading over many devices."""
    if group.initial_bias is None:
        return []
    silent = {"quantization": {"on": False}, "noise": {"density": None, "instability": None}}
    signal = _readings(device, 1, _MANY, silent)[target]
    rows = []
    for axes in _axes_alike(group.initial_bias.value):
        around = _spread(signal[0][:, axes])
        stated = number_of(group.number("initial_bias"), axes[0])
        what = f"{target} initial bias{_label(axes)}"
        rows.append(in_sheet_unit(device.name, what, group.initial_bias, stated, around, axis=axes[0]))
    return rows


def _codes(device: Device, target: str, group: Group) -> list[Row]:
    """The step of readings, over devices whose biases differ by many steps."""
    if group.lsb is None:
        return []
    lsb = number_of(group.number("lsb"), 0)
    signal = _one_group(device, target, {"noise": {"bias_std": 20.0 * lsb}})
    step = float(np.median(np.diff(np.unique(signal[..., 0]))))
    around = (step, step * (1.0 - _EXACT), step * (1.0 + _EXACT))
    return [in_sheet_unit(device.name, f"{target} code", group.lsb, lsb, around)]


def _limits(device: Device, target: str, group: Group) -> list[Row]:
    """The largest reading of a device with a far larger input; a code less if the limit is not reached."""
    if group.range is None:
        return []
    rows = []
    lsb = 0.0 if group.lsb is None else number_of(group.number("lsb"), 0)
    for axes in _axes_alike(group.range.value):
        limit = number_of(group.number("range"), axes[0])
        signal = _one_group(device, target, {"noise": {"bias": 10.0 * limit}}, worlds=1)
        most = float(signal[..., axes].max())
        around = (most, most * (1.0 - _EXACT), most * (1.0 + _EXACT) + lsb)
        rows.append(
            in_sheet_unit(device.name, f"{target} range{_label(axes)}", group.range, limit, around, axis=axes[0])
        )
    return rows


def _rate(device: Device) -> list[Row]:
    """Readings in a second."""
    sheet = device.sheet
    assert isinstance(sheet, ImuSheet | MagnetometerSheet)
    if sheet.sample_rate is None:
        return []
    sensor: SensorSpec[InertialReading]
    sensor = (Imu if device.kind == "imu" else Magnetometer).from_device(device.path)
    env = Environment(Scene(), Static({"bench": Pose()}, step_s=1.0), magnetic=UniformMagnetic(_FIELD_T))
    attached = env.attach(sensor, body="bench")
    env.step()
    env.step()
    count = float(len(attached.readings()))
    stated = sheet.number("sample_rate")
    return [in_sheet_unit(device.name, "sample rate", sheet.sample_rate, stated, (count, count - 1.0, count + 1.0))]


def _one_group(device: Device, target: str, change: dict[str, Any], worlds: int = _MANY) -> Array:
    """One reading of one group, whose fields are changed."""
    return _readings(device, 1, worlds, change)[target][0]


def _spread(values: Array) -> tuple[float, float, float]:
    """Standard deviation about each column's mean, with its interval."""
    degrees = values.size - values.shape[-1]
    std = math.sqrt(float(np.square(values - values.mean(axis=0)).sum()) / degrees)
    share = Z / math.sqrt(2.0 * degrees)
    return std, std * (1.0 - share), std * (1.0 + share)


def _axes_alike(value: Any) -> list[list[int]]:
    """Axes by the number they share."""
    if not isinstance(value, tuple):
        return [[0, 1, 2]]
    return [[k for k in range(3) if value[k] == one] for one in dict.fromkeys(value)]


def _label(axes: list[int]) -> str:
    return "" if len(axes) == 3 else " " + "".join("xyz"[k] for k in axes)

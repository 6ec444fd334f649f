"""The chain of the inertial figures, three times over: in an IMU, on plain arrays, and in NumPy alone."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import sensorium as sn
from sensorium.corruption import Chain, Noise, Quantize, Saturate, Scale
from sensorium.sensors.inertial.triaxial import Triaxial

Float = NDArray[np.float64]

RATE_HZ = 100.0

_CROSS_AXIS = 0.02
_WANDER_S = 100.0


class Errors(NamedTuple):
    """Errors of the axes, in the unit of their signal; numbers, or arrays with one for each axis."""

    bias: Float
    """A known bias, and the standard deviation of the one drawn at the start."""
    walk: Float
    """Random walk [unit/sqrt(s)]."""
    wander: Float
    """Standard deviation of a Gauss-Markov process of 100 s."""
    density: Float
    """One-sided density of white noise [unit/sqrt(Hz)]."""
    lsb: Float
    """Step of the quantizer."""
    limit: Float
    """Largest value either way, a code of the quantizer."""

    def corruptions(self) -> tuple[Noise, Quantize, Saturate]:
        """All except the cross-axis matrix."""
        bias, walk, wander, density, lsb, limit = (np.asarray(values).tolist() for values in self)
        noise = Noise(
            bias=bias,
            bias_std=bias,
            walk=walk,
            gauss_markov_std=wander,
            gauss_markov_tau_s=_WANDER_S,
            density=density,
        )
        return noise, Quantize(lsb=lsb), Saturate(min=(-np.asarray(limit)).tolist(), max=limit)


# Accelerometer [m/s^2], gyroscope [rad/s], magnetometer [T]: about the values of small ones
_GROUPS = (
    Errors(*np.array([5e-2, 1e-3, 1e-2, 1e-3, 5e-3, 160.0])),
    Errors(*np.array([1e-2, 1e-4, 1e-3, 1e-4, 1e-3, 35.0])),
    Errors(*np.array([1e-6, 1e-8, 1e-7, 1e-7, 1.5e-7, 4.8e-3])),
)

AXES = 3 * len(_GROUPS)


def imu() -> sn.Imu:
    """An IMU of nine axes, each with the whole chain."""
    device = sn.Imu(timing=sn.Timing(rate_hz=RATE_HZ), magnetic=Triaxial())
    for group, errors in zip((device.linear, device.angular, device.magnetic), _GROUPS, strict=True):
        assert group is not None
        group.scale = Scale(cross_axis=_CROSS_AXIS)
        group.noise, group.quantization, group.saturation = errors.corruptions()
    return device


def chain() -> Chain:
    """The same for arrays whose last axis has nine channels."""
    return Chain([Scale(matrix=_cross_axis().tolist()), *_nine().corruptions()])


class NumpyChain:
    """The same in vectorized NumPy: float64, a `Generator`, no new arrays; constants are precomputed."""

    def __init__(self, worlds: int, seed: int = 0) -> None:
        errors, shape, dt_s = _nine(), (worlds, AXES), 1.0 / RATE_HZ
        self._rng = np.random.default_rng(seed)
        self._mixed = _cross_axis().T
        self._bias = errors.bias * (1.0 + self._rng.standard_normal(shape))
        self._walk, self._step = np.zeros(shape), errors.walk * np.sqrt(dt_s)
        self._keep = np.exp(-dt_s / _WANDER_S)
        self._wander = errors.wander * self._rng.standard_normal(shape)
        self._kick = errors.wander * np.sqrt(1.0 - self._keep**2)
        self._sigma = errors.density * np.sqrt(RATE_HZ / 2.0)
        self._lsb, self._limit = errors.lsb, errors.limit
        self._out, self._drawn = np.empty(shape), np.empty(shape)

    def step(self, x: Float) -> Float:
        """One sample of every world, shape (worlds, axes); the next call overwrites the result."""
        out, drawn = self._out, self._drawn
        np.matmul(x, self._mixed, out=out)
        out += self._bias

        self._rng.standard_normal(out=drawn)
        drawn *= self._step
        self._walk += drawn
        out += self._walk

        self._rng.standard_normal(out=drawn)
        drawn *= self._kick
        self._wander *= self._keep
        self._wander += drawn
        out += self._wander

        self._rng.standard_normal(out=drawn)
        drawn *= self._sigma
        out += drawn

        out /= self._lsb
        np.rint(out, out=out)
        out *= self._lsb
        np.clip(out, -self._limit, self._limit, out=out)
        return out


def _nine() -> Errors:
    """The errors of all axes side by side."""
    return Errors(*(np.repeat(values, 3) for values in zip(*_GROUPS, strict=True)))


def _cross_axis() -> Float:
    """Cross-axis coupling within each group, (axes, axes)."""
    group = np.full((3, 3), _CROSS_AXIS)
    np.fill_diagonal(group, 1.0)
    return np.kron(np.eye(len(_GROUPS)), group)

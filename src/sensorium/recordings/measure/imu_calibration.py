"""Calibration of an IMU from still poses: bias, scale and misalignment, without any other instrument.

With raw values r, bias b, scales s and small angles between axes alpha (accelerometer) and gamma (gyroscope):

    f = T S (r - b),   T = [[1, -a_yz, a_zy], [0, 1, -a_zx], [0, 0, 1]],   S = diag(s)
    w = T S (r - b),   T = [[1, -g_yz, g_zy], [g_xz, 1, -g_zx], [-g_xy, g_yx, 1]]

A still accelerometer measures |f| = g in every pose, which gives its nine numbers by least squares of |f| - g. The
gyroscope's bias is its mean at rest; its other nine make the rotation integrated from one pose to the next turn the
direction of gravity into the next one: least squares of u_k+1 - R^T u_k, R the product of exp(w dt). Both are solved by
Gauss and Newton; intervals are those of the normal equations with the scatter of the residuals. x is the
accelerometer's own axis, and y lies in its plane of x and y. Ref: D. Tedaldi, A. Pretto and E. Menegatti, "A robust
and easy to implement method for IMU calibration without external equipments", ICRA 2014 (signs of the angles as there).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError

Float = NDArray[np.float64]

_REST_WINDOW_S, _LEAST_REST_S, _LEAST_POSE_S = 1.0, 5.0, 1.0
_STILL = 3.0
"""Samples are still where their deviation in a window is below this multiple of that at rest."""

_BEGINS_IN_MOTION = f"the log begins in motion; the IMU must rest for {_LEAST_REST_S:g} s at first"
_LEAST_POSES = 12
_ITERATIONS, _CONVERGED = 40, 1e-9


class StillPoses(NamedTuple):
    """Stretches without motion.

    Attributes:
        rest: First and last sample of the rest at the beginning.
        poses: First sample and the one after the last of each pose, shape (poses, 2), the rest among them.
    """

    rest: tuple[int, int]
    poses: NDArray[np.int64]


class Calibrated(NamedTuple):
    """Numbers of a triad of axes with their standard errors, shape (k,) each.

    Attributes:
        value: Bias (3), scale (3), angles between axes (3 of an accelerometer: yz, zy, zx; 6 of a gyroscope: yz, zy,
            zx, xz, xy, yx) [rad].
        error: Standard errors.
        degrees: Degrees of freedom of the errors.
        residual: Root mean square of the residuals.
        used: Number of poses, or of turns between poses.
    """

    value: Float
    error: Float
    degrees: int
    residual: float
    used: int

    def matrix(self) -> Float:
        """T S, from raw values without bias to the unit of the calibration, shape (3, 3)."""
        return _matrix(self.value)


def still_poses(accelerometer: Float, gyroscope: Float, rate_hz: float) -> StillPoses:
    """Find the rest at the beginning, and the poses.

    Args:
        accelerometer, gyroscope: Raw values, shape (n, 3).
        rate_hz: Samples a second.
    """
    window = max(int(_REST_WINDOW_S * rate_hz), 4)
    if len(accelerometer) < 2 * window:
        raise SpecError(f"the log has {len(accelerometer)} samples; it must have at least {2 * window}")
    spreads = np.stack([_moving_deviation(signal, window) for signal in (accelerometer, gyroscope)])
    quiet = spreads[:, : max(int(_LEAST_REST_S * rate_hz) - window, 1)].max(axis=1)
    if (quiet > _STILL * np.quantile(spreads, 0.05, axis=1) + 1e-12).any():
        raise SpecError(_BEGINS_IN_MOTION)
    moving = (spreads > _STILL * np.maximum(quiet, 1e-12)[:, None]).any(axis=0)

    # A sample is still if it lies in a window without motion; windows at the ends of a stretch touch motion
    edges = np.flatnonzero(np.diff(np.concatenate([[True], moving, [True]]).astype(np.int8)))
    starts, ends = edges[::2], edges[1::2] + window - 1
    whole = ends - starts >= window + int(_LEAST_POSE_S * rate_hz)
    poses = np.stack([starts[whole], ends[whole]], axis=1)
    if len(poses) == 0 or poses[0, 0] > 0 or poses[0, 1] < _LEAST_REST_S * rate_hz:
        raise SpecError(_BEGINS_IN_MOTION)
    margin = window // 4
    poses = poses + np.array([margin, -margin])
    poses[0, 0] = 0
    return StillPoses((0, int(poses[0, 1])), poses)


def calibrate_accelerometer(means: Float, gravity_m_s2: float) -> Calibrated:
    """Bias [raw], scale [m/s^2 a raw unit] and angles from the mean raw values of poses.

    Args:
        means: Shape (poses, 3); the poses must differ in direction.
        gravity_m_s2: Acceleration of gravity at the place [m/s^2].
    """
    if len(means) < _LEAST_POSES:
        raise SpecError(f"the log has {len(means)} still poses; a calibration takes {_LEAST_POSES}")
    bias, radius = _sphere(means)

    def residuals(numbers: Float) -> Float:
        """For a batch of numbers, shape (batch, 9), residuals of shape (batch, poses)."""
        raw = means - numbers[:, None, :3]
        return np.asarray(np.linalg.norm(raw @ _matrix(numbers).swapaxes(-1, -2), axis=-1) - gravity_m_s2)

    start = np.concatenate([bias, np.full(3, gravity_m_s2 / radius), np.zeros(3)])
    steps = np.concatenate([np.full(3, 1e-6 * radius), np.full(3, 1e-6 * gravity_m_s2 / radius), np.full(3, 1e-6)])
    return _least_squares(residuals, start, steps, len(means))


def calibrate_gyroscope(rates: list[Float], directions: Float, bias: Float, step_s: float) -> Calibrated:
    """Scale [rad/s a raw unit] and angles from turns between poses; the bias and its errors are the caller's.

    Args:
        rates: Raw values from the end of each pose to the beginning of the next, shape (samples, 3) each.
        directions: Direction of gravity in each pose by the accelerometer, shape (poses, 3).
        bias: Mean raw value at rest, shape (3,).
        step_s: Time between samples [s].
    """
    longest = max(len(rate) for rate in rates)
    turning = np.zeros((longest, len(rates), 3))
    for k, rate in enumerate(rates):
        turning[: len(rate), k] = (rate - bias) * step_s
    before, after = directions[:-1], directions[1:]

    def residuals(numbers: Float) -> Float:
        """For a batch of numbers, shape (batch, 9), residuals of shape (batch, 3 turns)."""
        matrices = _matrix(np.concatenate([np.zeros((len(numbers), 3)), numbers], axis=1))
        turned = turned_directions(before, turning, matrices)
        return np.asarray((turned - after).reshape(len(numbers), -1))

    # A first scale: the one of a ladder with the least residual
    angle = np.arccos(np.clip((before * after).sum(axis=1), -1.0, 1.0))
    counts = np.linalg.norm(turning.sum(axis=0), axis=1)
    first = float(np.median(angle / np.maximum(counts, 1e-12)))
    ladder = first * np.geomspace(0.5, 4.0, 60)
    misfit = (residuals(np.concatenate([np.tile(ladder[:, None], 3), np.zeros((60, 6))], axis=1)) ** 2).sum(axis=1)
    scale = ladder[int(np.argmin(misfit))]
    start = np.concatenate([np.full(3, scale), np.zeros(6)])
    steps = np.concatenate([np.full(3, 1e-6 * scale), np.full(6, 1e-6)])
    found = _least_squares(residuals, start, steps, 2 * len(rates))
    value, error = np.concatenate([bias, found.value]), np.concatenate([np.zeros(3), found.error])
    return Calibrated(value, error, found.degrees, found.residual * np.sqrt(1.5), len(rates))


def _least_squares(residuals: Callable[[Float], Float], start: Float, steps: Float, independent: int) -> Calibrated:
    """Gauss and Newton, with a Jacobian of differences.

    Args:
        residuals: Of a batch of numbers.
        start: First numbers, shape (k,).
        steps: Of the differences.
        independent: Number of residuals that are independent of each other.
    """
    numbers = start
    for _ in range(_ITERATIONS):
        every = residuals(numbers + np.concatenate([np.zeros((1, len(start))), np.diag(steps)]))
        jacobian = ((every[1:] - every[0]) / steps[:, None]).T
        scaled = jacobian * steps  # columns of like size, for the conditioning
        change, _, rank, _ = np.linalg.lstsq(scaled, -every[0], rcond=1e-10)
        if rank < len(start) or not np.isfinite(change).all():
            raise SpecError("the poses do not determine the calibration; they must differ in direction about all axes")
        numbers = numbers + change * steps
        if np.abs(change).max() * 1e-6 < _CONVERGED:
            break
    else:
        raise SpecError(f"the calibration does not converge in {_ITERATIONS} steps; the poses must be still")
    last = residuals(numbers[None])[0]
    degrees = max(independent - len(start), 1)
    variance = float(last @ last) / degrees
    covariance = np.linalg.inv(scaled.T @ scaled) * variance
    error = np.sqrt(np.maximum(np.diag(covariance), 0.0)) * steps
    return Calibrated(numbers, error, degrees, float(np.sqrt(last @ last / len(last))), independent)


def _matrix(numbers: Float) -> Float:
    """T S of bias (not used), scale and three or six angles, shape (..., 3, 3)."""
    scale, angles = numbers[..., 3:6], numbers[..., 6:]
    T = np.broadcast_to(np.eye(3), (*numbers.shape[:-1], 3, 3)).copy()
    T[..., 0, 1], T[..., 0, 2], T[..., 1, 2] = -angles[..., 0], angles[..., 1], -angles[..., 2]
    if angles.shape[-1] == 6:
        T[..., 1, 0], T[..., 2, 0], T[..., 2, 1] = angles[..., 3], -angles[..., 4], angles[..., 5]
    return np.asarray(T * scale[..., None, :])


def turned_directions(before: Float, turning: Float, matrices: Float) -> Float:
    """Directions that do not move in space, seen from a turning IMU afterwards, shape (batch, turns, 3).

    u' = exp(-[w dt]x) u for each sample, by Rodrigues' formula.

    Args:
        before: Directions seen from the IMU at first, shape (turns, 3).
        turning: Raw rates without bias times the time of a sample, shape (samples, turns, 3).
        matrices: From raw values to rad/s, shape (batch, 3, 3).
    """
    u = np.broadcast_to(before, (len(matrices), *before.shape)).copy()
    for sample in turning:
        angle = np.einsum("bij,tj->bti", matrices, sample)
        square = (angle**2).sum(axis=-1, keepdims=True)
        size = np.sqrt(square)
        first = np.sinc(size / np.pi)
        second = 0.5 * np.sinc(0.5 * size / np.pi) ** 2
        cross = np.cross(angle, u)
        u = u - first * cross + second * np.cross(angle, cross)
    return np.asarray(u)


def _sphere(means: Float) -> tuple[Float, float]:
    """Center and radius of the sphere nearest to points."""
    offset = means.mean(axis=0)
    spread = float(np.abs(means - offset).max()) or 1.0
    scaled = (means - offset) / spread
    design = np.concatenate([2.0 * scaled, np.ones((len(scaled), 1))], axis=1)
    found, _, rank, _ = np.linalg.lstsq(design, (scaled**2).sum(axis=1), rcond=1e-9)
    square = float(found[3] + found[:3] @ found[:3])
    if rank < 4 or square <= 0.0:
        raise SpecError("the poses do not determine the calibration; they must differ in direction about all axes")
    return np.asarray(offset + spread * found[:3]), spread * float(np.sqrt(square))


def _moving_deviation(signal: Float, window: int) -> Float:
    """Standard deviation in each window of some samples, over all axes, shape (n - window + 1,)."""
    centered = signal - signal.mean(axis=0)
    total = np.concatenate([np.zeros((1, 3)), np.cumsum(centered, axis=0)])
    squares = np.concatenate([np.zeros((1, 3)), np.cumsum(centered**2, axis=0)])
    mean = (total[window:] - total[:-window]) / window
    variance = (squares[window:] - squares[:-window]) / window - mean**2
    return np.asarray(np.sqrt(np.maximum(variance, 0.0).sum(axis=1)))

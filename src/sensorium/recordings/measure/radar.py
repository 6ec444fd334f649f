"""Doppler of a radar against its own motion, from a list of detections in a world that mostly stands still.

A detection that stands still has the range rate of the radar's own velocity (v_x, v_y) along it, at azimuth a and
elevation e:

    r' = -(v_x cos a + v_y sin a) cos e

The velocity is fitted by reweighted least squares with Tukey's weights (1 - (u / 4.685 s)^2)^2, where s is the robust
deviation 1.4826 median |u| of the residuals u, from the best of many pairs of detections (least median of squares).
Detections within ten robust deviations stand still; the others move, or are ghosts and aliases. The noise is given as
the robust deviation, which few wrong azimuths do not change, and as root mean square with them. Its part by azimuth
errors grows with the speed u across the line of sight:

    sigma^2 = sigma_v^2 + (sigma_a u)^2

Both are solved for from the robust deviations of the halves of lower and of higher u^2, at the medians of u^2.
Intervals: a bootstrap over detections. Ref: D. Kellner et al., "Instantaneous ego-motion estimation using Doppler
radar", ITSC 2013; P. Rousseeuw, J. Am. Stat. Assoc. 79 (1984) 871.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.recordings.measure.figures import median_figure, share_figure
from sensorium.recordings.measure.quantum import quantum_figure
from sensorium.recordings.measurement import Curve, Figure, Measurement
from sensorium.recordings.readers.radar_lists import DetectionList

Float = NDArray[np.float64]

_LEAST = 12
_PAIRS, _ITERATIONS, _RESAMPLES = 400, 30, 200
_TUKEY, _STILL = 4.685, 10.0
_ROBUST = 1.4826
_DIGITS = 6
"""Significant digits of numbers in a list."""
_ANGLE_STEP_DEG, _LEAST_OF_BIN = 15.0, 8
_SEED = 28


class OwnMotion(NamedTuple):
    """Valid detections of a list beside the radar's own velocity; arrays of shape (detections,) but for `along`.

    Attributes:
        valid: Which detections of the list these are, shape (all detections,).
        azimuth: To the left [rad].
        elevation: Above the axis [rad]; 0 where the list has none.
        rate: Range rate [m/s].
        along: Range rate for each m/s of v_x and v_y, shape (detections, 2).
        velocity: Of the radar (v_x, v_y) [m/s].
        residual: Range rate less that of the own velocity [m/s].
        still: Which stand still.
    """

    valid: NDArray[np.bool_]
    azimuth: Float
    elevation: Float
    rate: Float
    along: Float
    velocity: Float
    residual: Float
    still: NDArray[np.bool_]


def own_motion(detections: DetectionList, rng: np.random.Generator | None = None) -> OwnMotion:
    """The velocity of the radar by its detections, and which of them stand still.

    Args:
        detections: A list.
        rng: Chooses the pairs of detections that are tried.
    """
    rng = np.random.default_rng(_SEED) if rng is None else rng
    fields = detections.fields
    valid = np.ones(len(fields["range"]), bool)
    for name in ("invalid_range_rate", "invalid_azimuth"):
        if name in fields:
            valid &= fields[name] == 0.0
    azimuth, rate = fields["azimuth_angle"][valid], fields["range_rate"][valid]
    elevation = fields["elevation_angle"][valid] if "elevation_angle" in fields else np.zeros(len(azimuth))
    if len(rate) < _LEAST:
        raise SpecError(f"{detections.path.name!r} has {len(rate)} valid detections; a fit takes {_LEAST}")
    along = -np.stack([np.cos(azimuth), np.sin(azimuth)], axis=1) * np.cos(elevation)[:, None]
    velocity = own_velocity(along, rate, _least_median(along, rate, rng))
    residual, still = _still(along, rate, velocity)
    return OwnMotion(valid, azimuth, elevation, rate, along, velocity, residual, still)


def measure_radar(detections: DetectionList) -> Measurement:
    """Own velocity, Doppler noise, share of detections that stand still, and quanta of Doppler and azimuth."""
    fields = detections.fields
    rng = np.random.default_rng(_SEED)
    valid, azimuth, _, rate, along, velocity, residual, still = own_motion(detections, rng)
    found = _estimates(along, rate, velocity)
    chosen = rng.integers(0, len(rate), (_RESAMPLES, len(rate)))
    velocities = own_velocity(along[chosen], rate[chosen], velocity)
    drawn = np.array([_estimates(along[k], rate[k], v) for k, v in zip(chosen, velocities, strict=True)])
    drawn[:, 1] = found[1] + (drawn[:, 1] - found[1] + math.pi) % (2.0 * math.pi) - math.pi
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)

    figures = [
        Figure(name, float(found[k]), unit, float(min(low[k], found[k])), float(max(high[k], found[k])), len(rate))
        for k, (name, unit) in enumerate(
            (
                ("own_speed", "m/s"),
                ("own_speed.direction", "rad"),
                ("doppler_noise", "m/s"),
                ("doppler_noise.rms", "m/s"),
                ("doppler_noise.head_on", "m/s"),
                ("azimuth_noise", "rad"),
            )
        )
    ]
    figures.append(share_figure("still_share", int(still.sum()), len(still)))
    for quantity, values, unit, coarsest in (
        ("doppler_quantum", rate, "m/s", 1.0),
        ("azimuth_quantum", azimuth, "rad", 0.1),
    ):
        distinct = np.unique(values)
        rounding = 10.0 ** (np.floor(np.log10(np.maximum(np.abs(distinct), 1e-9))) + 1 - _DIGITS)
        quantum = quantum_figure(quantity, distinct, rounding, unit, coarsest=coarsest, finest=1e-3 * coarsest)
        if quantum is not None:
            figures.append(quantum)
    if "range_rate_std" in fields:
        stated = fields["range_rate_std"][valid]
        figures.append(median_figure("doppler_noise.stated", stated, "m/s", len(stated)))
    curves = _by_angle(along, velocity, residual, still)
    moving = int((~still).sum())
    remarks = [f"{int(still.sum())} of {len(still)} detections stand still by their Doppler, {moving} do not"]
    if "elevation_angle" not in fields:
        remarks.append("the list has no elevation: all detections were taken to be at the radar's height")
    if found[0] < 10.0 * found[2]:
        remarks.append("the radar hardly moves: Doppler noise is measured, azimuth does not matter")
    return Measurement("radar", detections.device, detections.path.name, tuple(figures), curves, tuple(remarks))


def own_velocity(along: Float, rate: Float, start: Float) -> Float:
    """Velocity of the radar (v_x, v_y) [m/s] by reweighted least squares.

    Args:
        along: Range rate for each m/s of v_x and v_y, shape (..., n, 2).
        rate: Range rates [m/s], shape (..., n).
        start: A first velocity, shape (2,).
    """
    velocity = np.broadcast_to(start, (*rate.shape[:-1], 2))
    for _ in range(_ITERATIONS):
        residual = rate - np.einsum("...nk,...k->...n", along, velocity)
        scale = np.maximum(_ROBUST * np.median(np.abs(residual), axis=-1, keepdims=True), 1e-9)
        weight = np.maximum(1.0 - (residual / (_TUKEY * scale)) ** 2, 0.0) ** 2
        (xx, xy), (_, yy) = np.einsum("...n,...ni,...nj->ij...", weight, along, along)
        x, y = np.einsum("...n,...ni->i...", weight * rate, along)
        determinant = np.maximum(xx * yy - xy**2, 1e-300)
        before, velocity = velocity, np.stack([yy * x - xy * y, xx * y - xy * x], axis=-1) / determinant[..., None]
        if np.abs(velocity - before).max() < 1e-9:
            break
    return np.asarray(velocity, np.float64)


def _least_median(along: Float, rate: Float, rng: np.random.Generator) -> Float:
    """The velocity through a pair of detections whose median of absolute residuals is least."""
    first, second = rng.integers(0, len(rate), (2, _PAIRS))
    a, b = along[first], along[second]
    determinant = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    usable = np.abs(determinant) > 1e-3
    if not usable.any():
        raise SpecError("all detections lie in one direction; the own velocity needs several")
    a, b, u, v, d = (each[usable] for each in (a, b, rate[first], rate[second], determinant))
    tried = np.stack([(u * b[:, 1] - v * a[:, 1]) / d, (v * a[:, 0] - u * b[:, 0]) / d], axis=1)
    medians = np.median(np.abs(rate - tried @ along.T), axis=1)
    return np.asarray(tried[int(np.argmin(medians))])


def _still(along: Float, rate: Float, velocity: Float) -> tuple[Float, NDArray[np.bool_]]:
    """Residuals [m/s], and which detections stand still."""
    residual = rate - along @ velocity
    robust = _ROBUST * float(np.median(np.abs(residual)))
    for _ in range(_ITERATIONS):  # without those that move, which widen it
        still = np.abs(residual) <= _STILL * max(robust, 1e-9)
        narrower = _ROBUST * float(np.median(np.abs(residual[still])))
        if narrower >= robust:
            break
        robust = narrower
    return residual, np.abs(residual) <= _STILL * max(robust, 1e-9)


def _estimates(along: Float, rate: Float, velocity: Float) -> Float:
    """Speed [m/s], direction [rad], and of those that stand still the four figures of noise [m/s, m/s, m/s, rad]."""
    residual, still = _still(along, rate, velocity)
    kept = residual[still]
    free = len(kept) / max(len(kept) - 2, 1)
    robust = _ROBUST * float(np.median(np.abs(kept))) * math.sqrt(free)
    rms = math.sqrt(float(kept @ kept) / max(len(kept) - 2, 1))
    across = (along[still, 1] * velocity[0] - along[still, 0] * velocity[1]) ** 2
    order = np.argsort(across, kind="stable")
    low, high = order[: len(order) // 2], order[len(order) // 2 :]
    (v0, u0), (v1, u1) = (
        ((_ROBUST * float(np.median(np.abs(kept[half])))) ** 2, float(np.median(across[half]))) for half in (low, high)
    )
    slope = min(max((v1 - v0) / max(u1 - u0, 1e-12), 0.0), v0 / max(u0, 1e-12))
    head_on = math.sqrt(max(v0 - slope * u0, 0.0)) if slope > 0.0 else robust
    direction = math.atan2(velocity[1], velocity[0])
    return np.array([float(np.hypot(*velocity)), direction, robust, rms, head_on, math.sqrt(slope)])


def _by_angle(along: Float, velocity: Float, residual: Float, still: NDArray[np.bool_]) -> tuple[Curve, ...]:
    """Median of absolute residuals by the angle between line of sight and own motion."""
    length = np.maximum(np.linalg.norm(along, axis=1) * float(np.hypot(*velocity)), 1e-12)
    angle = np.degrees(np.arccos(np.clip(-(along @ velocity) / length, -1.0, 1.0)))
    cell, rows = (angle / _ANGLE_STEP_DEG).astype(np.int64), []
    for number in np.unique(cell):
        inside = (cell == number) & still
        if np.count_nonzero(inside) >= _LEAST_OF_BIN:
            around = median_figure("", _ROBUST * np.abs(residual[inside]), "m/s", int(inside.sum()))
            rows.append((math.radians(float(angle[inside].mean())), around.value, around.low, around.high))
    if not rows:
        return ()
    labels = ("angle from the own motion", "rad", "Doppler noise", "m/s")
    return (Curve("doppler_noise.by_angle", *labels, *np.array(rows).T),)

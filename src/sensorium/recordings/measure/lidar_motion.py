"""How far a lidar moved from turn to turn, by the ranges of vertical surfaces."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.recordings.measure.intervals import NORMAL_95, Estimate
from sensorium.recordings.measure.lidar_rays import Pairs
from sensorium.recordings.scans import LidarRecording

_LEVEL = np.radians(20.0)
_ROUNDS = 12
_TUNED = 4.685  # Tukey's biweight: 95 % of the efficiency of least squares for normal errors


class Motion(NamedTuple):
    """Motion from one turn to the next.

    Attributes:
        shift_m: Length of the horizontal shift [m].
        rotation: Rotation about the axis [rad].
    """

    shift_m: Estimate
    rotation: Estimate


def motion_of(recording: LidarRecording, pairs: Pairs) -> Motion | None:
    """Shift and rotation that explain the differences of ranges best; None for fewer than 100 pairs.

    A vertical surface at azimuth a and range r with slope r' = dr/da shows, after a small shift t and rotation b,

        dr = -(u . t) + (r'/r) (v . t) + r' b,   u = (cos a, sin a), v = (-sin a, cos a):

    the shift along its normal over the cosine of incidence. It is fitted by iterated least squares with Tukey's
    weights, so that surfaces that are not vertical, and objects that move by themselves, do not count. Beams within 20
    degrees of the horizon are taken where elevations are known.
    """
    samples, azimuth = pairs.samples, pairs.azimuth + recording.azimuth_offset[pairs.samples.channel]
    level = np.ones(len(azimuth), np.bool_)
    flat = np.ones(len(azimuth))
    if recording.elevation is not None:
        elevation = recording.elevation[samples.channel]
        level, flat = np.abs(elevation) < _LEVEL, np.cos(elevation)
    if level.sum() < 100:
        return None
    difference, slope = (flat * samples.difference_m)[level], (flat * pairs.slope)[level]
    relative = (pairs.slope / samples.range_m)[level]
    cos, sin = np.cos(azimuth[level]), np.sin(azimuth[level])
    design = np.stack([-cos - relative * sin, -sin + relative * cos, slope], axis=1)
    weights: NDArray[np.float64] = np.ones(len(difference))
    found: NDArray[np.floating] = np.zeros(3)
    residual = difference
    for _ in range(_ROUNDS):
        weighted = design * weights[:, None]
        found = np.linalg.lstsq(weighted.T @ design, weighted.T @ difference, rcond=None)[0]
        residual = difference - design @ found
        scale = max(1.4826 * float(np.median(np.abs(residual))), 1e-6)
        weights = np.maximum(1.0 - (residual / (_TUNED * scale)) ** 2, 0.0) ** 2
    # Errors of neighbors are not independent: the covariance is that of sums over blocks
    scores = design * (weights * residual)[:, None]
    block = np.unique(samples.block[level], return_inverse=True)[1]
    sums = np.stack([np.bincount(block, scores[:, k]) for k in range(3)], axis=1)
    bread = np.linalg.pinv((design * weights[:, None]).T @ design)
    error = np.sqrt(np.diag(bread @ (sums.T @ sums) @ bread))
    shift, half = float(np.hypot(*found[:2])), NORMAL_95 * float(np.hypot(*error[:2]))
    turned, half_turned = float(found[2]), NORMAL_95 * float(error[2])
    return Motion(
        Estimate(shift, max(shift - half, 0.0), shift + half),
        Estimate(turned, turned - half_turned, turned + half_turned),
    )

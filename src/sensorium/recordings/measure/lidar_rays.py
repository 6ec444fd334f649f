"""Rays of a spinning lidar that can be compared: on smooth surfaces, along a ring and from turn to turn."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.recordings.measure.lidar_timing import nearest
from sensorium.recordings.scans import FULL_TURN, LidarRecording

WINDOW = 9
"""Neighbors of one ring in a window."""

# Neighbors on one surface differ by less than 0.1 m, 0.5 % of the range, or some times the noise, whatever is most.
# Along rings rough surfaces look like noise, so that the noise counts less there
_STEP_M, _STEP_SHARE, _RING_NOISES, _PAIR_NOISES = 0.1, 0.005, 4.0, 8.0
_GAP = 1.5

# The noise itself makes up to 0.22 noises of this: a slope of four neighbors, at half a column apart, in two turns
_CORNER = 0.7

# Share of a corner in what a parabola leaves of a window, which 4 of 5 windows of normal noise alone do not reach: the
# quantile of a million
_CORNER_SHARE = 0.6236

# Blocks whose errors are taken for independent: a sector of 5 deg of four channels
_SECTORS, _CHANNELS = 72, 4


class Rays(NamedTuple):
    """The primary return of n columns and c channels, shape (n, c) each.

    Attributes:
        range_m: Range [m], 0 without a return.
        slope: Change of range with azimuth [m/rad], by a straight line through 9 neighbors.
        kink: Slope of the four neighbors ahead less that of the four behind [m/rad]: large at corners.
        is_smooth: Whether all 9 neighbors about a ray are on one smooth surface.
        is_whole: The same for surfaces that may be rough.
    """

    range_m: NDArray[np.float64]
    slope: NDArray[np.float64]
    kink: NDArray[np.float64]
    is_smooth: NDArray[np.bool_]
    is_whole: NDArray[np.bool_]


class Samples(NamedTuple):
    """Values that were compared, shape (m,) each.

    Attributes:
        difference_m: Difference of two ranges [m], or standard deviation of a window's residuals.
        range_m: Mean range [m].
        reflectivity: Mean reflectivity.
        signal: Mean signal; empty if the device reports none.
        channel: Channel.
        block: Number of the block.
    """

    difference_m: NDArray[np.float64]
    range_m: NDArray[np.float64]
    reflectivity: NDArray[np.float64]
    signal: NDArray[np.float64]
    channel: NDArray[np.int64]
    block: NDArray[np.int64]

    def where(self, chosen: NDArray[np.bool_]) -> "Samples":
        """Some of them, by a mask of shape (m,)."""
        kept: list[Any] = [values[chosen] if len(values) else values for values in self]
        return Samples(*kept)


class Pairs(NamedTuple):
    """Rays of successive turns in one direction.

    Attributes:
        samples: Differences, later less earlier, corrected for unequal azimuths by the slope.
        azimuth: Azimuth of each [rad], in the direction of rotation, shape (m,).
        slope: Slope of each [m/rad], shape (m,).
    """

    samples: Samples
    azimuth: NDArray[np.float64]
    slope: NDArray[np.float64]


def rays_of(recording: LidarRecording) -> Rays:
    """Ranges, slopes and smoothness of the primary return."""
    from scipy.ndimage import correlate1d

    range_m = recording.range_m[:, :, recording.primary].astype(np.float64)
    half = WINDOW // 2
    if len(range_m) < WINDOW:
        nothing, nowhere = np.zeros_like(range_m), np.zeros(range_m.shape, np.bool_)
        return Rays(range_m, nothing, nothing, nowhere, nowhere)
    turned = np.mod(np.diff(recording.azimuth), FULL_TURN)
    step = float(np.median(turned))
    near = turned < _GAP * step + 1e-9
    present = range_m > 0.0
    jump = np.abs(np.diff(range_m, axis=0))
    noise_m = _rough_noise(range_m)

    def on_one_surface(noises: float) -> NDArray[np.bool_]:
        most = np.maximum(max(_STEP_M, noises * noise_m), _STEP_SHARE * range_m[1:])
        linked = (jump < most) & present[1:] & present[:-1] & near[:, None]
        counts = np.cumsum(np.concatenate([np.zeros((1, linked.shape[1]), np.int32), linked], axis=0), axis=0)
        found = np.zeros(range_m.shape, np.bool_)
        found[half:-half] = counts[WINDOW - 1 :] - counts[: -WINDOW + 1] == WINDOW - 1
        return found

    place = np.arange(WINDOW) - half
    slope = correlate1d(range_m, place / np.sum(place**2), axis=0, mode="nearest") / max(step, 1e-12)
    ahead = np.array([-1.5, -0.5, 0.5, 1.5]) / 5.0
    apart = np.concatenate([-ahead, [0.0], ahead])
    kink = correlate1d(range_m, apart, axis=0, mode="nearest") / max(step, 1e-12)
    return Rays(range_m, slope, kink, on_one_surface(_RING_NOISES), on_one_surface(_PAIR_NOISES))


def _rough_noise(range_m: NDArray[np.float64]) -> float:
    """Noise by the smallest fifth of second differences along rings [m]: on smooth surfaces, wherever they are.

    Of normal values with unit variance, a fifth is below 0.2533; a second difference has six times the variance.
    """
    inside = (range_m[2:] > 0.0) & (range_m[1:-1] > 0.0) & (range_m[:-2] > 0.0)
    second = np.abs(range_m[2:] - 2.0 * range_m[1:-1] + range_m[:-2])[inside]
    return float(np.quantile(second, 0.2) / 0.2533 / np.sqrt(6.0)) if len(second) else 0.0


def pairs_of(recording: LidarRecording, rays: Rays, noise_m: float) -> Pairs:
    """Rays of each turn and the nearest of the next turn, where both are on surfaces without an edge.

    Left out are corners, at which the slope is uncertain by more than the noise times `_CORNER` for their azimuths.

    Args:
        recording: Of whole turns.
        rays: Of the recording.
        noise_m: Range noise, roughly [m].
    """
    found = [_pairs(recording, rays, number, _CORNER * noise_m) for number in range(int(recording.turn[-1]))]
    parts = [each for each in found if each is not None]
    if not parts:
        nothing = np.zeros(0)
        none = np.zeros(0, np.int64)
        return Pairs(Samples(nothing, nothing, nothing, nothing, none, none), nothing, nothing)
    samples = Samples(*(np.concatenate(each) for each in zip(*(part.samples for part in parts), strict=True)))
    return Pairs(samples, *(np.concatenate([getattr(part, name) for part in parts]) for name in ("azimuth", "slope")))


def matched(
    recording: LidarRecording, turn: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]] | None:
    """Columns of a turn, the nearest of the next turn, and how much further that is [rad]; None for parts of turns."""
    mine, others = (np.flatnonzero(recording.turn == number) for number in (turn, turn + 1))
    if min(len(mine), len(others)) < 2 * WINDOW:
        return None
    others = others[np.argsort(recording.azimuth[others], kind="stable")]
    ahead = recording.azimuth[others]
    theirs = others[nearest(ahead, recording.azimuth[mine])]
    further = recording.azimuth[theirs] - recording.azimuth[mine]
    step = float(np.median(np.mod(np.diff(recording.azimuth), FULL_TURN)))
    good = np.abs(further) <= 0.51 * step
    return mine[good], theirs[good], further[good]


def _pairs(recording: LidarRecording, rays: Rays, turn: int, corner_m: float) -> Pairs | None:
    found = matched(recording, turn)
    if found is None:
        return None
    mine, theirs, further = found
    kink = 0.5 * (rays.kink[mine] + rays.kink[theirs]) * further[:, None]
    at = np.nonzero(rays.is_whole[mine] & rays.is_whole[theirs] & (np.abs(kink) <= corner_m))
    first, second, channel = mine[at[0]], theirs[at[0]], at[1]
    slope = 0.5 * (rays.slope[first, channel] + rays.slope[second, channel])
    ranges = rays.range_m[first, channel], rays.range_m[second, channel]
    azimuth = recording.azimuth[first]
    samples = Samples(
        difference_m=ranges[1] - ranges[0] - slope * further[at[0]],
        range_m=0.5 * (ranges[0] + ranges[1]),
        reflectivity=_mean(recording.reflectivity[:, :, recording.primary], first, second, channel),
        signal=np.zeros(0)
        if recording.signal is None
        else _mean(recording.signal[:, :, recording.primary], first, second, channel),
        channel=channel,
        block=blocks_of(azimuth, channel),
    )
    return Pairs(samples, azimuth, slope)


def _mean(
    values: NDArray[np.integer], first: NDArray[np.intp], second: NDArray[np.intp], channel: NDArray[np.intp]
) -> NDArray[np.float64]:
    return 0.5 * (values[first, channel].astype(np.float64) + values[second, channel])


def windows_of(recording: LidarRecording, rays: Rays) -> Samples:
    """Standard deviation about a parabola in windows of 9 neighbors of a ring, which do not overlap.

    Left out are windows over corners: those of which a bend at one of the inner neighbors explains more than
    `_CORNER_SHARE` of what the parabola leaves. For normal errors this share does not depend on how much is left (D.
    Basu, Sankhya 15, 1955, 377), so that the choice does not change the noise.
    """
    half = WINDOW // 2
    centers = np.arange(half, len(rays.range_m) - half, WINDOW)
    at = np.nonzero(rays.is_smooth[centers])
    center, channel = centers[at[0]], at[1]
    columns = center[:, None] + np.arange(-half, half + 1)
    values = rays.range_m[columns, channel[:, None]]
    place = np.arange(WINDOW)[:, None] - float(half)
    basis, _ = np.linalg.qr(place ** np.arange(3))
    corners = np.maximum(place - np.arange(1 - half, half), 0.0)
    corners -= basis @ (basis.T @ corners)
    corners /= np.linalg.norm(corners, axis=0)
    residual = values - (values @ basis) @ basis.T
    square = np.sum(residual**2, axis=1)
    straight = np.max((residual @ corners) ** 2, axis=1) <= _CORNER_SHARE * square
    center, channel, columns = center[straight], channel[straight], columns[straight]

    def mean(field: NDArray[np.integer]) -> NDArray[np.float64]:
        return field[:, :, recording.primary][columns, channel[:, None]].mean(axis=1)

    return Samples(
        difference_m=np.sqrt(square[straight] / (WINDOW - 3)),
        range_m=values[straight].mean(axis=1),
        reflectivity=mean(recording.reflectivity),
        signal=np.zeros(0) if recording.signal is None else mean(recording.signal),
        channel=channel,
        block=blocks_of(recording.azimuth[center], channel),
    )


def blocks_of(azimuth: NDArray[np.float64], channel: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number of the block of each ray, by azimuth [rad] and channel."""
    sector = np.floor(azimuth * (_SECTORS / FULL_TURN)).astype(np.int64) % _SECTORS
    return sector + _SECTORS * (channel // _CHANNELS)

"""Bias of each beam of a lidar against the others, from planes that several beams share.

On a plane the inverse range is linear in the direction u of a ray: 1/r = m . u. With a bias b_j of beam j in the
recorded range,

    r = r^2 (m . u) + b_j + noise,

which is linear in m and b. Patches of the scan (some columns of neighboring beams) are tried as planes; each patch's m
is eliminated, and the normal equations of all patches together give the biases. A bias common to all beams, and one
linear in elevation, look like other planes: both are taken out, and the spread is that of the rest.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.recordings.measurement import Curve, Figure
from sensorium.recordings.scans import LidarRecording

_COLUMNS, _BEAMS = 24, 8
_MOST_COLUMNS = 12_000

# A patch is a plane if its residuals are below this many times the noise and this much for biases
_NOISES, _BIAS_M = 1.5, 0.03
_INCIDENCE = 0.6  # least cosine: beyond it errors of elevation look like biases
_LEAST_PATCHES, _GROUPS = 30, 16


class _Patches(NamedTuple):
    """Sums over p patches of h beams each, with beams of the whole lidar numbered in `beam`, shape (p, h)."""

    beam: NDArray[np.int64]
    count: NDArray[np.float64]  # (p, h): rays of each beam
    plane: NDArray[np.float64]  # (p, 3, 3): Z'Z of Z = r^2 u
    crossed: NDArray[np.float64]  # (p, h, 3): sums of Z over each beam
    ranges: NDArray[np.float64]  # (p, h): sums of r
    product: NDArray[np.float64]  # (p, 3): Z'r
    square: NDArray[np.float64]  # (p,): sum of r^2
    cosine: NDArray[np.float64]  # (p,): least cosine of incidence

    def where(self, chosen: NDArray[np.bool_]) -> "_Patches":
        return _Patches(*(values[chosen] for values in self))


def bias_figures(recording: LidarRecording, noise_m: float) -> tuple[list[Figure], list[Curve]]:
    """Standard deviation over beams of their biases, and each beam's; none where beams share too few planes.

    Args:
        recording: With elevations.
        noise_m: Range noise [m].
    """
    if recording.elevation is None or recording.channels < 4:
        return [], []
    patches = _patches(recording, noise_m)
    if patches is None or len(patches.square) < _LEAST_PATCHES:
        return [], []
    bias = np.zeros(recording.channels)
    limit = (_NOISES * noise_m) ** 2 + _BIAS_M**2
    for _ in range(3):
        chosen = patches.where((_residual(patches, bias) < limit) & (patches.cosine > _INCIDENCE))
        if len(chosen.square) < _LEAST_PATCHES:
            return [], []
        bias, seen = _solved(chosen, recording)
        limit = (_NOISES * noise_m) ** 2
    beams = np.flatnonzero(seen)
    if len(beams) < 4:
        return [], []
    group = np.arange(len(chosen.square)) * _GROUPS // len(chosen.square)
    without = np.stack([_solved(chosen.where(group != k), recording)[0][beams] for k in range(_GROUPS)])
    error = np.sqrt((_GROUPS - 1) / _GROUPS * np.sum((without - without.mean(axis=0)) ** 2, axis=0))
    found = bias[beams]
    figures = [_spread(found, error, len(chosen.square))]
    half = 2.131 * error  # Student's t of 15 degrees of freedom
    rays = np.zeros(recording.channels)
    np.add.at(rays, chosen.beam.reshape(-1), chosen.count.reshape(-1))
    for k, beam in enumerate(beams):
        ends = float(found[k] - half[k]), float(found[k] + half[k])
        figures.append(Figure("bias.of_beam", float(found[k]), "m", *ends, int(rays[beam]), f"beam {beam}"))
    order = np.argsort(recording.elevation[beams])
    elevation_deg = np.degrees(recording.elevation[beams])[order]
    drawn = found[order], (found - half)[order], (found + half)[order]
    return figures, [Curve("bias.of_beam", "elevation", "deg", "bias of the beam", "m", elevation_deg, *drawn)]


def _spread(bias: NDArray[np.float64], error: NDArray[np.float64], patches: int) -> Figure:
    """Standard deviation of the true biases: the variance of the estimates less that of their errors.

    Its interval is that of a standard deviation of as many normal values, by chi squared.
    """
    from scipy.special import chdtri

    free = len(bias) - 2  # mean and trend were taken out
    total = float(np.sum(bias**2))
    wrong = float(np.sum(error**2))
    value, low, high = (
        np.sqrt(max(total - wrong, 0.0) / by) for by in (free, chdtri(free, 0.025), chdtri(free, 0.975))
    )
    return Figure("bias.spread", float(value), "m", float(low), float(high), patches)


def _patches(recording: LidarRecording, noise_m: float) -> _Patches | None:
    """Patches of the scan in which all rays have a return: columns do not overlap, beams overlap by half."""
    assert recording.elevation is not None
    columns = min(len(recording.azimuth), _MOST_COLUMNS) // _COLUMNS * _COLUMNS
    if columns == 0:
        return None
    order = np.argsort(recording.elevation, kind="stable")
    beams = min(_BEAMS, recording.channels)
    starts = np.unique(
        np.append(np.arange(0, recording.channels - beams, max(beams // 2, 1)), recording.channels - beams)
    )
    short = recording.of_columns(np.arange(len(recording.azimuth)) < columns)
    directions = short.directions_S()
    ranges = short.range_m[:, :, recording.primary].astype(np.float64)
    found = []
    for start in starts:
        beam = order[start : start + beams]
        r = ranges[:, beam].reshape(-1, _COLUMNS, beams)
        u = directions[:, beam].reshape(-1, _COLUMNS, beams, 3)
        whole = (r > 0.0).all(axis=(1, 2))
        spread = r.max(axis=(1, 2)) - r.min(axis=(1, 2))
        whole &= spread < 0.5 * r.mean(axis=(1, 2))  # planes seen at a grazing angle spread more
        if whole.any():
            found.append(_sums(r[whole], u[whole], np.broadcast_to(beam, (int(whole.sum()), beams))))
    return _Patches(*(np.concatenate(each) for each in zip(*found, strict=True))) if found else None


def _sums(r: NDArray[np.float64], u: NDArray[np.float64], beam: NDArray[np.int64]) -> _Patches:
    z = r[..., None] ** 2 * u
    flat = z.reshape(len(z), -1, 3)
    plane = flat.swapaxes(1, 2) @ flat
    product = np.einsum("pncx,pnc->px", z, r)
    m = np.linalg.solve(plane + 1e-9 * np.trace(plane, axis1=1, axis2=2)[:, None, None] * np.eye(3), product[..., None])
    normal = m[..., 0] / np.maximum(np.linalg.norm(m[..., 0], axis=1), 1e-300)[:, None]
    cosine = np.einsum("pncx,px->pnc", u, normal).min(axis=(1, 2))
    count = np.full(beam.shape, float(r.shape[1]))
    return _Patches(beam, count, plane, z.sum(axis=1), r.sum(axis=1), product, np.sum(r**2, axis=(1, 2)), cosine)


def _residual(patches: _Patches, bias: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean square of what a plane and the biases leave [m^2], shape (p,)."""
    b = bias[patches.beam]
    # Sums for r - b
    product = patches.product - np.einsum("phx,ph->px", patches.crossed, b)
    square = patches.square - 2.0 * np.sum(b * patches.ranges, axis=1) + np.sum(patches.count * b**2, axis=1)
    m = np.linalg.solve(_regular(patches.plane), product[..., None])[..., 0]
    left = square - 2.0 * np.sum(m * product, axis=1) + np.einsum("px,pxy,py->p", m, patches.plane, m)
    return left / (patches.count.sum(axis=1) - 3.0)


def _regular(plane: NDArray[np.float64]) -> NDArray[np.float64]:
    return plane + 1e-12 * np.trace(plane, axis1=1, axis2=2)[:, None, None] * np.eye(3)


def _solved(patches: _Patches, recording: LidarRecording) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Biases by the normal equations [m], without mean and trend in elevation, and which beams have some."""
    assert recording.elevation is not None
    h, size = patches.beam.shape[1], recording.channels
    inverse = np.linalg.inv(_regular(patches.plane))
    through = patches.crossed @ inverse
    matrix = -through @ patches.crossed.swapaxes(1, 2)
    matrix[:, np.arange(h), np.arange(h)] += patches.count
    vector = patches.ranges - np.einsum("phx,px->ph", through, patches.product)
    normal, right = np.zeros((size, size)), np.zeros(size)
    np.add.at(normal, (patches.beam[:, :, None], patches.beam[:, None, :]), matrix)
    np.add.at(right, patches.beam, vector)
    seen = np.diag(normal) > 0.0
    # Mean and trend are hardly determined: they are held at zero
    fixed = np.stack([seen.astype(np.float64), np.where(seen, recording.elevation, 0.0)], axis=1)
    fixed[:, 1] -= np.where(seen, fixed[seen, 1].mean(), 0.0)
    fixed /= np.maximum(np.linalg.norm(fixed, axis=0), 1e-300)
    scale = float(np.trace(normal)) / max(int(seen.sum()), 1)
    bias = np.linalg.lstsq(normal + scale * fixed @ fixed.T, right, rcond=1e-9)[0]
    bias -= fixed @ (fixed.T @ bias)
    return np.where(seen, bias, 0.0), seen

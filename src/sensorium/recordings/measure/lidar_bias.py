"""Bias of each beam of a lidar against the others, from planes that several beams share.

On a plane the inverse range is linear in the direction u of a ray. With a bias b_j of beam j in the recorded range,
1/(r - b_j) = m . u, and to first order

    r = r^2 (m . u) - b_j + noise,

which is linear in m and b. Patches of the scan (some columns of neighboring beams) are tried as planes; each patch's m
is eliminated, which leaves normal equations A b = g. A bias common to all beams, and one linear in elevation, look like
other planes: both are held at zero. Other slow changes over beams are hardly determined either, since surfaces are not
quite flat. So biases are taken for normal with standard deviation s, the figure: with eigenvectors v_k and eigenvalues
a_k of A, x_k = v_k . g / sqrt(a_k) has the variance a_k s^2 + n_k, where n_k is the scatter over sectors of azimuth. s
is that of the largest likelihood, its interval that of the likelihood ratio, and beams have the mean and the standard
deviation given s (variance components: S. R. Searle et al., Variance Components, 1992, chapter 6).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.recordings.measure.intervals import NORMAL_95, Estimate
from sensorium.recordings.measurement import Curve, Figure
from sensorium.recordings.scans import FULL_TURN, LidarRecording

_COLUMNS = 8
_BEAMS = (4, 8)
"""Beams of a patch: few, which find more planes, and more, which tie distant beams together."""
_MOST_COLUMNS = 12_000

# A patch is a plane if its residuals are below this many times the noise and this much for biases
_NOISES, _BIAS_M = 1.5, 0.03
_INCIDENCE = 0.6  # least cosine: beyond it errors of elevation look like biases
_LEAST_PATCHES, _SECTORS, _ROUNDS = 30, 16, 4


class _Patches(NamedTuple):
    """Sums over p patches of h beams each; a patch of fewer beams has the number 0 for the others."""

    beam: NDArray[np.int64]  # (p, h): number of each beam of the lidar
    number: NDArray[np.float64]  # (p, h): rays of each beam
    plane: NDArray[np.float64]  # (p, 3, 3): Z'Z of Z = r^2 u
    crossed: NDArray[np.float64]  # (p, h, 3): sums of Z over each beam
    ranges: NDArray[np.float64]  # (p, h): sums of r
    product: NDArray[np.float64]  # (p, 3): Z'r
    square: NDArray[np.float64]  # (p,): sum of r^2
    cosine: NDArray[np.float64]  # (p,): least cosine of incidence
    sector: NDArray[np.int64]  # (p,): number of the sector of azimuth

    def where(self, chosen: NDArray[np.bool_]) -> "_Patches":
        kept: list[Any] = [values[chosen] for values in self]
        return _Patches(*kept)


class _Biases(NamedTuple):
    """Negative biases of the beams, their standard deviations given the spread [m], shape (c,), and the spread."""

    mean: NDArray[np.float64]
    error: NDArray[np.float64]
    spread: Estimate


def bias_figures(recording: LidarRecording, noise_m: float) -> tuple[list[Figure], list[Curve]]:
    """Standard deviation over beams of their biases, and each beam's; none where beams share too few planes.

    Args:
        recording: With elevations.
        noise_m: Range noise [m].
    """
    if recording.elevation is None or recording.channels < max(_BEAMS):
        return [], []
    patches = _patches(recording)
    if patches is None:
        return [], []
    found = _Biases(np.zeros(recording.channels), np.zeros(recording.channels), Estimate(0.0, 0.0, 0.0))
    limit = (_NOISES * noise_m) ** 2 + _BIAS_M**2
    for _ in range(3):
        chosen = patches.where((_residual(patches, found.mean) < limit) & (patches.cosine > _INCIDENCE))
        if len(chosen.square) < _LEAST_PATCHES:
            return [], []
        found = _solved(chosen, recording.elevation)
        limit = (_NOISES * noise_m) ** 2
    rays = np.bincount(chosen.beam.reshape(-1), chosen.number.reshape(-1), recording.channels)
    beams = np.flatnonzero(rays > 0.0)
    figures = [Figure("bias.spread", found.spread.value, "m", *found.spread[1:], len(chosen.square))]
    if found.spread.low == 0.0:  # biases cannot be distinguished from none
        return figures, []
    bias = -found.mean
    low, high = bias - NORMAL_95 * found.error, bias + NORMAL_95 * found.error
    for beam in beams:
        value = float(bias[beam]), "m", float(low[beam]), float(high[beam])
        figures.append(Figure("bias.of_beam", *value, int(rays[beam]), f"beam {beam}"))
    order = beams[np.argsort(recording.elevation[beams])]
    drawn = np.degrees(recording.elevation), bias, low, high
    values = [each[order] for each in drawn]
    return figures, [Curve("bias.of_beam", "elevation", "deg", "bias of the beam", "m", *values)]


def _patches(recording: LidarRecording) -> _Patches | None:
    """Patches of the scan in which all rays have a return: columns do not overlap, beams overlap by half."""
    assert recording.elevation is not None
    columns = min(len(recording.azimuth), _MOST_COLUMNS) // _COLUMNS * _COLUMNS
    order = np.argsort(recording.elevation, kind="stable")
    short = recording.of_columns(np.arange(len(recording.azimuth)) < columns)
    directions = short.directions_S()
    ranges = short.range_m[:, :, recording.primary].astype(np.float64)
    sector = (short.azimuth[::_COLUMNS] * (_SECTORS / FULL_TURN)).astype(np.int64) % _SECTORS
    most, found = min(max(_BEAMS), recording.channels), []
    for beams in _BEAMS:
        for start in range(0, recording.channels - beams + 1, beams // 2):
            beam = order[start : start + beams]
            r = ranges[:, beam].reshape(-1, _COLUMNS, beams)
            u = directions[:, beam].reshape(-1, _COLUMNS, beams, 3)
            whole = (r > 0.0).all(axis=(1, 2))
            spread = r.max(axis=(1, 2)) - r.min(axis=(1, 2))
            whole &= spread < 0.5 * r.mean(axis=(1, 2))  # planes seen at a grazing angle spread more
            if whole.any():
                found.append(_sums(r[whole], u[whole], beam, sector[whole], most))
    return _Patches(*(np.concatenate(each) for each in zip(*found, strict=True))) if found else None


def _sums(
    r: NDArray[np.float64], u: NDArray[np.float64], beam: NDArray[np.int64], sector: NDArray[np.int64], most: int
) -> _Patches:
    """Sums of patches with ranges r, shape (p, columns, beams), and directions u, shape (p, columns, beams, 3)."""
    z = r[..., None] ** 2 * u
    flat = z.reshape(len(z), -1, 3)
    plane = flat.swapaxes(1, 2) @ flat
    product = np.einsum("pncx,pnc->px", z, r)
    m = np.linalg.solve(_regular(plane), product[..., None])[..., 0]
    normal = m / np.maximum(np.linalg.norm(m, axis=1), 1e-300)[:, None]
    cosine = np.einsum("pncx,px->pnc", u, normal).min(axis=(1, 2))
    more = [(0, 0), (0, most - len(beam))]
    count = np.pad(np.full((len(r), len(beam)), float(r.shape[1])), more)
    numbers = np.pad(np.broadcast_to(beam, (len(r), len(beam))), more)
    crossed, ranges = np.pad(z.sum(axis=1), [*more, (0, 0)]), np.pad(r.sum(axis=1), more)
    return _Patches(numbers, count, plane, crossed, ranges, product, np.sum(r**2, axis=(1, 2)), cosine, sector)


def _residual(patches: _Patches, negative: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean square of what a plane and the biases leave [m^2], shape (p,)."""
    b = negative[patches.beam]
    product = patches.product - np.einsum("phx,ph->px", patches.crossed, b)
    square = patches.square - 2.0 * np.sum(b * patches.ranges, axis=1) + np.sum(patches.number * b**2, axis=1)
    m = np.linalg.solve(_regular(patches.plane), product[..., None])[..., 0]
    left = square - 2.0 * np.sum(m * product, axis=1) + np.einsum("px,pxy,py->p", m, patches.plane, m)
    return left / (patches.number.sum(axis=1) - 3.0)


def _regular(plane: NDArray[np.float64]) -> NDArray[np.float64]:
    return plane + 1e-12 * np.trace(plane, axis1=1, axis2=2)[:, None, None] * np.eye(3)


def _solved(patches: _Patches, elevation: NDArray[np.float64]) -> _Biases:
    """Negative biases and their spread by the normal equations of all patches."""
    h, size = patches.beam.shape[1], len(elevation)
    through = patches.crossed @ np.linalg.inv(_regular(patches.plane))
    matrix = -through @ patches.crossed.swapaxes(1, 2)
    matrix[:, np.arange(h), np.arange(h)] += patches.number
    vector = patches.ranges - np.einsum("phx,px->ph", through, patches.product)
    row = patches.sector[:, None] * size + patches.beam
    cell = row[:, :, None] * size + patches.beam[:, None, :]
    normal = np.bincount(cell.reshape(-1), matrix.reshape(-1), _SECTORS * size * size).reshape(_SECTORS, size, size)
    right = np.bincount(row.reshape(-1), vector.reshape(-1), _SECTORS * size).reshape(_SECTORS, size)

    # Mean and trend over the beams that were seen are held at zero
    seen = np.einsum("sii->i", normal) > 0.0
    fixed = np.stack([seen.astype(np.float64), np.where(seen, elevation - elevation[seen].mean(), 0.0)], axis=1)
    fixed /= np.maximum(np.linalg.norm(fixed, axis=0), 1e-300)
    free = np.diag(seen.astype(np.float64)) - fixed @ fixed.T
    values, vectors = np.linalg.eigh(free @ normal.sum(axis=0) @ free)
    kept = values > 1e-9 * values.max()
    values, vectors = values[kept], vectors[:, kept]
    x = (right.sum(axis=0) @ vectors) / np.sqrt(values)

    mean, spread = np.zeros(size), Estimate(0.0, 0.0, 0.0)
    weight = np.zeros(len(values))
    for _ in range(_ROUNDS):
        left = (right - normal @ mean) @ vectors
        scatter = np.sum(left**2, axis=0) / values * _SECTORS / (_SECTORS - 1)
        spread = _likely_spread(x, values, scatter)
        weight = values * spread.value**2 / (values * spread.value**2 + scatter + 1e-300)
        mean = vectors @ (weight * x / np.sqrt(values))
    # Given the spread, what is not known of a beam is what the data do not tell of each direction
    unknown = spread.value**2 * (np.where(seen, 1.0, 0.0) - vectors**2 @ weight - np.sum(fixed**2, axis=1))
    return _Biases(mean, np.sqrt(np.maximum(unknown, 0.0)), spread)


def _likely_spread(x: NDArray[np.float64], values: NDArray[np.float64], scatter: NDArray[np.float64]) -> Estimate:
    """The spread of largest likelihood, and those whose likelihood is not lower by half of chi squared's 3.84 [m]."""
    tried = np.concatenate([[0.0], np.geomspace(1e-5, 0.5, 800)])
    variance = values * tried[:, None] ** 2 + scatter + 1e-300
    likelihood = -0.5 * np.sum(np.log(variance) + x**2 / variance, axis=1)
    inside = tried[likelihood >= likelihood.max() - 0.5 * NORMAL_95**2]
    return Estimate(float(tried[np.argmax(likelihood)]), float(inside[0]), float(inside[-1]))

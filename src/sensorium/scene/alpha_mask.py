"""Holes that an image's alpha cuts into faces, such as leaves drawn on cards: rays pass through them.

Faces are cut once, when a file is read, so every sensor sees the same holes. A face is kept where all texels below it
are opaque, dropped where none is, and halved along its sides else, down to the texels; there the border is cut along
the straight line on which alpha, linear between corners, is the cutoff.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.scene.formats.textures import CLAMP, MIRROR, wrapped

# Faces that a file's masks may make at any size, and the addition for each face that it has
_FREE_FACES, _FACES_PER_FACE = 1 << 17, 8

_HALVES = 0.5 * np.array(
    [
        [[2, 0, 0], [1, 1, 0], [1, 0, 1]],
        [[1, 1, 0], [0, 2, 0], [0, 1, 1]],
        [[1, 0, 1], [0, 1, 1], [0, 0, 2]],
        [[1, 1, 0], [0, 1, 1], [1, 0, 1]],
    ]
)


class Pieces(NamedTuple):
    """Triangles on faces: the face of each, (k,), and its corners as weights of the face's, (k, 3, 3)."""

    face: NDArray[np.int64]
    weights: NDArray[np.float64]


def most_faces(face_count: int) -> int:
    """Most faces that masks may make from this many."""
    return _FREE_FACES + _FACES_PER_FACE * face_count


def cut(
    corner_uv: NDArray[np.float64],
    alpha: NDArray[np.float64],
    cutoff: float,
    wrap: tuple[int, int],
    most: int,
) -> tuple[NDArray[np.bool_], Pieces]:
    """The opaque part of masked faces.

    Args:
        corner_uv: Places of the corners of faces in the image, (m, 3, 2), v upwards.
        alpha: Of the image, (rows, columns).
        cutoff: Alpha from which on it is opaque.
        wrap: Continuation beyond the image.
        most: Most pieces that are made; where they would be more, the border is cut more coarsely.

    Returns:
        Which faces stay whole, (m,), and the pieces that are left of others.
    """
    rows, columns = alpha.shape
    at = np.stack([corner_uv[..., 0] * columns - 0.5, (1.0 - corner_uv[..., 1]) * rows - 0.5], axis=-1)
    opaque = _Opaque(alpha >= cutoff, wrap)
    share = opaque.share(at)
    stays = share == 1.0
    mixed = np.flatnonzero((share > 0.0) & (share < 1.0))
    face, weights = mixed, np.broadcast_to(np.eye(3), (len(mixed), 3, 3))
    done: list[Pieces] = []
    made = 0
    while len(face):
        corners = weights @ at[face]
        fine = np.ptp(corners, axis=1).max(axis=1) <= 1.0
        if made + 2 * int(fine.sum()) + 4 * int((~fine).sum()) > most:
            fine[:] = True  # no room for finer ones
        if fine.any():
            done.append(_along_border(Pieces(face[fine], weights[fine]), corners[fine], alpha, cutoff, wrap))
            made += len(done[-1].face)
        face = np.repeat(face[~fine], 4)
        weights = (_HALVES[None] @ weights[~fine][:, None]).reshape(-1, 3, 3)
        share = opaque.share(weights @ at[face])
        whole, mixed_here = share == 1.0, (share > 0.0) & (share < 1.0)
        done.append(Pieces(face[whole], weights[whole]))
        made += int(whole.sum())
        face, weights = face[mixed_here], weights[mixed_here]
    none = Pieces(np.zeros(0, np.int64), np.zeros((0, 3, 3)))
    return stays, Pieces(*(np.concatenate(each) for each in zip(none, *done, strict=True)))


def _along_border(
    pieces: Pieces, at: NDArray[np.float64], alpha: NDArray[np.float64], cutoff: float, wrap: tuple[int, int]
) -> Pieces:
    """The opaque part of small triangles, with alpha linear between their corners."""
    above = _bilinear(alpha, at, wrap) - cutoff
    inside = above >= 0.0
    count = inside.sum(axis=1)
    face, weights = [pieces.face[count == 3]], [pieces.weights[count == 3]]
    for inner in (1, 2):
        rows = np.flatnonzero(count == inner)
        # Turned so that the corner that differs comes first; the order around stays
        odd = np.argmax(inside[rows] if inner == 1 else ~inside[rows], axis=1)
        order = (odd[:, None] + np.arange(3)) % 3
        turned = np.take_along_axis(pieces.weights[rows], order[..., None], axis=1)
        value = np.take_along_axis(above[rows], order, axis=1)
        first, second, third = turned[:, 0], turned[:, 1], turned[:, 2]
        p = first + (value[:, 0] / (value[:, 0] - value[:, 1]))[:, None] * (second - first)
        q = first + (value[:, 0] / (value[:, 0] - value[:, 2]))[:, None] * (third - first)
        triangles = [(first, p, q)] if inner == 1 else [(p, second, third), (p, third, q)]
        for corners in triangles:
            face.append(pieces.face[rows])
            weights.append(np.stack(corners, axis=1))
    return Pieces(np.concatenate(face), np.concatenate(weights))


def _bilinear(alpha: NDArray[np.float64], at: NDArray[np.float64], wrap: tuple[int, int]) -> NDArray[np.float64]:
    """Alpha at places in texels, (*batch, 2), to the right and down."""
    rows, columns = alpha.shape
    left, top = np.floor(at[..., 0]).astype(np.int64), np.floor(at[..., 1]).astype(np.int64)
    a, b = at[..., 0] - left, at[..., 1] - top
    i = [wrapped(top + k, rows, wrap[1]) for k in (0, 1)]
    j = [wrapped(left + k, columns, wrap[0]) for k in (0, 1)]
    upper = (1.0 - a) * alpha[i[0], j[0]] + a * alpha[i[0], j[1]]
    return np.asarray((1.0 - b) * upper + b * ((1.0 - a) * alpha[i[1], j[0]] + a * alpha[i[1], j[1]]))


class _Opaque:
    """Opaque share of a box of texels, by sums over all texels above and to the left."""

    def __init__(self, opaque: NDArray[np.bool_], wrap: tuple[int, int]) -> None:
        # A mirrored image is one of twice the size that repeats
        for axis, each in ((1, wrap[0]), (0, wrap[1])):
            if each == MIRROR:
                opaque = np.concatenate([opaque, np.flip(opaque, axis)], axis=axis)
        self._wrap = wrap
        self._sums = np.zeros((opaque.shape[0] + 1, opaque.shape[1] + 1), np.int64)
        np.cumsum(np.cumsum(opaque, axis=0, dtype=np.int64), axis=1, out=self._sums[1:, 1:])

    def share(self, corners: NDArray[np.float64]) -> NDArray[np.float64]:
        """Share of opaque texels among those that alpha in the box around corners, (k, 3, 2), depends on."""
        low = np.floor(corners.min(axis=1)).astype(np.int64)
        high = np.floor(corners.max(axis=1)).astype(np.int64) + 2
        for axis, count in ((0, self._sums.shape[1] - 1), (1, self._sums.shape[0] - 1)):
            if self._wrap[axis] == CLAMP:
                low[:, axis] = np.clip(low[:, axis], 0, count - 1)
                high[:, axis] = np.clip(high[:, axis], low[:, axis] + 1, count)
        (x0, y0), (x1, y1) = low.T, high.T
        total = self._before(x1, y1) - self._before(x0, y1) - self._before(x1, y0) + self._before(x0, y0)
        return np.asarray(total / ((x1 - x0) * (y1 - y0)))

    def _before(self, x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.int64]:
        """Opaque texels above and to the left, of the image repeated without end; relative to its corner."""
        rows, columns = self._sums.shape[0] - 1, self._sums.shape[1] - 1
        (i, r), (j, c) = np.divmod(y, rows), np.divmod(x, columns)
        sums = self._sums
        return np.asarray(i * j * sums[-1, -1] + i * sums[-1, c] + j * sums[r, -1] + sums[r, c])

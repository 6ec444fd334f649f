"""Masks cut into faces, against alpha looked up point by point."""

import numpy as np
import pytest

from sensorium.scene.alpha_mask import cut
from sensorium.scene.formats.textures import CLAMP, MIRROR, REPEAT, looked_up

SQUARE = np.array([[[0, 0], [1, 0], [1, 1]], [[0, 0], [1, 1], [0, 1]]], float)


def covered(stays, pieces, corner_uv, points):
    """Whether points, given as face and (u, v) in the image, lie on what is left."""
    found = stays[points[0]].copy()
    triangles = pieces.weights @ corner_uv[pieces.face]
    for face, (a, b, c) in zip(pieces.face, triangles, strict=True):
        here = np.flatnonzero((points[0] == face) & ~found)
        p = points[1][here]
        sides = [
            (q[0] - o[0]) * (p[:, 1] - o[1]) - (q[1] - o[1]) * (p[:, 0] - o[0]) for o, q in ((a, b), (b, c), (c, a))
        ]
        found[here] = (np.min(sides, axis=0) >= 0) | (np.max(sides, axis=0) <= 0)
    return found


def random_points(rng, corner_uv, count):
    face = rng.integers(len(corner_uv), size=count)
    weights = rng.dirichlet([1, 1, 1], count)
    return face, np.einsum("kc,kcx->kx", weights, corner_uv[face])


@pytest.mark.parametrize("wrap", [(REPEAT, REPEAT), (CLAMP, MIRROR), (MIRROR, CLAMP), (CLAMP, CLAMP)])
def test_what_is_left_is_where_alpha_is_above_the_cutoff(wrap):
    """A smooth alpha, faces that reach beyond the image: wrong only within a fifth of a texel of the border."""
    rng = np.random.default_rng(3)
    y, x = np.mgrid[0:16, 0:24]
    alpha = 0.5 + 0.5 * np.sin(x / 24 * 2 * np.pi * 2) * np.cos(y / 16 * 2 * np.pi)
    corner_uv = 1.7 * SQUARE - 0.4
    stays, pieces = cut(corner_uv, alpha, 0.6, wrap, 1 << 20)
    points = random_points(rng, corner_uv, 400)
    value = looked_up(alpha[..., None], points[1], wrap)[:, 0]
    far = np.abs(value - 0.6) > 0.03
    assert far.sum() > 250
    np.testing.assert_array_equal(covered(stays, pieces, corner_uv, points)[far], (value > 0.6)[far])


def test_areas_are_those_of_the_texels():
    """The left half is opaque: with repeat, alpha crosses 1/2 at u = 0.5 and at u = 0, so half of the area is left."""
    alpha = np.zeros((8, 8))
    alpha[:, :4] = 1.0
    stays, pieces = cut(SQUARE, alpha, 0.5, (REPEAT, REPEAT), 1 << 20)
    assert not stays.any()
    triangles = pieces.weights @ SQUARE[pieces.face]
    sides = triangles[:, 1:] - triangles[:, :1]
    area = 0.5 * (sides[:, 0, 0] * sides[:, 1, 1] - sides[:, 0, 1] * sides[:, 1, 0])
    assert (area >= -1e-12).all()  # wound as the face is
    assert area.sum() == pytest.approx(0.5, abs=1e-9)


def test_whole_faces_stay_and_empty_ones_go():
    alpha = np.ones((8, 8))
    stays, pieces = cut(SQUARE, alpha, 0.5, (CLAMP, CLAMP), 1 << 20)
    assert stays.all()
    assert not len(pieces.face)
    stays, pieces = cut(SQUARE, 0.0 * alpha, 0.5, (CLAMP, CLAMP), 1 << 20)
    assert not stays.any()
    assert not len(pieces.face)


def test_no_more_pieces_than_allowed():
    """A checkerboard of single texels, the most detail an image can have, on a face that repeats it a hundred times."""
    alpha = (np.indices((64, 64)).sum(axis=0) % 2).astype(float)
    _, pieces = cut(100.0 * SQUARE, alpha, 0.5, (REPEAT, REPEAT), 5000)
    assert len(pieces.face) <= 5000

"""Trees: closed parts, labels, size, and one tree for each seed."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SceneError

GROWN = {
    "broadleaf": lambda seed: sn.trees.broadleaf(8.0, seed=seed),
    "bare": lambda seed: sn.trees.broadleaf(8.0, seed=seed, leaves=False),
    "conifer": lambda seed: sn.trees.conifer(8.0, seed=seed),
}


@pytest.mark.parametrize("kind", GROWN)
def test_every_part_is_closed_and_wound_outward(kind):
    tree = GROWN[kind](1)
    edges = np.concatenate([tree.faces[:, [0, 1]], tree.faces[:, [1, 2]], tree.faces[:, [2, 0]]])
    forward = {tuple(edge) for edge in edges.tolist()}
    assert len(forward) == len(edges)
    assert all((b, a) in forward for a, b in forward)
    corners = tree.vertices[tree.faces]
    volume = np.einsum("fi,fi->f", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0
    assert volume.sum() > 0.0


@pytest.mark.parametrize("kind", GROWN)
def test_it_stands_on_its_foot_as_high_as_asked(kind):
    tree = GROWN[kind](2)
    assert tree.bounds[0, 2] == pytest.approx(0.0, abs=0.05)
    assert tree.bounds[1, 2] == pytest.approx(8.0, rel=0.15)
    assert set(np.unique(tree.face_labels)) == ({"trunk"} if kind == "bare" else {"trunk", "leaves"})
    assert 150 < len(tree.faces) < 3000


@pytest.mark.parametrize("kind", GROWN)
def test_a_seed_is_a_tree(kind):
    np.testing.assert_array_equal(GROWN[kind](3).vertices, GROWN[kind](3).vertices)
    assert not np.allclose(GROWN[kind](3).vertices, GROWN[kind](4).vertices)


def test_bad_sizes_are_told():
    with pytest.raises(SceneError, match="height is -1"):
        sn.trees.conifer(-1.0, seed=0)
    with pytest.raises(SceneError, match="a tree has 0 branches"):
        sn.trees.broadleaf(5.0, seed=0, branches=0)

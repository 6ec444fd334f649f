"""Cuts: every point lies in one part, and the parts carry equal loads."""

import numpy as np
import pytest

from sensorium.scene.partition.cuts import Cut, balanced_cuts, part_at


@pytest.mark.parametrize("parts", [1, 2, 3, 5, 8])
def test_parts_carry_equal_loads(parts):
    rng = np.random.default_rng(1)
    points, load = rng.normal(size=(20_000, 3)) * [5, 1, 2], rng.uniform(0.5, 2.0, 20_000)
    part = part_at(balanced_cuts(points, load, parts), points)
    carried = np.bincount(part, weights=load, minlength=parts)
    assert len(carried) == parts
    assert carried == pytest.approx(load.sum() / parts, rel=0.01)


def test_the_first_cut_is_across_the_longest_side():
    rng = np.random.default_rng(2)
    points = rng.uniform(-1, 1, (1000, 3)) * [1, 1, 7]
    cuts = balanced_cuts(points, np.ones(1000), 2)
    assert isinstance(cuts, Cut)
    assert cuts.axis == 2
    assert (part_at(cuts, points) == (points[:, 2] >= cuts.at_m)).all()


def test_points_in_one_place_stay_together():
    points = np.tile([1.0, 2.0, 3.0], (100, 1))
    assert len(np.unique(part_at(balanced_cuts(points, np.ones(100), 4), points))) == 1


def test_a_part_is_a_place_not_a_list_of_points():
    rng = np.random.default_rng(3)
    cuts = balanced_cuts(rng.normal(size=(500, 3)), np.ones(500), 5)
    new = rng.normal(size=(700, 3))
    assert (part_at(cuts, new) == np.array([part_at(cuts, one[None])[0] for one in new])).all()

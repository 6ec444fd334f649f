"""Points of the pupil stand for equal areas of it."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics.imaging import pupil_points


@pytest.mark.parametrize(("count", "sets"), [(2, 1), (16, 1), (8, 9)])
def test_moments_are_those_of_a_disc(count, sets):
    points = pupil_points(count, sets)
    assert points.shape == (sets, count, 2)
    np.testing.assert_allclose(points.mean(axis=1), 0.0, atol=1e-15)
    assert (points**2).sum(axis=-1).mean() == pytest.approx(0.5, rel=1e-12)
    assert (np.hypot(*points.reshape(-1, 2).T) < 1.0).all()


def test_many_points_fill_the_disc_evenly():
    points = pupil_points(2000)[0]
    radius, angle = np.hypot(*points.T), np.arctan2(points[:, 1], points[:, 0])
    counts, *_ = np.histogram2d(radius**2, angle, bins=(5, 8), range=((0, 1), (-np.pi, np.pi)))
    assert counts.min() > 45
    assert counts.max() < 55


def test_one_ray_is_the_chief_ray_and_odd_numbers_are_refused():
    np.testing.assert_array_equal(pupil_points(1, 4), np.zeros((4, 1, 2)))
    with pytest.raises(SpecError, match="count is 7 and sets 1; points are 1 or an even number"):
        pupil_points(7)

"""Angles of a point: to the left and up are positive, and the thesis's elevation is not the elevation."""

import math

import numpy as np
import pytest

from sensorium.physics.cone import azimuth, elevation, projected_elevation


def test_left_and_up_are_positive():
    assert azimuth(np.array([1.0, 1.0, 0.0])) == pytest.approx(math.pi / 4)
    up = np.array([1.0, 0.0, 1.0])
    assert elevation(up) == projected_elevation(up) == pytest.approx(math.pi / 4)


def test_the_projected_elevation_is_an_elevation_only_straight_ahead():
    # E-24: at 60 degrees to the side, a point as high as it is far ahead is twice as far away
    point = np.array([1.0, math.sqrt(3.0), 1.0])
    assert projected_elevation(point) == pytest.approx(math.pi / 4)
    assert elevation(point) == pytest.approx(math.atan(0.5))

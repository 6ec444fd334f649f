"""Satellites of an epoch; its other fields are tested with the receivers."""

import numpy as np

from sensorium.live.talkers.epochs import sky_of


def test_satellites_are_spread_over_the_sky():
    for count in (4, 12, 32):
        sky = np.array(sky_of(count))
        assert sky.shape == (count, 2)
        assert ((sky[:, 0] >= 0) & (sky[:, 0] < 360)).all()
        assert ((sky[:, 1] > 10) & (sky[:, 1] <= 90)).all()
        azimuth, elevation = np.radians(sky.T)
        east_north = np.stack([np.sin(azimuth), np.cos(azimuth)]) * np.cos(elevation)
        assert np.abs(east_north.mean(axis=1)).max() < 0.2

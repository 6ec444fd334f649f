"""Rays that can be compared: slopes, edges, pairs and windows."""

import numpy as np
import pytest

from sensorium.recordings.measure.lidar_rays import WINDOW, blocks_of, pairs_of, rays_of, windows_of
from tests.unit.recordings.measure.scenes import room


def test_slopes_are_those_of_the_walls():
    recording = room(rng=np.random.default_rng(1), turns=1, columns=2000, noise_m=0.0, quantum_m=1e-6)
    rays = rays_of(recording)
    slope = np.gradient(rays.range_m[:, 7], recording.azimuth)
    inner = np.flatnonzero(rays.is_smooth[:, 7] & (np.abs(rays.kink[:, 7]) < 0.5))
    inner = inner[(inner > 10) & (inner < 1990)]
    assert len(inner) > 1500
    np.testing.assert_allclose(rays.slope[inner, 7], slope[inner], rtol=0.03, atol=0.05)


def test_edges_and_missing_rays_are_not_smooth():
    recording = room(rng=np.random.default_rng(2), turns=1, columns=2000)
    ranges = recording.range_m.copy()
    ranges[500:520] -= 1.5
    ranges[900, 3] = 0.0
    rays = rays_of(recording._replace(range_m=ranges))
    half = WINDOW // 2
    assert not rays.is_smooth[500 - half : 500 + half].any()
    assert rays.is_smooth[510].all()
    assert not rays.is_smooth[900 - half : 900 + half + 1, 3].any()
    assert rays.is_smooth[900, 4]


def test_pairs_of_turns_differ_by_noise_only():
    recording = room(rng=np.random.default_rng(3), turns=3, columns=1200, noise_m=0.0, quantum_m=1e-6)
    pairs = pairs_of(recording, rays_of(recording), 0.001)
    # Azimuths of turns differ by a third of a column: without the slope it would be up to 9 mm
    assert len(pairs.azimuth) > 20_000
    assert np.abs(pairs.samples.difference_m).max() < 1.5e-3
    assert np.quantile(np.abs(pairs.samples.difference_m), 0.9) < 2e-4


def test_windows_have_the_scatter_of_the_noise_and_do_not_overlap():
    recording = room(rng=np.random.default_rng(4), turns=2, columns=900, noise_m=0.006)
    windows = windows_of(recording, rays_of(recording))
    assert np.median(windows.difference_m) == pytest.approx(0.006 * np.sqrt(5.348 / 6.0), rel=0.05)
    assert len(windows.block) <= 16 * (1800 // WINDOW)


def test_windows_over_corners_and_bends_are_left_out_and_noise_alone_is_not_changed():
    rng = np.random.default_rng(5)
    recording = room(rng=rng, turns=1, columns=1800)
    columns, place = np.arange(1800), np.arange(1800) % 9
    noise_m = 0.01 * rng.standard_normal((1800, 16))
    kinked = np.where(columns < 900, np.abs(place - 4.0), 0.0)[:, None] * 0.07  # a corner in each window
    given = recording._replace(range_m=(5.0 + noise_m + kinked)[..., None].astype(np.float32))
    found = windows_of(given, rays_of(given))
    bent = np.isin(found.block % 72, np.arange(36))
    assert np.count_nonzero(bent) < 0.02 * np.count_nonzero(~bent)
    straight = found.difference_m[~bent]
    assert len(straight) == pytest.approx(0.8 * 100 * 16, rel=0.06)
    assert np.sqrt(np.mean(straight**2)) == pytest.approx(0.01, rel=0.03)


def test_blocks_are_sectors_of_four_channels():
    azimuth, channel = np.radians([0.0, 4.9, 5.1, 359.9, 0.0]), np.array([0, 3, 3, 0, 4])
    np.testing.assert_array_equal(blocks_of(azimuth, channel), [0, 0, 1, 71, 72])

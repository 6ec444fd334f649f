"""Motion of a lidar in a room, by its ranges."""

import numpy as np
import pytest

from sensorium.recordings.measure.lidar_motion import motion_of
from sensorium.recordings.measure.lidar_rays import pairs_of, rays_of
from tests.unit.recordings.measure.scenes import room


def motion(recording):
    return motion_of(recording, pairs_of(recording, rays_of(recording), 0.008))


def test_the_shift_is_covered():
    covered = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        length, angle = rng.uniform(0.002, 0.04), rng.uniform(0.0, 2.0 * np.pi)
        shift_m = length * np.cos(angle), length * np.sin(angle)
        found = motion(room(rng=rng, turns=3, columns=900, shift_m=shift_m)).shift_m
        covered += found.low <= length <= found.high
        assert found.value == pytest.approx(length, abs=0.0008)
    assert covered >= 24


def test_a_rotation_is_found():
    recording = room(rng=np.random.default_rng(1), turns=2, columns=900)
    # The second turn claims azimuths that are 2 mrad behind those at which it was measured
    behind = np.where(recording.turn == 1, np.mod(recording.azimuth - 0.002, 2.0 * np.pi), recording.azimuth)
    kept = ~((recording.turn == 1) & (recording.azimuth < 0.01))
    found = motion(recording._replace(azimuth=behind).of_columns(kept))
    assert found.rotation.value == pytest.approx(0.002, abs=2e-4)
    assert found.shift_m.value < 0.001


def test_objects_that_move_by_themselves_do_not_count():
    recording = room(rng=np.random.default_rng(2), turns=3, columns=900)
    ranges = recording.range_m.copy()
    sector = recording.azimuth < 1.0
    ranges[sector] -= (0.3 * recording.turn[sector] + 1.0)[:, None, None].astype(np.float32)
    assert motion(recording._replace(range_m=ranges)).shift_m.value < 0.0015


def test_few_pairs_have_no_motion():
    assert motion(room(rng=np.random.default_rng(3), turns=1, columns=900)) is None

import numpy as np
import pytest

import sensorium as sn
from sensorium.view.scan_rows import world_points


def swept(env):
    for _ in env.run(0.2):
        pass
    return env.sensors["top"]


def test_a_row_is_what_that_lidar_alone_would_have_seen(yard):
    mounts = [sn.Pose(position=(0, 0, 1.0)), sn.Pose(position=(1.0, 0, 1.2))]
    both, alone = swept(yard(worlds=2, poses=mounts)), swept(yard(poses=mounts[1]))
    row = both.read().one(1)
    assert row.range_m.tolist() == alone.read().range_m.tolist()
    assert row.X_WS.shape[1:] == (1, 1)
    assert world_points(row.flat()) == pytest.approx(world_points(alone.read().flat()))


def test_points_in_the_world_are_the_same_in_either_frame(yard):
    own, world = swept(yard(frame="sensor")).read().flat(), swept(yard(frame="world")).read().flat()
    assert world_points(own) == pytest.approx(world.points, abs=1e-4)
    some = np.array([3, 5, 8])
    assert world_points(own, some) == pytest.approx(world.points[some], abs=1e-4)

"""Trees of frames: poses composed along chains, against matrices; roots, circles and two parents."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.worlds.replay.frame_tree import FrameTree, in_order, seconds_since


def numbers(rng):
    """A random pose as messages have it: x, y, z, qw, qx, qy, qz."""
    quaternion = rng.normal(size=4)
    return [*rng.normal(size=3), *(quaternion / np.linalg.norm(quaternion))]


def matrix(pose):
    """Its 4 x 4 matrix, by the textbook."""
    x, y, z, qw, qx, qy, qz = pose
    out = np.eye(4)
    out[:3, :3] = [
        [1 - 2 * (qy * qy + qz * qz), 2 * (qx * qy - qw * qz), 2 * (qx * qz + qw * qy)],
        [2 * (qx * qy + qw * qz), 1 - 2 * (qx * qx + qz * qz), 2 * (qy * qz - qw * qx)],
        [2 * (qx * qz - qw * qy), 2 * (qy * qz + qw * qx), 1 - 2 * (qx * qx + qy * qy)],
    ]
    out[:3, 3] = x, y, z
    return out


@pytest.mark.parametrize("seed", range(5))
def test_tracks_and_mounts_are_products_of_matrices_along_the_chain(seed):
    rng = np.random.default_rng(seed)
    tree, times_ns = FrameTree("drive.mcap"), [5_000_000_000 + 100_000_000 * k for k in range(4)]
    poses = {name: [numbers(rng) for _ in times_ns] for name in ("odom", "arm")}
    fixed = {name: numbers(rng) for name in ("base", "lidar", "mast")}
    for k, time_ns in enumerate(times_ns):
        tree.add("map", "odom", time_ns, poses["odom"][k], is_fixed=False)
        tree.add("base", "arm", time_ns, poses["arm"][k], is_fixed=False)
    tree.add("odom", "base", 0, fixed["base"], is_fixed=True)
    tree.add("arm", "lidar", 0, fixed["lidar"], is_fixed=True)
    tree.add("map", "mast", 0, fixed["mast"], is_fixed=True)
    root = tree.chosen_root(None)
    assert root == "map"
    chains = dict(tree.bodies(root))
    assert chains == {"odom": ["odom"], "arm": ["odom", "base", "arm"]}

    track = tree.track("arm", chains["arm"], times_ns[0])
    np.testing.assert_allclose(track.times_s, [0.0, 0.1, 0.2, 0.3], atol=1e-12)
    found = sn.Pose(*track.at(track.times_s)[:2]).matrix
    for k in range(len(times_ns)):
        expected = matrix(poses["odom"][k]) @ matrix(fixed["base"]) @ matrix(poses["arm"][k])
        np.testing.assert_allclose(found[k], expected[:3], atol=1e-12)

    mounts = tree.mounts(root)
    assert {name: body for name, (body, _) in mounts.items()} == {"base": "odom", "lidar": "arm", "mast": None}
    for name, (_, pose) in mounts.items():
        np.testing.assert_allclose(pose.matrix, matrix(fixed[name])[:3], atol=1e-12)


def test_roots_circles_and_second_parents_are_told():
    still = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    tree = FrameTree("drive.mcap")
    tree.add("map", "odom", 0, still, is_fixed=True)
    tree.add("camera", "lens", 0, still, is_fixed=True)
    with pytest.raises(SpecError, match=r"the roots of 'drive.mcap' are 'camera', 'map'; root must name one"):
        tree.chosen_root(None)
    assert tree.chosen_root("camera") == "camera"
    assert tree.chain("lens", "map") is None
    with pytest.raises(SpecError, match="root is 'moon'"):
        tree.chosen_root("moon")
    with pytest.raises(SpecError, match=r"'odom' of 'drive.mcap' sits on 'map' and on 'world'; it must have one"):
        tree.add("world", "odom", 0, still, is_fixed=True)
    tree.add("a", "b", 0, still, is_fixed=True)
    tree.add("b", "a", 0, still, is_fixed=True)
    with pytest.raises(SpecError, match="sits on itself; frames must form a tree"):
        tree.chain("a", "map")
    tree.add("world", "robot", 0, still, is_fixed=True)
    assert tree.chosen_root(None) == "world"


def test_rows_are_sorted_and_the_first_of_equal_times_counts():
    rows = in_order([(30, [3.0]), (10, [1.0]), (30, [4.0]), (20, [2.0])])
    assert rows == [(10, [1.0]), (20, [2.0]), (30, [3.0])]
    first_ns = 1_700_000_000_000_000_000
    assert seconds_since([(first_ns + 1, []), (first_ns + 1_500_000_000, [])], first_ns) == [1e-9, 1.5]

import numpy as np
import pytest

import sensorium as sn
from sensorium.tracing.embree.packet import BLOCK
from sensorium.tracing.kernels.light import tree


def test_depth_of_a_node_in_the_heap():
    assert [tree.depth_of(node) for node in (0, 1, 2, 3, 6, 7, 14, 15, 510)] == [0, 1, 1, 2, 2, 3, 3, 4, 8]


@pytest.mark.parametrize("depth", [1, 2, 3, 5, 8])
def test_the_queue_has_room_for_every_tree(depth):
    """Batches of a block are taken from its end; whatever part of the children exist, it never overflows."""
    queue = tree.new_queue(depth, 3, 0)
    room = queue.number.shape[1]
    assert queue.word.shape[1] == len(queue.stacks.held) == room
    assert len(tree.new_queue(depth, 0, 1).stacks.held) == 0
    rng = np.random.default_rng(depth)
    for both in (1.0, 0.98, 0.9, 0.7):

        def children(levels, both=both):
            inner = levels[levels < depth]
            count = np.where(rng.random(len(inner)) < both, 2, rng.integers(0, 2, len(inner)))
            return np.repeat(inner + 1, count)

        waiting = children(np.zeros(BLOCK, int))
        most = len(waiting)
        while len(waiting):
            batch, waiting = waiting[-BLOCK:], waiting[:-BLOCK]
            waiting = np.concatenate([waiting, children(batch)])
            most = max(most, len(waiting))
        assert most <= room


def sandwich(panes, material):
    """Panes one behind the other, and a wall."""
    scene = sn.Scene()
    for number in range(panes):
        pose = sn.Pose.from_euler_deg((2.0 + number, 0, 0), pitch=90 + 3 * number)
        scene.add(sn.shapes.plane(80.0), pose=pose, material=material)
    scene.add(sn.shapes.box(1, 300, 300), pose=sn.Pose((20.5, 0, 0)))
    return scene


def fire(scene, *, columns=600, **options):
    pattern = sn.patterns.Raster(
        height=1, width=columns, horizontal_fov_deg=(-30, 30), vertical_fov_deg=(5, 5), rate_hz=10
    )
    env = sn.Environment(scene)
    lidar = env.attach(sn.Lidar(pattern=pattern, mode="relative", detection=None, **options))
    for _ in env.run(duration_s=0.1):
        pass
    return lidar.read()


def test_full_trees_of_a_whole_block():
    """Every ray splits in two at every pane; all 2^depth branches of all rays are followed, none is mixed up."""
    glass = sn.ThinGlass(refractive_index=3.0, thickness_m=0.0)
    scan = fire(sandwich(6, glass), max_depth=8, floor=0.0, returns="last")
    assert scan.valid.all()
    # the most distant return came by many reflections between panes; straight through one sees the wall
    assert (scan.depth[0] >= 6).all()
    through = fire(sandwich(6, glass), max_depth=6, floor=1e-5, returns="all", max_returns=8)
    direct = (through.object_id == 6) & (through.mirror_id < 0)
    assert (direct.sum(axis=0) == 1).all()
    assert (through.depth[direct] == 6).all()
    np.testing.assert_allclose(through.points[direct][:, 0], 20.0, rtol=1e-5)


def test_a_tree_ends_at_its_depth():
    clear = sn.ThinGlass(refractive_index=1.5, thickness_m=0.0)
    for depth in range(6):
        scan = fire(sandwich(4, clear), columns=16, max_depth=depth, returns="last", threshold=1e-4)
        assert (scan.object_id == 4).all() == (depth >= 4)
        assert scan.depth.max() <= depth


def test_branches_below_the_floor_are_not_followed():
    clear = sn.ThinGlass(refractive_index=1.5, thickness_m=0.0)
    # four panes leave at most (0.923^2)^4 = 0.53
    for floor, seen in ((0.0, True), (0.4, True), (0.6, False)):
        scan = fire(sandwich(4, clear), columns=16, max_depth=4, floor=floor, returns="last", threshold=1e-4)
        assert (scan.object_id == 4).all() == seen


@pytest.mark.parametrize("distance_m", [0.5, 20.0, 300.0])
def test_mirror_rays_do_not_meet_the_face_they_leave(distance_m):
    """Two mirrors at a right angle send every ray back: as far as to the image of the screen behind the sensor."""
    d, wing = distance_m, 2 * distance_m
    corners = [(d, 0), (d - wing, wing), (d - wing, -wing)]
    vertices = [(x, y, z) for z in (-wing, wing) for x, y in corners]
    mirrors = sn.Mesh(np.array(vertices), np.array([(0, 1, 4), (0, 4, 3), (0, 5, 2), (0, 3, 5)]))
    scene = sn.Scene()
    scene.add(mirrors, material=sn.Mirror(reflectance=1.0, roughness=1e-6))
    scene.add(sn.shapes.plane(50 * wing), pose=sn.Pose.from_euler_deg((-2 * d, 0, 0), pitch=90))
    scan = fire(scene, columns=30, max_depth=2, max_range_m=3000.0)
    assert (scan.depth == 2).all()
    assert (scan.object_id == 1).all()
    assert (scan.mirror_id == 0).all()
    forward = scan.points[0, :, 0] / scan.range_m[0]
    np.testing.assert_allclose(scan.range_m[0], 4 * d / forward, rtol=1e-5)

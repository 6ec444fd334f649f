"""Scatters: laws of what is drawn, room and clear zones held to the meshes themselves, and errors."""

from typing import get_args, get_type_hints

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SceneError
from sensorium.scene.scattering.scatter import Placer, ScatterTables, scattered_objects

POST = sn.SceneObject(sn.shapes.cylinder(0.3, 4.0, 12), pose=sn.Pose((0, 0, 2.0)), label="post")
SLAB = sn.SceneObject(sn.shapes.box(0.2, 2.0, 1.0), label="slab")
LOW, HIGH = (-20.0, -10.0, 0.0), (20.0, 10.0, 0.0)

WORLDS = np.arange(300)
FIRST = np.zeros(300, np.int64)


def draw(*scatters, seed=1, worlds=WORLDS, episodes=FIRST):
    return Placer(scatters, seed)(worlds, episodes)


def test_places_and_turns_are_even_over_their_region():
    scatter = sn.Scatter([POST], 10, low=(-20, -10, 1), high=(20, 10, 3), yaw_deg=(0, 90))
    index, pose = draw(scatter)
    assert (index == 0).all()
    p = pose.position.reshape(-1, 3)
    for axis, (low, high) in enumerate(((-20, 20), (-10, 10), (1, 3))):
        share = (p[:, axis] - low) / (high - low)
        assert 0.0 <= share.min() < share.max() <= 1.0
        counts, _ = np.histogram(share, bins=10, range=(0, 1))
        assert ((counts - 300) ** 2 / 300).sum() < 27.9  # chi square of 9 degrees, 1 in 1000
    yaw = np.degrees(2 * np.arctan2(pose.quaternion[..., 3], pose.quaternion[..., 0]))
    assert yaw.min() >= 0.0
    assert yaw.max() <= 90.0
    assert yaw.mean() == pytest.approx(45.0, abs=4 * 26.0 / np.sqrt(3000))


def test_turns_are_those_of_euler_angles():
    fixed = {"yaw_deg": (40.0, 40.0), "pitch_deg": (-20.0, -20.0), "roll_deg": (10.0, 10.0)}
    _, pose = draw(sn.Scatter([POST], 1, **fixed), worlds=WORLDS[:1], episodes=FIRST[:1])
    expected = sn.Pose.from_euler_deg(roll=10.0, pitch=-20.0, yaw=40.0)
    np.testing.assert_allclose(pose[0, 0].matrix, expected.matrix, atol=1e-7)


def test_counts_and_assets_are_even():
    index, _ = draw(sn.Scatter([POST, SLAB, POST], (2, 6), low=LOW, high=HIGH))
    count = (index >= 0).sum(axis=1)
    assert set(np.unique(count)) == {2, 3, 4, 5, 6}
    assert ((np.bincount(count, minlength=7)[2:] - 60) ** 2 / 60).sum() < 18.5
    assert (index[:, :2] >= 0).all()
    kinds = np.bincount(index[index >= 0], minlength=3)
    assert ((kinds - kinds.mean()) ** 2 / kinds.mean()).sum() < 13.8


def test_nothing_comes_nearer_than_the_gap():
    posts = sn.Scatter([POST], 12, low=LOW, high=HIGH, gap_m=1.0)
    slabs = sn.Scatter([SLAB], 8, low=(-20, -10, 0), high=(20, 10, 3), gap_m=0.5, roll_deg=(-30, 30))
    index, pose = draw(posts, slabs, worlds=WORLDS[:40], episodes=FIRST[:40])
    assets = (POST, SLAB)
    nearest = np.inf
    for row in range(40):
        clouds = [
            pose[row, slot].apply(assets[index[row, slot]].pose.apply(assets[index[row, slot]].mesh.vertices))
            for slot in range(20)
        ]
        for b in range(20):
            for a in range(b):
                away = np.linalg.norm(clouds[a][:, None] - clouds[b][None], axis=-1).min()
                assert away >= (1.0 if b < 12 else 0.5) - 1e-9
                nearest = min(nearest, away)
    assert nearest < 1.0


def test_things_may_stand_in_each_other_unless_asked():
    tight = {"low": (-1.0, -1.0, 0.0), "high": (1.0, 1.0, 0.0)}
    _, pose = draw(sn.Scatter([POST], 8, **tight), worlds=WORLDS[:5], episodes=FIRST[:5])
    p = pose.position
    assert np.linalg.norm(p[:, :, None] - p[:, None], axis=-1)[:, ~np.eye(8, dtype=bool)].min() < 0.6


def test_room_may_be_that_of_a_trunk():
    tree = sn.SceneObject(sn.trees.conifer(6.0, seed=1))
    _, pose = draw(sn.Scatter([tree], 25, low=LOW, high=HIGH, gap_m=1.0, room_m=0.1))
    p = pose.position[..., :2]
    away = np.linalg.norm(p[:, :, None] - p[:, None], axis=-1)[:, ~np.eye(25, dtype=bool)]
    assert 1.2 <= away.min() < 1.3 < tree.mesh.radius


def test_clear_zones_stay_clear_of_all_of_a_thing():
    way = sn.ClearZone([(-20.0, 0.0), (0.0, 0.0), (0.0, 10.0)], 1.5)
    pad = sn.ClearZone((10.0, -5.0), 3.0)
    index, pose = draw(sn.Scatter([SLAB], 15, low=LOW, high=HIGH, clear=[way, pad]))
    assert (index == 0).all()
    corners = np.concatenate([pose.apply(corner)[..., :2].reshape(-1, 2) for corner in SLAB.mesh.vertices])
    along = np.where(corners[:, 0] < 0, np.abs(corners[:, 1]), np.hypot(corners[:, 0], np.minimum(corners[:, 1], 0.0)))
    assert along.min() >= 1.5
    assert np.hypot(corners[:, 0] - 10.0, corners[:, 1] + 5.0).min() >= 3.0
    assert along.min() < 1.6


def test_a_world_is_a_function_of_seed_world_and_episode_alone():
    scatter = sn.Scatter([POST, SLAB], (3, 9), low=LOW, high=HIGH, gap_m=0.2)
    index, pose = draw(scatter)
    some = np.array([7, 250])
    again, there = draw(scatter, worlds=some, episodes=FIRST[:2])
    np.testing.assert_array_equal(again, index[some])
    np.testing.assert_array_equal(there.position, pose.position[some])
    for other in (draw(scatter, seed=2)[1], draw(scatter, episodes=FIRST + 1)[1]):
        assert (other.position != pose.position).mean() > 0.5
    with_more = draw(scatter, sn.Scatter([POST], 2, low=LOW, high=HIGH))[1]
    np.testing.assert_array_equal(with_more.position[:, :9], pose.position)


def test_a_crowded_world_is_told_or_left_incomplete():
    crowded = {"low": (-1, -1, 0), "high": (1, 1, 0), "gap_m": 0.0, "attempts": 50}
    with pytest.raises(SceneError, match=r"world 0 has no room for all of scatter 0: 50 places were tried"):
        draw(sn.Scatter([POST], 40, **crowded))
    index, _ = draw(sn.Scatter([POST], 40, when_full="leave out", **crowded))
    left = (index >= 0).sum(axis=1)
    assert 3 < left.min() <= left.max() < 16  # discs of radius 0.3 in a square of side 2.6


def test_strewn_gives_the_objects_of_a_world():
    scatter = sn.Scatter([POST, SLAB], (2, 4), low=LOW, high=HIGH)
    index, pose = draw(scatter)
    objects = scattered_objects([scatter], seed=1, world=5)
    assert [each.label for each in objects] == [("post", "slab")[k] for k in index[5] if k >= 0]
    np.testing.assert_allclose(objects[0].pose.position, (pose[5, 0] @ (POST, SLAB)[index[5, 0]].pose).position)


def test_a_batch_of_scatters_has_slots_on_bodies_and_shared_objects():
    ground = sn.Scene()
    ground.add(sn.shapes.plane(50.0), label="ground")
    batch = sn.SceneBatch.scattered(
        [
            sn.Scatter([POST], 3, low=LOW, high=HIGH, gap_m=1.0),
            sn.Scatter([SLAB], 2, body=["cart", "van"], high=(0.0, 0.0, 1.0)),
        ],
        worlds=4,
        seed=3,
        shared=ground,
    )
    assert batch.worlds == 4
    assert batch.body == (None, None, None, "cart", "van")
    assert batch.labels == {"ground": 1, "post": 2, "slab": 3}
    later = sn.SceneBatch.scattered(
        [sn.Scatter([POST], 3, low=LOW, high=HIGH, gap_m=1.0)], worlds=1, seed=3, first_world=2
    )
    np.testing.assert_array_equal(later.pose.position[0], batch.pose.position[2, :3])


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"assets": []}, "assets is empty"),
        ({"assets": POST.mesh}, r"assets is a single Mesh; it must be a sequence of them, such as \[asset\]"),
        ({"assets": POST}, "assets is a single SceneObject; it must be a sequence"),
        ({"assets": "post"}, "assets is a str, 'post'; it must be a sequence of Meshes or SceneObjects"),
        ({"assets": None}, "assets is a NoneType"),
        ({"assets": [POST, "post"]}, "asset 1 is a str; it must be a Mesh or a SceneObject"),
        ({"count": "2"}, "count is '2'; it must be a whole number of at least 1"),
        ({"count": (1, 2, 3)}, r"count is \(1, 2, 3\)"),
        ({"count": 2.0}, r"count is 2\.0"),
        ({"count": (1.5, 3)}, r"count is \(1\.5, 3\)"),
        ({"count": 0}, "count is 0; it must be a whole number of at least 1"),
        ({"count": (5, 3)}, r"count is \(5, 3\)"),
        ({"low": (1, 0, 0), "high": (0, 0, 0)}, "x runs from 1 to 0; it must be finite and not fall"),
        ({"yaw_deg": (10, -10)}, "yaw_deg runs from 10 to -10"),
        ({"yaw_deg": 5}, "yaw_deg is 5; it must be 2 numbers"),
        ({"low": (0, 0), "high": (1, 1)}, r"low is \(0, 0\); it must be 3 numbers"),
        ({"gap_m": -1.0}, r"gap_m is -1\.0; it must be None, or finite and at least 0"),
        ({"room_m": float("nan")}, "room_m is nan"),
        ({"when_full": "skip"}, "when_full is 'skip'; it must be 'raise' or 'leave out'"),
        ({"attempts": 0}, "attempts is 0; it must be from 1 to"),
        ({"body": ["a"]}, r"body is \['a'\]; it must name 2 bodies"),
        ({"body": ["a", "b"], "gap_m": 1.0}, "gap_m or clear is given with body"),
    ],
)
def test_bad_scatters_are_told(fields, told):
    with pytest.raises(SceneError, match=told):
        sn.Scatter(**{"assets": [POST], "count": 2, **fields})


def test_bad_zones_and_lists_are_told():
    with pytest.raises(SceneError, match="points is"):
        sn.ClearZone((1.0, 2.0, 3.0), 1.0)
    with pytest.raises(SceneError, match=r"radius_m is -1\.0"):
        sn.ClearZone((1.0, 2.0), -1.0)
    with pytest.raises(SceneError, match="scatters is empty"):
        sn.SceneBatch.scattered([], worlds=2, seed=1)
    with pytest.raises(SceneError, match="worlds is 0"):
        sn.SceneBatch.scattered([sn.Scatter([POST], 1)], worlds=0, seed=1)
    with pytest.raises(SceneError, match="scatter 0 is a Mesh"):
        sn.SceneBatch.scattered([POST.mesh], worlds=1, seed=1)
    with pytest.raises(SceneError, match=r"scatters is a single Scatter; it must be a sequence of them"):
        sn.SceneBatch.scattered(sn.Scatter([POST], 1), worlds=1, seed=1)


TALL = sn.SceneObject(sn.shapes.box(0.6, 0.8, 4.0), pose=sn.Pose((0.0, 0.0, 2.0)))  # half a meter to its corners
CUBOID = sn.shapes.box(1.0, 2.0, 2.0)  # a meter and a half to its corners


def tables():
    """Of three scatters: of two, one and one assets, with up to 3, 5 and 2 slots, and with three, no and one pieces."""
    way = sn.ClearZone([(0, 0), (4, 0), (4, 3)], 0.5)
    yard, post = sn.ClearZone((7, 8), 2.0), sn.ClearZone([(1, 2)], 0.0)
    scatters = [
        sn.Scatter([TALL, CUBOID], (1, 3), (-1, -2, 0), (1, 2, 3), yaw_deg=(0, 90), gap_m=0.5, clear=[way, yard]),
        sn.Scatter([CUBOID], 5, roll_deg=(-180, 0), pitch_deg=(-90, 45), yaw_deg=(0, 0), attempts=7),
        sn.Scatter([TALL], 2, gap_m=0.0, room_m=0.1, clear=[post], when_full="leave out"),
    ]
    return Placer(scatters, seed=1)._tables


def test_what_a_scatter_has_several_of_is_numbered_through_all_scatters():
    made = tables()
    assert made.asset_first.tolist() == [0, 2, 3, 4]
    assert made.slot_first.tolist() == [0, 3, 8, 10]
    assert made.clear_first.tolist() == [0, 3, 3, 4]
    pieces = [[0, 0, 4, 0, 0.5], [4, 0, 4, 3, 0.5], [7, 8, 7, 8, 2], [1, 2, 1, 2, 0]]
    np.testing.assert_array_equal(made.clear, pieces)


def test_an_asset_has_the_cylinder_that_holds_it_as_its_scatter_turns_it():
    """Radius, lower and upper end: upright, in any direction, and where the scatter says how wide."""
    expected = [[0.5, 0.0, 4.0], [np.hypot(0.5, 1.0), -1.0, 1.0], [1.5, -1.5, 1.5], [0.1, 0.0, 4.0]]
    np.testing.assert_allclose(tables().room, expected, rtol=1e-12, atol=1e-12)


def test_each_scatter_has_a_row():
    made = tables()
    assert made.counts.tolist() == [[1, 3], [5, 5], [2, 2]]
    assert made.region.tolist() == [[[-1, -2, 0], [1, 2, 3]], [[0, 0, 0]] * 2, [[0, 0, 0]] * 2]
    turns = [[[0, 0, 0], [0, 0, 90]], [[-180, -90, 0], [0, 45, 0]], [[0, 0, -180], [0, 0, 180]]]
    np.testing.assert_allclose(made.turn_rad, np.array(turns) * np.pi / 180.0, rtol=1e-15)
    assert made.gap_m.tolist() == [0.5, -1.0, 0.0]
    assert made.attempts.tolist() == [200, 7, 200]
    assert made.leaves_out.tolist() == [False, False, True]
    assert made.moves.tolist() == [False, False, False]
    carried = Placer([sn.Scatter([CUBOID], 1), sn.Scatter([CUBOID], 2, body=("a", "b"))], seed=1)._tables
    assert carried.moves.tolist() == [False, True]
    assert carried.clear.shape == (0, 5)


def test_arrays_have_the_types_that_are_told():
    """And lie in one piece, so that the kernel is compiled once for all scatters."""
    told = {name: get_args(get_args(hint)[1])[0] for name, hint in get_type_hints(ScatterTables).items()}
    assert {name: array.dtype.type for name, array in tables()._asdict().items()} == told
    assert all(array.flags.c_contiguous for array in tables())
    assert {np.int64, np.float64, np.bool_} == set(told.values())

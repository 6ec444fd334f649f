"""The kernel that strews: single spots with distances known by hand, and draws that do not depend on each other."""

import math

import numpy as np
import pytest

from sensorium.scene.scattering.scatter import ScatterTables
from sensorium.scene.scattering.scatter_kernel import strew

KEY = np.array([12345, 67890], np.uint32)
THIN = (0.0, 0.0, 0.0)


def scatter(low, high=None, **changes):
    """A scatter of one thing without extent at one spot, or in a region."""
    plain = {"counts": (1, 1), "turn_rad": ((0, 0, 0), (0, 0, 0)), "gap_m": -1.0, "moves": False, "attempts": 1}
    region = (low, low if high is None else high)
    return {**plain, "region": region, "leaves_out": True, "room": (THIN,), "clear": (), **changes}


def tables_of(*scatters):
    def firsts(lengths):
        return np.cumsum([0, *lengths], dtype=np.int64)

    def rows(name, dtype):
        return np.array([one[name] for one in scatters], dtype)

    return ScatterTables(
        asset_first=firsts(len(one["room"]) for one in scatters),
        slot_first=firsts(one["counts"][1] for one in scatters),
        clear_first=firsts(len(one["clear"]) for one in scatters),
        counts=rows("counts", np.int64),
        region=rows("region", np.float64),
        turn_rad=rows("turn_rad", np.float64),
        gap_m=rows("gap_m", np.float64),
        moves=rows("moves", np.bool_),
        attempts=rows("attempts", np.int64),
        leaves_out=rows("leaves_out", np.bool_),
        room=np.array([room for one in scatters for room in one["room"]], np.float64),
        clear=np.array([piece for one in scatters for piece in one["clear"]], np.float64).reshape(-1, 5),
    )


def scattered(*scatters, worlds=(0,), episodes=None, share=(0, 1)):
    """Assets, places, turns and who found no place."""
    tables, rows = tables_of(*scatters), len(worlds)
    slots = int(tables.slot_first[-1])
    index, full = np.full((rows, slots), -9, np.int32), np.full(rows, -1, np.int32)
    position, quaternion = np.zeros((rows, slots, 3)), np.zeros((rows, slots, 4))
    times = np.zeros(rows, np.int64) if episodes is None else np.array(episodes, np.int64)
    strew(*share, rows, np.array(worlds, np.int64), times, tables, KEY, index, position, quaternion, full)
    return index, position, quaternion, full


def stands(*scatters):
    """Whether the last of some scatters of one thing finds its place."""
    return bool(scattered(*scatters)[0][0, -1] >= 0)


R = math.sqrt(0.5)


@pytest.mark.parametrize(
    ("roll", "pitch", "yaw", "expected"),
    [
        (0, 0, 0, (1, 0, 0, 0)),
        (90, 0, 0, (R, R, 0, 0)),
        (0, 90, 0, (R, 0, R, 0)),
        (0, 0, 90, (R, 0, 0, R)),
        (90, 0, 90, (0.5, 0.5, 0.5, 0.5)),  # the products of two of them, by hand
        (0, 90, 90, (0.5, -0.5, 0.5, 0.5)),
        (90, 90, 0, (0.5, 0.5, 0.5, -0.5)),
        (90, 90, 90, (R, 0, R, 0)),
        (0, 0, -180, (0, 0, 0, -1)),
    ],
)
def test_turns_are_about_x_then_y_then_z(roll, pitch, yaw, expected):
    angles = np.radians([roll, pitch, yaw])
    _, position, quaternion, _ = scattered(scatter((4, 5, -6), turn_rad=(angles, angles)))
    assert position[0, 0].tolist() == [4, 5, -6]
    np.testing.assert_allclose(quaternion[0, 0], expected, atol=1e-15)


@pytest.mark.parametrize("ends", [(0, 0, 0, 0), (0, 0, -10, 0), (-8, -6, 0, 0), (-4, 3, 4, -3)])
def test_a_thing_touches_a_clear_zone_but_does_not_reach_into_it(ends):
    """A spot at (3, 4) is 5 m from a point, from the end of ways that lead away, and from the middle of one across."""
    for radius, room in ((4.0, 1.0), (5.0, 0.0), (0.0, 5.0)):
        assert stands(scatter((3, 4, 9), room=((room, 0, 0),), clear=((*ends, radius),)))
        assert not stands(scatter((3, 4, 9), room=((room, 0, 0),), clear=((*ends, radius + 1e-9),)))
        assert not stands(scatter((3, 4, 9), room=((room + 1e-9, 0, 0),), clear=((*ends, radius),)))


def test_every_piece_of_its_own_zones_keeps_a_thing_out_and_none_of_others():
    near, far = (0.0, 0.0, 1.0, 0.0, 0.5), (50.0, 0.0, 60.0, 0.0, 0.5)
    spot = scatter((0.5, 0.4, 0))
    assert not stands({**spot, "clear": (near, far)})
    assert not stands({**spot, "clear": (far, near)})
    assert stands({**spot, "clear": (far,)})
    index, *_ = scattered({**spot, "clear": (far,)}, {**spot, "clear": (near,)}, {**spot, "clear": ()})
    assert index.tolist() == [[0, -1, 2]]


def test_things_keep_the_gap_of_the_later_scatter_from_above():
    """5 m apart, with radii of 1 and 2 m: 2 m are free. The gap of the earlier one says nothing."""
    before = scatter((1, 1, 0), room=((1, -9, 9),), gap_m=50.0)
    after = scatter((4, 5, 0), room=((2, -9, 9),))
    assert stands(before, {**after, "gap_m": 2.0})
    assert not stands(before, {**after, "gap_m": 2.0 + 1e-9})
    assert stands(before, {**after, "gap_m": -1.0})
    assert not stands(before, scatter((2, 1, 0), gap_m=1.0))
    assert stands(before, scatter((2, 1, 0), gap_m=0.0))  # at its rim, without extent


@pytest.mark.parametrize(("height", "clear"), [(1.75, True), (1.74, False), (0, False), (-2.74, False), (-2.75, True)])
def test_things_may_stand_above_each_other_with_the_gap_between(height, clear):
    """From -0.5 to 0.5 m, and from 1 m below to 2 m above its place; with 0.25 m between."""
    for shift in (0.0, 16.0):
        before = scatter((0, 0, shift), room=((1, -0.5, 0.5),))
        assert stands(before, scatter((0, 0, shift + height), room=((1, -1, 2),), gap_m=0.25)) == clear


def test_only_what_stands_fixed_takes_up_room():
    """Neither what bodies carry, nor what was left out, nor what is not of the count."""
    spot, zone = scatter((0, 0, 0), room=((1, -1, 1),)), ((0.0, 0.0, 0.0, 0.0, 1.0),)
    later = {**spot, "gap_m": 0.0}
    assert not stands(spot, later)
    assert stands({**spot, "moves": True}, later)
    assert stands({**spot, "clear": zone}, later)
    far, carried = scatter((9, 9, 0)), {**spot, "moves": True}
    assert not stands(far, carried, spot, carried, far, later)
    assert stands(far, carried, far, carried, far, later)


def test_a_scatter_keeps_the_gap_among_its_own():
    """Of three at one spot the first stands."""
    index, *_ = scattered(scatter((0, 0, 0), counts=(3, 3), gap_m=0.5))
    assert index.tolist() == [[0, -1, -1]]
    index, *_ = scattered(scatter((0, 0, 0), counts=(3, 3)))
    assert index.tolist() == [[0, 0, 0]]


def test_a_scatter_without_a_place_is_told_unless_it_may_be_left_out():
    zone = ((0.0, 0.0, 0.0, 0.0, 1.0),)
    out = scatter((0, 0, 0), clear=zone, turn_rad=((1, 1, 1), (1, 1, 1)))
    free, bad = scatter((5, 5, 0)), {**out, "leaves_out": False}
    index, _, quaternion, full = scattered(free, out)
    assert (index.tolist(), full.tolist()) == ([[0, -1]], [-1])
    assert quaternion[0, 1].tolist() == [1, 0, 0, 0]
    index, _, _, full = scattered(out, free, bad, worlds=(3, 4))
    assert (index.tolist(), full.tolist()) == ([[-1, 1, -1]] * 2, [2, 2])
    assert scattered(free, {**bad, "counts": (0, 0)}, free)[3].tolist() == [-1]


def test_of_the_count_the_first_slots_are_filled_and_assets_are_those_of_the_scatter():
    """So many from 1 to 3, all equally often: of 600 worlds 200 each, give or take four deviations."""
    few = scatter((0, 0, 0), counts=(1, 3), room=(THIN,) * 2)
    index, _, quaternion, _ = scattered(scatter((0, 0, 0), room=(THIN,) * 5), few, worlds=range(600))
    assert set(np.unique(index[:, 0])) == {0, 1, 2, 3, 4}
    there = index[:, 1:] >= 0
    assert set(np.unique(index[:, 1:][there])) == {5, 6}
    assert (index[:, 1:][~there] == -1).all()
    assert (quaternion[:, 1:][~there] == [1, 0, 0, 0]).all()
    assert (there[:, :-1] >= there[:, 1:]).all()
    assert np.abs(np.bincount(there.sum(axis=1), minlength=4) - [0, 200, 200, 200]).max() <= 4 * 11.55


def test_places_and_turns_are_within_their_ranges_and_reach_to_both_ends():
    """Of 600 draws the least and greatest are within a twentieth of the ends, but for one in 10^13."""
    low, high = np.array([-3.0, 5.0, 100.0]), np.array([1.0, 5.5, 400.0])
    yaw = ((0.0, 0.0, -0.5), (0.0, 0.0, 2.5))
    _, position, quaternion, _ = scattered(scatter(low, high, turn_rad=yaw), worlds=range(600))
    turned = 2 * np.arctan2(quaternion[:, 0, 3], quaternion[:, 0, 0])
    shares = np.column_stack([(position[:, 0] - low) / (high - low), (turned + 0.5) / 3.0])
    assert shares.min() > -1e-12
    assert shares.max() < 1.0 + 1e-12
    assert (shares.min(axis=0) < 0.05).all()
    assert (shares.max(axis=0) > 0.95).all()
    assert np.abs(np.corrcoef(shares.T) - np.eye(4)).max() < 4.5 / np.sqrt(600)


def test_a_place_that_is_taken_is_drawn_again():
    """Half of the region is cleared: of 400 things half stand at once, and all but one in 10^9 after 40 attempts."""
    half = scatter((-1, -1, 0), (1, 1, 0), clear=((-50.0, 0.0, -50.0, 0.0, 50.0),))  # its rim is flat to 1 cm
    once, first, _, _ = scattered(half, worlds=range(400))
    often, place, _, _ = scattered({**half, "attempts": 40}, worlds=range(400))
    stood = once[:, 0] >= 0
    assert abs(stood.sum() - 200) < 40
    assert (first[stood, 0, 0] >= -0.011).all()
    assert (first[~stood, 0, 0] < 0).all()
    np.testing.assert_array_equal(place[stood], first[stood])
    assert (often == 0).all()
    assert (place[:, 0, 0] >= -0.011).all()
    assert len(np.unique(place[:, 0, 0])) == 400


def test_scatters_do_not_change_each_others_numbers():
    wide = scatter((-9, -9, -9), (9, 9, 9), counts=(2, 2), turn_rad=((0, 0, -1), (0, 0, 1)))
    alone = scattered(wide, worlds=(5, 6))
    more = scattered({**wide, "counts": (4, 4)}, {**wide, "room": (THIN,) * 3}, worlds=(5, 6))
    for one, other in zip(alone[:3], more[:3], strict=True):
        np.testing.assert_array_equal(one, other[:, :2])
    second = scattered(scatter((0, 0, 0)), wide, worlds=(5, 6))
    np.testing.assert_array_equal(second[1][:, 1:], more[1][:, 4:])


def test_no_number_of_a_scatter_is_drawn_for_another():
    """Nor for another of its slots or axes: to six digits, since some numbers have fewer than others."""
    wide = scatter((0, 0, 0), (1, 1, 1), counts=(2, 2))
    _, position, _, _ = scattered(wide, wide, wide, worlds=(5, 6))
    assert len(np.unique(position.round(6))) == position.size


def test_a_row_is_that_of_its_world_and_episode_whoever_draws_it():
    wide = scatter((-9, -9, -9), (9, 9, 9), counts=(2, 2), turn_rad=((0, 0, -1), (0, 0, 1)))
    worlds, episodes = (7, 7, 8, 1 << 20), (0, 3, 3, 0)
    _, position, quaternion, _ = scattered(wide, worlds=worlds, episodes=episodes)
    assert len(np.unique(position)) == position.size
    for row in range(4):
        _, alone, turn, _ = scattered(wide, worlds=worlds[row : row + 1], episodes=episodes[row : row + 1])
        np.testing.assert_array_equal(alone[0], position[row])
        np.testing.assert_array_equal(turn[0], quaternion[row])
    index, some, _, _ = scattered(wide, worlds=worlds, episodes=episodes, share=(1, 2))
    assert index.tolist() == [[-9, -9], [0, 0], [-9, -9], [0, 0]]
    np.testing.assert_array_equal(some[1::2], position[1::2])
    assert not some[::2].any()

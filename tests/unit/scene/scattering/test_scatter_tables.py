"""Scatters as arrays, against rows written by hand."""

from typing import get_args, get_type_hints

import numpy as np

import sensorium as sn
from sensorium.scene.scattering.scatter import Placer
from sensorium.scene.scattering.scatter_tables import ScatterTables

POST = sn.SceneObject(sn.shapes.box(0.6, 0.8, 4.0), pose=sn.Pose((0.0, 0.0, 2.0)))  # half a meter to its corners
SLAB = sn.shapes.box(1.0, 2.0, 2.0)  # a meter and a half to its corners


def tables():
    """Of three scatters: of two, one and one assets, with up to 3, 5 and 2 slots, and with three, no and one pieces."""
    way = sn.ClearZone([(0, 0), (4, 0), (4, 3)], 0.5)
    yard, post = sn.ClearZone((7, 8), 2.0), sn.ClearZone([(1, 2)], 0.0)
    scatters = [
        sn.Scatter([POST, SLAB], (1, 3), (-1, -2, 0), (1, 2, 3), yaw_deg=(0, 90), gap_m=0.5, clear=[way, yard]),
        sn.Scatter([SLAB], 5, roll_deg=(-180, 0), pitch_deg=(-90, 45), yaw_deg=(0, 0), attempts=7),
        sn.Scatter([POST], 2, gap_m=0.0, room_m=0.1, clear=[post], when_full="leave out"),
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
    carried = Placer([sn.Scatter([SLAB], 1), sn.Scatter([SLAB], 2, body=("a", "b"))], seed=1)._tables
    assert carried.moves.tolist() == [False, True]
    assert carried.clear.shape == (0, 5)


def test_arrays_have_the_types_that_are_told():
    """And lie in one piece, so that the kernel is compiled once for all scatters."""
    told = {name: get_args(get_args(hint)[1])[0] for name, hint in get_type_hints(ScatterTables).items()}
    assert {name: array.dtype.type for name, array in tables()._asdict().items()} == told
    assert all(array.flags.c_contiguous for array in tables())
    assert {np.int64, np.float64, np.bool_} == set(told.values())

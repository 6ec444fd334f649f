"""Readings of a cone sensor, made of samples that are written by hand."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.sensors.common.sampled import Sample
from sensorium.sensors.common.spec import Rig
from sensorium.sensors.cone import channels as cc
from sensorium.sensors.cone.reading import ConeObjects, ConeReading
from sensorium.sensors.cone.sighting import Sighting
from sensorium.sensors.cone.verdict import Verdict
from sensorium.tracing.labels import LabelTables

FLOATS = {
    "azimuth": cc.AZIMUTH,
    "elevation": cc.ELEVATION,
    "range_rate": cc.RANGE_RATE,
    "differenced_range_rate": cc.DIFFERENCED_RATE,
    "speed": cc.SPEED,
}
TURNED = sn.Pose.from_euler_deg((1.0, 2.0, 3.0), yaw=90.0)
LABELS = LabelTables(np.array([[11, 12, 13]], np.int32), np.array([[-1, -1, 0]]), np.array([21, 22], np.int32))


def rig(worlds=None, sensors=None):
    """One that has axes where numbers are given."""
    fields = dict.fromkeys(Rig.__dataclass_fields__)
    shape = {"X_BS": sn.Pose().broadcast_to((sensors or 1,)), "history": SimpleNamespace(worlds=worlds or 1)}
    return Rig(**fields | shape | {"world_axis": worlds is not None, "sensor_axis": sensors is not None})


def sighting(object_id, range_m=None, X_WS=TURNED):
    """Of so many rows and slots; objects are as far to the left as they are told, or 5 m, and go away at 0.5 m/s."""
    numbers = np.array(object_id, np.int32)
    seen = numbers >= 0
    distance = np.full(numbers.shape, 5.0) if range_m is None else np.array(range_m, float)
    point = np.where(seen[..., None], distance[..., None] * np.array([0.0, 0.8, 0.6]), 0.0)
    return Sighting(
        time_ns=7,
        p_WS=np.tile(X_WS.position, (len(numbers), 1)),
        q_WS=np.tile(X_WS.quaternion, (len(numbers), 1)),
        point=point,
        range_m=np.where(seen, distance, np.inf),
        range_rate=np.where(seen, 0.5, 0.0),
        object_id=numbers,
        face_id=np.where(seen, np.int32(1), np.int32(-1)),
        labels=LABELS,
    )


def reading(x, object_id=None, *, on=None, everything=None, time_ns=9):
    """Of channels (rows, COLUMNS), with an object in sight of every row unless told."""
    x = np.atleast_2d(np.array(x, float))
    nearest = sighting([[0]] * len(x) if object_id is None else np.reshape(object_id, (-1, 1)))
    valid = np.ones(len(x), np.bool_)
    sample = Sample(time_ns, 0.1, x, np.zeros_like(x), valid, (everything, nearest))
    per_object = everything is not None
    return ConeReading(sample, on or rig(), per_object=per_object)


def channels(count=1):
    """Numbers of which no two are alike."""
    return 1.0 + np.arange(count * cc.COLUMNS, dtype=float).reshape(count, cc.COLUMNS)


# --- the nearest ------------------------------------------------------------------------------------------------------


def test_every_quantity_is_the_channel_that_it_says():
    x = channels()
    seen = reading(x)
    assert seen.in_sight
    assert seen.range_m == x[0, cc.RANGE]
    assert seen.point.tolist() == x[0, cc.POINT : cc.POINT + 3].tolist()
    for name, column in FLOATS.items():
        assert getattr(seen, name) == x[0, column], name
        assert getattr(seen, name).shape == (), name


def test_the_point_in_the_world_is_the_measured_one_from_where_the_sensor_truly_is():
    x = channels()
    x[0, cc.POINT : cc.POINT + 3] = 4.0, 1.0, -2.0  # turned by 90 degrees to the left, from (1, 2, 3)
    np.testing.assert_allclose(reading(x).point_W, (0.0, 6.0, 1.0), atol=1e-12)


def test_the_projected_elevation_is_that_of_the_measured_point_seen_from_the_side():
    x = channels()
    x[0, cc.POINT : cc.POINT + 3] = 2.0, 9.0, -1.0
    assert reading(x).projected_elevation == pytest.approx(math.atan2(-1.0, 2.0), abs=1e-15)


def test_which_object_it_is_and_the_label_of_the_face():
    seen = reading(channels(3), [0, 1, 2], on=rig(3))
    assert seen.object_id.tolist() == [0, 1, 2]
    assert seen.label.tolist() == [11, 12, 22]  # the third has labels of faces, and its second face was met


@pytest.mark.parametrize("number", [-1, 0])
def test_where_nothing_is_in_sight_or_a_fault_left_nothing_there_is_none(number):
    x = channels(2)
    x[:, cc.VERDICT] = float(Verdict.RECEDING)
    x[1] = np.nan
    seen = reading(x, [0, number], on=rig(2))
    assert seen.in_sight.tolist() == [True, False]
    assert seen.range_m.tolist() == [1.0, np.inf]
    assert seen.object_id.tolist() == [0, -1]
    assert seen.label.tolist() == [11, -1]
    assert seen.verdict.tolist() == [Verdict.RECEDING, Verdict.UNKNOWN]
    for name in (*FLOATS, "projected_elevation", "point", "point_W"):
        values = getattr(seen, name)
        assert np.isfinite(values[0]).all(), name
        assert np.isnan(values[1]).all(), name


@pytest.mark.parametrize("lost", [np.nan, np.inf, -np.inf])
def test_a_fault_that_takes_the_range_alone_leaves_angles_and_rate(lost):
    x = channels(2)
    x[1, cc.RANGE] = lost
    seen = reading(x, [0, 0], on=rig(2))
    assert seen.in_sight.tolist() == [True, False]
    assert (seen.range_m[1], seen.object_id[1], seen.label[1]) == (np.inf, -1, -1)
    for name, column in (("azimuth", cc.AZIMUTH), ("elevation", cc.ELEVATION), ("range_rate", cc.RANGE_RATE)):
        assert getattr(seen, name)[1] == x[1, column]


def test_what_a_fault_says_is_read_where_nothing_is_in_sight():
    x = np.full((1, cc.COLUMNS), np.nan)
    x[0, cc.RANGE], x[0, cc.AZIMUTH] = 3.0, 0.1
    seen = reading(x, [-1])
    assert (float(seen.range_m), float(seen.azimuth), bool(seen.in_sight)) == (3.0, 0.1, True)
    assert (int(seen.object_id), int(seen.label), int(seen.verdict)) == (-1, -1, Verdict.UNKNOWN)
    assert np.isnan(seen.elevation)


@pytest.mark.parametrize("verdict", list(Verdict))
def test_the_verdict_is_the_channel_of_that_name(verdict):
    x = channels()
    x[0, cc.VERDICT] = float(verdict)
    assert reading(x).verdict == verdict


@pytest.mark.parametrize(
    ("worlds", "sensors", "axes"), [(None, None, ()), (2, None, (2,)), (None, 3, (3,)), (2, 3, (2, 3))]
)
def test_arrays_have_the_axes_that_were_asked_for_worlds_first(worlds, sensors, axes):
    rows = (worlds or 1) * (sensors or 1)
    seen = reading(channels(rows), on=rig(worlds, sensors))
    for quantity in seen.quantities:
        values = getattr(seen, quantity.name)
        numbers = () if len(quantity.components) == 1 else (len(quantity.components),)
        assert values.shape == (*axes, *numbers), quantity.name
    np.testing.assert_array_equal(seen.range_m.ravel(), channels(rows)[:, cc.RANGE])
    np.testing.assert_array_equal(seen.point.reshape(-1, 3), channels(rows)[:, cc.POINT : cc.POINT + 3])


def test_quantities_are_all_there_is_and_of_the_kinds_they_say():
    seen = reading(channels())
    told = {quantity.name: quantity for quantity in seen.quantities}
    public = {name for name in dir(ConeReading) if isinstance(getattr(ConeReading, name), property)}
    public = {name for name in public if not name.startswith("_")}
    assert set(told) == public - {"quantities", "objects", "time_ns", "valid"}
    kinds = {bool: "b", int: "i", float: "f"}
    for name, quantity in told.items():
        assert getattr(seen, name).dtype.kind == kinds[quantity.kind], name


def test_a_reading_says_in_one_line_what_is_nearest_or_that_nothing_is():
    assert repr(reading(channels())) == "ConeReading(time_ns=9, range_m=1.0, object_id=0)"
    nothing = np.full((2, cc.COLUMNS), np.nan)
    assert repr(reading(nothing[:1], [-1])) == "ConeReading(time_ns=9, nothing in sight)"
    assert repr(reading(nothing, [-1, -1], on=rig(2))).endswith("range_m=[inf inf], object_id=[-1 -1])")


def test_several_readings_gathered_are_those_of_each():
    first, second = channels(2), channels(2) + 100.0
    one, other = reading(first, [0, 1], on=rig(2)), reading(second, [2, -1], on=rig(2), time_ns=10)
    both = ConeReading.gathered([one, other], 2)
    assert both.time_ns == 10
    assert both.object_id.tolist() == [[0, 1], [2, -1]]
    assert both.label.tolist() == [[11, 12], [22, -1]]
    for quantity in one.quantities:
        expected = [getattr(one, quantity.name), getattr(other, quantity.name)]
        np.testing.assert_array_equal(getattr(both, quantity.name), expected, err_msg=quantity.name)

    # Of the first world alone
    assert ConeReading.gathered([one, other], 1).object_id.tolist() == [[0], [2]]


def test_a_masked_world_is_void_and_the_reading_before_stays():
    seen = reading(channels(6), on=rig(3, 2))
    void = seen.without(np.array([False, True, False]))
    assert void.valid.tolist() == [[True, True], [False, False], [True, True]]
    assert seen.valid.all()


# --- every object -----------------------------------------------------------------------------------------------------


def test_objects_are_listed_only_where_the_sensor_was_asked_to():
    with pytest.raises(SpecError, match="objects is asked for; the sensor lists them only with per_object=True"):
        _ = reading(channels()).objects


def test_objects_are_all_that_is_in_sight_and_not_the_nearest_alone():
    objects = reading(channels(), [2], everything=sighting([[0, -1, 2]], [[9.0, 0.0, 6.0]])).objects
    assert objects.in_sight.tolist() == [True, False, True]
    assert objects.range_m.tolist() == [9.0, np.inf, 6.0]
    assert objects.label.tolist() == [11, -1, 22]
    assert objects.nearest_first.tolist() == [2, 0]
    np.testing.assert_array_equal(objects.range_rate, [0.5, np.nan, 0.5])
    np.testing.assert_allclose(objects.azimuth, [math.pi / 2, np.nan, math.pi / 2])
    np.testing.assert_allclose(objects.elevation, [math.asin(0.6), np.nan, math.asin(0.6)])
    np.testing.assert_allclose(objects.projected_elevation, [math.pi / 2, np.nan, math.pi / 2])
    np.testing.assert_allclose(objects.point, [(0.0, 7.2, 5.4), (np.nan,) * 3, (0.0, 4.8, 3.6)])
    np.testing.assert_allclose(objects.point_W, [(-6.2, 2.0, 8.4), (np.nan,) * 3, (-3.8, 2.0, 6.6)])


def test_of_objects_that_are_equally_far_the_first_comes_first():
    found = sighting([[0, 1, -1, 2]], [[4.0, 3.0, 1.0, 3.0]])
    assert ConeObjects(found, rig()).nearest_first.tolist() == [1, 3, 0]
    nothing = ConeObjects(sighting([[-1, -1]]), rig())
    assert nothing.nearest_first.tolist() == []


@pytest.mark.parametrize(("worlds", "sensors"), [(2, None), (None, 2), (2, 2)])
def test_objects_have_the_axes_that_were_asked_for_and_then_no_single_order(worlds, sensors):
    rows = (worlds or 1) * (sensors or 1)
    axes = tuple(count for count in (worlds, sensors) if count is not None)
    ranges = 1.0 + np.arange(rows * 3, dtype=float).reshape(rows, 3)
    objects = ConeObjects(sighting(np.tile([0, 1, 2], (rows, 1)), ranges), rig(worlds, sensors))
    np.testing.assert_array_equal(objects.range_m, ranges.reshape(*axes, 3))
    assert objects.point.shape == objects.point_W.shape == (*axes, 3, 3)
    assert objects.in_sight.shape == objects.label.shape == (*axes, 3)
    with pytest.raises(SpecError) as error:
        _ = objects.nearest_first
    assert str(error.value) == (
        f"nearest_first lists the objects of one sensor; this reading has axes {axes}, use in_sight"
    )

"""Scans made by hand: what can be worked out from one without a sensor."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.core.frames import Pose
from sensorium.sensors.lidar.scan import Cause, Scan

START, END = 1_000_000_000, 1_100_000_000
CHANNELS, COLUMNS = 3, 40
KNOTS = 6


def motion(count=KNOTS):
    """Knots of a sensor that flies and tumbles: times and X_WS (knots,)."""
    rng = np.random.default_rng(4)
    times = np.linspace(START, END, count).astype(np.int64)
    return times, Pose(rng.uniform(-2, 2, (count, 3)), [1, 0, 0, 0] + rng.normal(size=(count, 4)) * 0.3)


def made(frame="sensor", knots=KNOTS, worlds=1, sensors=1):
    """A scan of random world points, with about a third of the rays lost."""
    rng = np.random.default_rng(1)
    offset = np.sort(rng.integers(0, END - START, CHANNELS * COLUMNS)).reshape(CHANNELS, COLUMNS)
    p_W = rng.uniform(-20, 20, (CHANNELS, COLUMNS, 3))
    valid = rng.uniform(size=(CHANNELS, COLUMNS)) > 0.3
    times, X_WS = motion(knots)
    at = np.interp(START + offset, times, np.arange(knots))
    k = np.minimum(at.astype(int), max(knots - 2, 0))
    X_WSt = X_WS[k].interpolate(X_WS[np.minimum(k + 1, knots - 1)], at - k)
    p_S = X_WSt.inverse().apply(p_W)
    points = np.where(valid[..., None], p_W if frame == "world" else p_S, 0.0)
    return Scan(
        range_m=np.where(valid, np.linalg.norm(p_S, axis=-1), 0.0).astype(np.float32),
        points=points,
        object_id=np.where(valid, 7, -1).astype(np.int32),
        face_id=np.where(valid, np.arange(valid.size).reshape(valid.shape), -1).astype(np.int32),
        label=np.where(valid, 3, -1).astype(np.int32),
        offset_ns=offset,
        start_ns=START,
        end_ns=END,
        frame=frame,
        knot_ns=times,
        X_WS=X_WS.reshape((knots, 1, 1)).broadcast_to((knots, worlds, sensors)),
    ), p_W


@pytest.mark.parametrize("frame", ["sensor", "world"])
@pytest.mark.parametrize("knots", [1, 2, KNOTS])
def test_deskewing_puts_every_point_into_the_first_pose(frame, knots):
    scan, p_W = made(frame, knots)
    _, X_WS = motion(knots)
    deskewed = scan.deskewed()
    np.testing.assert_allclose(deskewed[scan.valid], X_WS[0].inverse().apply(p_W)[scan.valid], atol=1e-11)
    np.testing.assert_array_equal(deskewed[~scan.valid], 0.0)


def test_flat_and_deskewed_commute():
    scan, _ = made()
    np.testing.assert_array_equal(scan.flat().deskewed(), scan.deskewed()[scan.valid])


def test_flat_keeps_the_returns_channel_by_channel():
    scan, _ = made()
    flat = scan.flat()
    count = int(scan.valid.sum())
    assert 0 < count < scan.valid.size
    assert flat.valid.all()
    assert flat.range_m.shape == flat.label.shape == flat.object_id.shape == flat.ray_time_ns.shape == (count,)
    assert flat.points.shape == (count, 3)
    assert (np.diff(flat.face_id) > 0).all()  # face ids were given in that order
    np.testing.assert_array_equal(flat.ray_time_ns, scan.ray_time_ns[scan.valid])
    assert (flat.start_ns, flat.end_ns, flat.frame) == (START, END, "sensor")
    np.testing.assert_array_equal(flat.flat().points, flat.points)


def test_flat_of_many_worlds_repeats_the_times():
    scan, _ = made(worlds=2)
    stacked = Scan(
        **{
            **{name: getattr(scan, name) for name in ("start_ns", "end_ns", "frame", "knot_ns", "X_WS", "offset_ns")},
            **{
                name: np.stack([getattr(scan, name)] * 2)
                for name in ("range_m", "points", "object_id", "face_id", "label")
            },
        }
    )
    assert stacked.ray_time_ns.shape == (2, CHANNELS, COLUMNS)
    once, twice = scan.flat(), stacked.flat()
    np.testing.assert_array_equal(twice.ray_time_ns, np.tile(once.ray_time_ns, 2))
    np.testing.assert_array_equal(twice.points, np.tile(once.points, (2, 1)))
    for ask in (stacked.deskewed, lambda: stacked.pose(START)):
        with pytest.raises(SpecError, match=r"\(2, 1\) worlds and sensors"):
            ask()


def test_poses_at_the_knots_and_between():
    scan, _ = made()
    times, X_WS = motion()
    assert scan.pose(times).almost_equal(X_WS, 1e-12)
    quarter = times[2] + (times[3] - times[2]) // 4
    s = (quarter - times[2]) / (times[3] - times[2])
    assert scan.pose(int(quarter)).shape == ()
    assert scan.pose(int(quarter)).almost_equal(X_WS[2].interpolate(X_WS[3], s), 1e-12)
    assert scan.pose(scan.ray_time_ns).shape == (CHANNELS, COLUMNS)


@pytest.mark.parametrize("time_ns", [START - 1, END + 1])
def test_no_pose_is_made_up(time_ns):
    scan, _ = made()
    scan.pose(START), scan.pose(END)
    with pytest.raises(SpecError, match=f"{time_ns}.*the sweep is {START} to {END}"):
        scan.pose(time_ns)


def test_what_follows_from_the_returns():
    scan, _ = made()
    np.testing.assert_array_equal(scan.valid, scan.object_id >= 0)
    np.testing.assert_array_equal(scan.intensity, scan.valid)
    np.testing.assert_array_equal(scan.cause == Cause.SURFACE, scan.valid)
    np.testing.assert_array_equal(scan.cause == Cause.NONE, ~scan.valid)
    np.testing.assert_array_equal(scan.ray_time_ns - START, scan.offset_ns)
    assert scan.ray_time_ns.dtype == np.int64

"""Errors and faults of scans: they change and void returns of a lidar, and make none."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.corruption import Bias, BlockedSector, DeadChannels, Dropout, Fault, FaultSchedule, White
from sensorium.errors import SpecError

CHANNELS, COLUMNS = 4, 90


def room():
    scene = sn.Scene()
    scene.add(sn.shapes.box(20.0, 20.0, 20.0), label="room")
    return scene


def pattern():
    return sn.patterns.Spinning(elevation_deg=(-6.0, -2.0, 2.0, 6.0), columns=COLUMNS, rate_hz=10.0)


def scans(steps=10, worlds=None, path=None, seed=0, **fields):
    """The newest sweep of a lidar in a room, and its handle."""
    world = sn.worlds.Kinematic({"car": path or sn.paths.Fixed(sn.Pose())}, step_s=0.01)
    env = sn.Environment(room(), world, worlds=worlds, seed=seed)
    lidar = env.attach(sn.Lidar(pattern=pattern(), **fields), body="car")
    for _ in range(steps):
        env.step()
    return lidar.read(), lidar


@pytest.mark.parametrize("frame", ["sensor", "world"])
def test_a_changed_range_moves_the_point_along_its_ray(frame):
    spin = sn.paths.Spin(position=(1, 2, 0), axis=(0, 0, 1), rate=3.0)
    true, _ = scans(path=spin, frame=frame)
    wrong, lidar = scans(path=spin, frame=frame, errors=(Bias(0.5),))
    np.testing.assert_allclose(wrong.range_m - true.range_m, 0.5, atol=1e-5)
    moved = wrong.points - true.points
    np.testing.assert_allclose(np.linalg.norm(moved, axis=-1), 0.5, atol=1e-4)
    origin = (1, 2, 0) if frame == "world" else (0, 0, 0)
    along = (true.points - origin) / true.range_m[..., None]
    np.testing.assert_allclose(moved, 0.5 * along, atol=2e-3 if frame == "world" else 1e-4)
    np.testing.assert_array_equal(lidar.truth().range_m, true.range_m)


def test_dead_channels_and_blocked_sectors_have_no_returns():
    shape = (CHANNELS, COLUMNS)
    dead, _ = scans(errors=(DeadChannels(channels=(1,), shape=shape),))
    assert not dead.valid[1].any()
    assert dead.valid[[0, 2, 3]].all()
    assert (dead.object_id[1] == -1).all()
    assert not dead.points[1].any()

    blocked, _ = scans(errors=(BlockedSector(shape=shape, columns=(10, 30)),))
    assert blocked.valid.all(axis=0).sum() in (COLUMNS - 20, COLUMNS - 21)


def test_dropouts_void_their_share():
    scan, lidar = scans(errors=(Dropout(probability=0.25, fill="zero", together=False),))
    missing = 1.0 - scan.valid.mean()
    assert missing == pytest.approx(0.25, abs=4 * np.sqrt(0.25 * 0.75 / scan.valid.size))
    assert lidar.truth().valid.all()


def test_noise_of_worlds_is_that_of_worlds_alone():
    batch, _ = scans(worlds=3, errors=(White(std=0.1),), seed=4)
    assert batch.range_m.shape == (3, CHANNELS, COLUMNS)
    assert not np.array_equal(batch.range_m[0], batch.range_m[1])
    env = sn.Environment(room(), sn.worlds.Kinematic({"car": sn.paths.Fixed(sn.Pose())}), seed=4, first_world=2)
    lidar = env.attach(sn.Lidar(pattern=pattern(), errors=(White(std=0.1),)), body="car")
    for _ in range(10):
        env.step()
    np.testing.assert_array_equal(lidar.read().range_m, batch.range_m[2])


def test_a_fault_blinds_for_its_time():
    blind = Fault(Dropout(probability=1.0, fill="zero"), start_s=0.15, end_s=0.25)
    env = sn.Environment(room())
    lidar = env.attach(sn.Lidar(pattern=pattern(), faults=FaultSchedule(faults=(blind,))))
    seen = []
    for _ in range(40):
        env.step()
        if lidar.fresh:
            seen.append(bool(lidar.read().valid.any()))
    assert seen == [True, False, True, True]


def test_the_lidars_clock_stamps_its_rays():
    true, _ = scans()
    wrong, lidar = scans(timing=sn.Timing(clock_offset_s=1.0, skew_ppm=1000.0))
    np.testing.assert_array_equal(
        wrong.time_ns, true.time_ns + 1_000_000_000 + np.rint(true.time_ns * 1e-3).astype(int)
    )
    np.testing.assert_array_equal(lidar.truth().time_ns, true.time_ns)
    np.testing.assert_allclose(wrong.deskewed(), true.deskewed())


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"timing": sn.Timing(jitter_s=0.1)}, "jitter_s is 0.1; a lidar sweeps"),
        ({"publish": "slices", "errors": (Bias(0.1),)}, "errors or faults; they act on whole sweeps"),
    ],
)
def test_what_a_lidar_refuses(fields, message):
    with pytest.raises(SpecError, match=message):
        sn.Lidar(pattern=pattern(), **fields)

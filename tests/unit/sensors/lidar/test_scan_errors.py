"""Errors and faults of scans: they change, void, hold and make returns of a lidar."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.corruption import (
    Bias,
    BlockedSector,
    DeadChannels,
    Dropout,
    Fault,
    FaultSchedule,
    Freeze,
    Quantize,
    SquareWave,
    Stuck,
    White,
)

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
        wrong.ray_time_ns, true.ray_time_ns + 1_000_000_000 + np.rint(true.ray_time_ns * 1e-3).astype(int)
    )
    np.testing.assert_array_equal(lidar.truth().ray_time_ns, true.ray_time_ns)
    np.testing.assert_allclose(wrong.deskewed(), true.deskewed())


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"timing": sn.Timing(jitter_s=0.1), "motion": "snapshot"}, "jitter_s is 0.1 with motion 'snapshot'"),
        ({"publish": "slices", "errors": (Bias(0.1),)}, "errors or faults; they act on whole sweeps"),
    ],
)
def test_what_a_lidar_refuses(fields, message):
    with pytest.raises(SpecError, match=message):
        sn.Lidar(pattern=pattern(), **fields)


# ---- what is held, and what speaks where nothing returned

FIELDS = ("range_m", "points", "object_id", "face_id", "label", "valid", "intensity", "cause")


def passing(faults=(), steps=60, spec=None, worlds=None, **fields):
    """Sweeps of a lidar past which a ball flies, before nothing: rays gain and lose their returns."""
    scene = sn.Scene()
    scene.add(sn.shapes.sphere(1.5), body="ball", label="ball")
    scene.add(sn.shapes.box(1.0, 1.0, 1.0), pose=sn.Pose((0.0, 6.0, 0.0)), label="crate")
    world = sn.worlds.Kinematic({"ball": sn.paths.Line((5.0, -3.0, 0.0), (0.5, 4.0, 0.0))}, step_s=0.02)
    env = sn.Environment(scene, world, worlds=worlds, seed=3)
    given = {"pattern": pattern(), "max_range_m": 50.0, **fields}
    lidar = env.attach(sn.Lidar(faults=FaultSchedule(faults=faults), **given), body=None)
    read, true = [], []
    for _ in range(steps):
        env.step()
        if lidar.fresh:
            read.append(lidar.read())
            true.append(lidar.truth())
    return read, true, lidar


MODES = {
    "geometric": {"normals": True},
    "relative": {"mode": "relative"},
    "world frame": {"frame": "world"},
    "all returns": {"mode": "relative", "returns": "all", "max_returns": 2},
    "radiometric": {"mode": "radiometric"},
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("model", [Freeze(), Stuck(mode="present")], ids=["freeze", "stuck"])
def test_a_frozen_scan_is_the_scan_at_the_onset_with_its_labels_and_its_gaps(mode, model):
    window = {"start_s": 0.35, "end_s": 0.85}
    read, _, lidar = passing((Fault(model, **window),), **MODES[mode])
    healthy, _, _ = passing(**MODES[mode])
    onset = 3  # the sweep that ends at 0.4 s
    gained = lost = 0
    for k, scan in enumerate(read):
        inside = onset <= k < 8
        expected = healthy[onset if inside else k]
        for name in FIELDS:
            near_m = 1e-5 if name == "points" and scan.frame == "world" else 0.0  # they are worked out anew there
            found, wanted = np.asarray(getattr(scan, name), float), np.asarray(getattr(expected, name), float)
            np.testing.assert_allclose(found, wanted, rtol=0.0, atol=near_m, err_msg=f"{name} {k}")
        if scan.normals is not None:
            np.testing.assert_array_equal(scan.normals, expected.normals)
        if inside:
            gained += np.count_nonzero(healthy[k].valid & ~scan.valid)
            lost += np.count_nonzero(~healthy[k].valid & scan.valid)
    assert gained > 10
    assert lost > 10
    assert [(event.start_ns, event.end_ns) for event in lidar.faults.log] == [(350_000_000, 850_000_000)]


def test_the_truth_of_a_frozen_scan_goes_on():
    _, true, _ = passing((Fault(Freeze()),))
    _, healthy, _ = passing()
    for k, scan in enumerate(true):
        for name in FIELDS:
            np.testing.assert_array_equal(getattr(scan, name), getattr(healthy[k], name))


def test_points_of_a_held_scan_in_the_world_follow_the_sensor():
    """Held ranges lie along the rays of the sensor as it stands now."""
    spin = sn.paths.Spin(position=(1, 2, 0), axis=(0, 0, 1), rate=0.7)
    world = sn.worlds.Kinematic({"car": spin}, step_s=0.01)
    env = sn.Environment(room(), world)
    lidar = env.attach(
        sn.Lidar(pattern=pattern(), frame="world", motion="snapshot", faults={"faults": (Fault(Freeze()),)}), body="car"
    )
    first = None
    for _ in range(40):
        env.step()
        if lidar.fresh:
            scan = lidar.read()
            first = scan if first is None else first
            np.testing.assert_array_equal(scan.range_m, first.range_m)
            X_WS = scan.X_WS[0, 0, 0]
            along = pattern().rays(0).direction_S * scan.range_m[..., None]
            np.testing.assert_allclose(scan.points, X_WS.apply(along), atol=1e-5)


@pytest.mark.parametrize("mode", ["geometric", "relative", "world frame"])
def test_a_stuck_value_speaks_where_nothing_returned(mode):
    read, true, _ = passing((Fault(Stuck(mode="value", value=7.5), start_s=0.35, end_s=0.65),), **MODES[mode])
    struck = 0
    for k, (scan, truth) in enumerate(zip(read, true, strict=True)):
        if not 3 <= k < 6:
            np.testing.assert_array_equal(scan.range_m, truth.range_m)
            continue
        assert scan.valid.all()
        assert (scan.range_m == 7.5).all()
        np.testing.assert_allclose(scan.points, 7.5 * pattern().rays(0).direction_S, atol=1e-5)
        made = ~truth.valid
        struck += made.sum()
        assert (scan.object_id[made] == -1).all()
        assert (scan.label[made] == -1).all()
        assert (scan.cause[made] == sn.Cause.FAULT).all()
        assert (scan.cause[~made] == sn.Cause.SURFACE).all()
        np.testing.assert_array_equal(scan.object_id[~made], truth.object_id[~made])
        assert len(scan.flat().range_m) == scan.range_m.size
    assert struck > 500


def test_a_stuck_value_beyond_the_limits_is_no_return():
    read, true, _ = passing((Fault(Stuck(mode="value", value=51.0)),))
    assert not any(scan.valid.any() for scan in read)
    assert any(scan.valid.any() for scan in true)


def test_noise_makes_no_returns():
    errors = (White(std=0.1), Bias(3.0), Quantize(lsb=0.01))
    read, true, _ = passing(errors=errors)
    for scan, truth in zip(read, true, strict=True):
        np.testing.assert_array_equal(scan.valid, truth.valid)
    speaking, _, _ = passing(errors=(SquareWave(amplitude=4.0, frequency_hz=0.01, mode="replace"),))
    assert all(scan.valid.all() for scan in speaking)


def test_lost_rays_hold_the_return_of_the_sweep_before():
    """Each ray by itself: labels, objects and gaps are those of the range that is held."""
    lost = Fault(Dropout(probability=0.6, fill="hold", together=False), start_s=0.25)
    read, true, _ = passing((lost,))
    whole = np.stack([scan.range_m for scan in true])
    labels = np.stack([scan.label for scan in true])
    older = np.zeros(whole.shape[1:], int)
    ages = set()
    for k, scan in enumerate(read):
        fresh = scan.range_m == whole[k]
        candidates = whole[: k + 1] == scan.range_m
        assert candidates.any(axis=0).all()
        older = np.where(fresh, k, older)
        held = np.take_along_axis(whole, older[None], axis=0)[0]
        np.testing.assert_array_equal(scan.range_m, held)
        label = np.take_along_axis(labels, older[None], axis=0)[0]
        np.testing.assert_array_equal(scan.label, label)
        np.testing.assert_array_equal(scan.valid, held > 0.0)
        ages |= set((k - older).ravel())
    assert len(ages) > 3


def test_a_frozen_rosette_keeps_the_points_of_its_own_rays():
    """Rays differ from sweep to sweep; a device that sends the same message again sends the same points."""
    prisms = [
        {"wedge_deg": wedge, "refractive_index": 1.51, "rotor_rpm": rpm}
        for wedge, rpm in ((18.0, 7294.0), (18.0, -4664.0))
    ]
    rosette = sn.patterns.Rosette(prisms=prisms, point_rate_hz=2000.0, rate_hz=10.0)
    read, _, _ = passing((Fault(Freeze(), start_s=0.35),), pattern=rosette)
    healthy, _, _ = passing(pattern=rosette)
    assert (healthy[3].points != healthy[5].points).any()
    for scan in read[3:]:
        np.testing.assert_array_equal(scan.points, healthy[3].points)
        np.testing.assert_array_equal(scan.range_m, healthy[3].range_m)


def test_held_waveforms_go_with_the_returns():
    waveform = {"mode": "waveform", "waveform": {"keep": True}, "max_range_m": 12.0}
    read, _, _ = passing((Fault(Freeze(), start_s=0.35, end_s=0.65),), steps=40, **waveform)
    healthy, _, _ = passing(steps=40, **waveform)
    for k, scan in enumerate(read):
        at = 3 if 3 <= k < 6 else k
        np.testing.assert_array_equal(scan.waveform.samples, healthy[at].waveform.samples)
        np.testing.assert_array_equal(scan.width_s, healthy[at].width_s)


def test_worlds_freeze_by_themselves_and_a_reset_ends_it():
    frozen = Fault(Freeze(), onsets_per_s=2.0)
    read, true, lidar = passing((frozen,), worlds=6, steps=80)
    assert {event.world for event in lidar.faults.log} == set(range(6))
    for world in range(6):
        onset_ns = next(event.start_ns for event in lidar.faults.log if event.world == world)
        held = None
        for scan, truth in zip(read, true, strict=True):
            if scan.end_ns < onset_ns:
                np.testing.assert_array_equal(scan.range_m[world], truth.range_m[world])
                continue
            held = truth if held is None else held
            np.testing.assert_array_equal(scan.range_m[world], held.range_m[world])
            np.testing.assert_array_equal(scan.label[world], held.label[world])

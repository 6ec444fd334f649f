"""Random placement of lidars: what scans tell of it, when it is drawn, and that ranges follow it in every mode."""

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.transform import Rotation

import sensorium as sn
from sensorium.core.errors import SpecError

PLACEMENT = sn.Placement(
    min_translation_m=(-0.2, -0.1, 0.0),
    max_translation_m=(0.1, 0.3, 0.2),
    min_rotation_deg=(-8.0, -6.0, -12.0),
    max_rotation_deg=(4.0, 9.0, 10.0),
)
NOMINAL = sn.Pose.from_euler_deg((0.1, 0.0, 0.03), pitch=10.0)
RASTER = sn.patterns.Raster(
    height=5, width=7, horizontal_fov_deg=(-20, 20), vertical_fov_deg=(-15, 15), rate_hz=10.0, firing="columns"
)
MODES = ["geometric", "relative", "radiometric", "waveform"]
WALL_M = 5.0


def rig(spec, *, worlds=6, pose=NOMINAL, seed=0, name="lidar", **options):
    """A lidar on a body that drives at a wall at x = 5 m."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(0.2, 60.0, 60.0), pose=sn.Pose(position=(WALL_M + 0.1, 0.0, 0.0)), label="wall")
    world = sn.worlds.Kinematic({"car": sn.paths.Line(start=(0, 0, 1.5), velocity=(1.0, 0.0, 0.0))}, step_s=0.1)
    env = sn.Environment(scene, world, worlds=worlds, seed=seed, **options)
    return env, env.attach(spec, body="car", pose=pose, name=name)


def lidar(when="reset", **options):
    return sn.Lidar(
        pattern=options.pop("pattern", RASTER),
        max_range_m=50.0,
        randomize=sn.Randomization(when=when, placement=PLACEMENT),
        **options,
    )


def offsets(scan, pose=NOMINAL, knot=0):
    """X_NS of each lidar: translation [m] and roll, pitch, yaw [deg], shape (worlds, sensors, 6)."""
    X_WB = sn.Pose(position=(scan.knot_ns[knot] * 1e-9, 0.0, 1.5))
    nominal = X_WB @ (pose if isinstance(pose, sn.Pose) else sn.Pose.stack(pose))
    X_NS = nominal.inverse() @ scan.X_WS[knot]
    turned = Rotation.from_matrix(X_NS.rotation.reshape(-1, 3, 3)).as_euler("ZYX", degrees=True)[:, ::-1]
    return np.concatenate([X_NS.position, turned.reshape(X_NS.position.shape)], axis=-1)


def expected_ranges(scan, table, worlds, sensors):
    """Distance to the wall from each lidar's own pose at each ray's own time, by plane geometry in float64."""
    ranges = np.empty((worlds, sensors, *table.shape))
    times = scan.start_ns + np.broadcast_to(scan.offset_ns, table.shape)
    knots = np.asarray(scan.knot_ns, np.float64)
    for world in range(worlds):
        for sensor in range(sensors):
            own = scan.X_WS[:, world, sensor]
            x = np.interp(times, knots, own.position[:, 0]) if len(knots) > 1 else own.position[0, 0]
            R = own.rotation[0]  # nothing turns within a sweep
            ranges[world, sensor] = (WALL_M - x) / (table.direction_S.astype(np.float64) @ R[0])
    return ranges


def test_placements_are_even_between_their_limits_and_apart():
    env, attached = rig(lidar(motion="snapshot"), worlds=700)
    env.step()
    drawn = offsets(attached.read()).reshape(-1, 6).T
    names = ("translation_m", "rotation_deg")
    least, most = (np.concatenate([getattr(PLACEMENT, f"{end}_{name}") for name in names]) for end in ("min", "max"))
    for values, low, high in zip(drawn, least, most, strict=True):
        assert stats.kstest(values, stats.uniform(low, high - low).cdf).pvalue > 1e-3
    off_diagonal = np.corrcoef(drawn)[np.triu_indices(6, 1)]
    assert np.abs(off_diagonal).max() < 0.15


@pytest.mark.parametrize("motion", ["rolling", "snapshot"])
@pytest.mark.parametrize("mode", MODES)
def test_ranges_are_those_from_the_pose_that_the_scan_tells(mode, motion):
    """In every mode, from several lidars in several worlds, while they move."""
    quiet = {"receiver": sn.Receiver(noise_electrons=0.0)} if mode == "waveform" else {}
    light = {} if mode == "geometric" else {"detection": None} | quiet
    poses = [NOMINAL, sn.Pose.from_euler_deg(yaw=30.0)]
    env, attached = rig(lidar(mode=mode, motion=motion, **light), worlds=3, pose=poses)
    env.run(0.2).finish()
    for scan in (attached.read(), attached.truth()):
        drawn = offsets(scan, poses)
        assert len(np.unique(drawn[..., 0].round(9))) == 6
        wanted = expected_ranges(scan, RASTER.rays(0), 3, 2)
        coarse = mode in ("radiometric", "waveform") and scan is not attached.truth()
        seen = scan.valid
        assert seen.mean() > 0.9
        np.testing.assert_allclose(scan.range_m[seen], wanted[seen], atol=0.3 if coarse else 1e-4)


@pytest.mark.parametrize("frame", ["sensor", "world"])
def test_points_lie_on_the_wall_from_the_pose_that_the_scan_tells(frame):
    env, attached = rig(lidar(frame=frame), worlds=3)
    env.run(0.2).finish()
    scan = attached.read()
    for world in range(3):
        one = scan.one(world)
        points = one.points if frame == "world" else one.pose(one.start_ns + one.offset_ns).apply(one.points)
        np.testing.assert_allclose(points[..., 0], WALL_M, atol=1e-4)


def test_drawn_at_the_start_and_at_a_reset_and_only_there():
    env, attached = rig(lidar())
    env.run(0.2).finish()
    first = offsets(attached.read())
    env.run(0.2).finish()
    np.testing.assert_allclose(offsets(attached.read()), first, atol=1e-9)
    mask = np.array([False, True, False, False, True, False])
    env.reset(mask)
    env.run(0.2).finish()
    across = attached.read().X_WS[0].position[:, 0, 1]  # across the way of the body
    np.testing.assert_array_equal(np.abs(across - first[:, 0, 1]) > 1e-9, mask)


def test_drawn_for_every_sweep_if_so_wished():
    env, attached = rig(lidar("step"))
    seen = []
    for _ in env.run(0.5):
        seen += [offsets(scan) for scan in attached.readings()]
    assert len(seen) == 5
    assert (np.abs(np.diff(seen, axis=0)) > 1e-9).all()


@pytest.mark.parametrize("when", ["reset", "step"])
def test_slices_of_a_sweep_share_its_placement(when):
    pattern = sn.patterns.Spinning(elevation_deg=(0.0, 5.0), columns=8, rate_hz=5.0)
    env, attached = rig(lidar(when, pattern=pattern, publish="slices"))
    slices = []
    for _ in env.run(0.6):
        slices += attached.readings()
    by_sweep: dict[int, list] = {}
    for piece in slices:
        by_sweep.setdefault(piece.start_ns // 200_000_000, []).append(offsets(piece))
    assert [len(pieces) for pieces in by_sweep.values()] == [2, 2, 2]
    for pieces in by_sweep.values():
        np.testing.assert_allclose(pieces[0], pieces[1], atol=1e-9)
    between = np.abs(by_sweep[0][0] - by_sweep[1][0]).max()
    assert between > 1e-3 if when == "step" else between < 1e-9


def test_a_batch_draws_what_its_worlds_draw_alone_and_seeds_and_names_differ():
    env, attached = rig(lidar("step"), worlds=4)
    env.run(0.2).finish()
    together = offsets(attached.read())
    for world in range(4):
        alone_env, alone = rig(lidar("step"), worlds=None, first_world=world)
        alone_env.run(0.2).finish()
        np.testing.assert_array_equal(alone.read().X_WS.position[:, 0, 0], attached.read().X_WS.position[:, world, 0])
        np.testing.assert_array_equal(alone.read().range_m, attached.read().range_m[world])
    for changed in ({"seed": 1}, {"name": "other"}):
        other_env, other = rig(lidar("step"), worlds=4, **changed)
        other_env.run(0.2).finish()
        assert (np.abs(offsets(other.read()) - together) > 1e-9).all()


def test_noise_has_the_numbers_that_it_has_without_a_placement():
    """The draws of a placement are apart from all others of the lidar: a placement of nothing changes no byte."""
    for mode in ("geometric", "relative"):
        light = {} if mode == "geometric" else {"detection": None}
        options = {
            "pattern": RASTER,
            "max_range_m": 50.0,
            "noise": sn.RangeNoise(base_m=0.05, dropout=0.1),
            "mode": mode,
        }
        drawn = sn.Randomization(placement=sn.Placement())
        scans = []
        for spec in (sn.Lidar(**options, **light), sn.Lidar(**options, **light, randomize=drawn)):
            env, attached = rig(spec)
            env.run(0.2).finish()
            scans.append(attached.read())
        np.testing.assert_allclose(scans[0].range_m, scans[1].range_m, atol=2e-6)
        np.testing.assert_array_equal(scans[0].valid, scans[1].valid)


def test_a_lidar_draws_a_placement_alone():
    def spec(**randomize):
        return sn.Lidar(pattern=RASTER, randomize=sn.Randomization(**randomize))

    with pytest.raises(SpecError, match="randomize has no placement; a lidar must have one"):
        spec()
    with pytest.raises(SpecError, match=r"randomize.ray_jitter_rad is 0.01; rays of a lidar .* noise.angle_std_rad"):
        spec(placement=PLACEMENT, ray_jitter_rad=0.01)
    with pytest.raises(SpecError, match=r"randomize.intrinsics is given; a lidar has no lens"):
        spec(placement=PLACEMENT, intrinsics=sn.Intrinsics(fov_deg=(40.0, 60.0)))
    lens = sn.patterns.Pinhole.from_fov(8, 8, 80.0, rate_hz=10.0)
    with pytest.raises(SpecError, match=r"randomize.projections is given; a lidar has no lens"):
        spec(placement=PLACEMENT, projections=(lens,))


def test_crosstalk_needs_known_places():
    options = {"pattern": RASTER, "mode": "relative", "detection": None}
    with pytest.raises(SpecError, match="crosstalk is given with randomize"):
        lidar(mode="relative", crosstalk=sn.Crosstalk())
    env, _ = rig(sn.Lidar(**options, crosstalk=sn.Crosstalk()), worlds=1)
    env.attach(lidar(mode="relative"), body="car", name="other")
    with pytest.raises(SpecError, match="'lidar' has crosstalk and hears 'other', whose placement is drawn"):
        env.run(0.3).finish()


def test_in_a_scenario_file_and_in_a_recording(tmp_path):
    file = tmp_path / "drive.yaml"
    file.write_text(
        """\
duration_s: 0.2
scene: {objects: [{shape: {kind: box, x: 1, y: 40, z: 40}, pose: {position: [5.5, 0, 0]}}]}
world: {kind: kinematic, step_s: 0.1, bodies: {car: {kind: line, velocity: [1, 0, 0]}}}
sensors:
  top:
    kind: lidar
    body: car
    pattern: {kind: raster, height: 3, width: 4, horizontal_fov_deg: [-20, 20], vertical_fov_deg: [-9, 9], rate_hz: 10}
    min_range_m: 0.2
    max_range_m: 10.0
    normalize: true
    randomize: {when: step, placement: {min_translation_m: [-1, -1, -1], max_translation_m: [1, 1, 1]}}
"""
    )
    env = sn.scenario.Scenario.load(file).environment()
    poses, scans = [], []
    with sn.record.McapRecorder(tmp_path / "run.mcap") as recorder:
        for _ in env.run(0.3):
            recorder.record(env)
            for scan in env.sensors["top"].readings():
                poses.append(scan.X_WS.position[0, 0, 0])
                scans.append(scan)
    from mcap.reader import make_reader
    from mcap_ros2.decoder import DecoderFactory

    with (tmp_path / "run.mcap").open("rb") as opened:
        reader = make_reader(opened, decoder_factories=[DecoderFactory()])
        found = [(m.channel.topic, m.decoded_message) for m in reader.iter_decoded_messages()]
    told = [m.pose.position for topic, m in found if topic == "/top/pose"]
    np.testing.assert_allclose([(p.x, p.y, p.z) for p in told], poses)
    assert len(poses) == 3
    images = [np.frombuffer(bytes(m.data), "<f4").reshape(3, 4) for topic, m in found if topic == "/top/range_image"]
    for image, scan in zip(images, scans, strict=True):
        np.testing.assert_allclose(image, np.where(scan.valid, scan.range_m, np.inf), rtol=1e-6)

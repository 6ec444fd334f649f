"""Recordings, read back by mcap-ros2-support and by the reader of rosbags."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from rosbags.highlevel import AnyReader

import sensorium as sn
from sensorium.core.errors import RecordError, SpecError
from sensorium.corruption import Dropout, Fault, FaultSchedule, Noise
from sensorium.record.mcap.recorder import McapRecorder
from sensorium.record.ros2.message import Source
from sensorium.record.ros2.readings import messages_of
from sensorium.record.ros2.run_topics import clock, mounts
from sensorium.sensors.lidar.scan import Light

POINT_TYPES = {2: "u1", 4: "<u2", 5: "<i4", 6: "<u4", 7: "<f4", 8: "<f8"}
GROUP = {"position": (0.0, 0.0, 0.0)}


def small_lidar(columns=100, **changes):
    pattern = sn.patterns.Spinning(elevation_deg=(5.0, 0.0, -5.0, -10.0), columns=columns, rate_hz=10)
    return sn.Lidar(**{"pattern": pattern, **changes})


def street(worlds=None, step_s=0.01, **options):
    scene = sn.Scene()
    scene.add(sn.shapes.plane(100.0), label="ground")
    scene.add(sn.shapes.box(4, 2, 1.5), body="car", label="car")
    world = sn.worlds.Kinematic(
        {
            "car": sn.paths.Line(start=(-5, 0, 1), velocity=(8, 0, 0)),
            "ball": sn.paths.Circle(center=(4, 2, 1), radius=2.0, rate=3.0),
        },
        joints={"wheel": sn.paths.JointLine(velocity=8.0)},
        step_s=step_s,
    )
    field = sn.fields.UniformMagnetic((2e-5, 0.0, -4e-5))
    return sn.Environment(scene, world, worlds=worlds, magnetic=field, **options)


def read(path: Path) -> dict[str, list]:
    """All messages by topic as an independent decoder gives them, each with its times."""
    found: dict[str, list] = {}
    with path.open("rb") as file:
        reader = make_reader(file, validate_crcs=True, decoder_factories=[DecoderFactory()])
        for decoded in reader.iter_decoded_messages():
            found.setdefault(decoded.channel.topic, []).append((decoded.message.log_time, decoded.decoded_message))
    return found


def stamp_ns(message) -> int:
    return message.header.stamp.sec * 10**9 + message.header.stamp.nanosec


def points_of(message) -> np.ndarray:
    """A PointCloud2's points as records."""
    names = [f.name for f in message.fields]
    kind = np.dtype(
        {
            "names": names,
            "formats": [POINT_TYPES[f.datatype] for f in message.fields],
            "offsets": [f.offset for f in message.fields],
            "itemsize": message.point_step,
        }
    )
    assert message.height * message.row_step == len(message.data)
    assert message.is_dense
    return np.frombuffer(bytes(message.data), kind)


def xyz(vector) -> np.ndarray:
    return np.array([vector.x, vector.y, vector.z])


@pytest.mark.parametrize("columns", [100, 1000])
@pytest.mark.parametrize("frame", ["sensor", "world"])
def test_clouds_come_back_bit_for_bit(tmp_path, columns, frame):
    # The larger ones are written by the thread, at places of their own
    env = street()
    timing = sn.Timing(clock_offset_s=0.25, skew_ppm=40.0)
    spec = small_lidar(columns, frame=frame, timing=timing)
    lidar = env.attach(spec, body="car", pose=sn.Pose((0, 0, 1.2)), hide=("car",))
    scans = []
    with McapRecorder(tmp_path / "run.mcap") as recorder:
        for _ in env.run(0.45):
            recorder.record(env)
            scans += lidar.readings()
    clouds = read(tmp_path / "run.mcap")["/lidar/points"]
    assert len(clouds) == len(scans) == 4
    for (log_ns, message), scan in zip(clouds, scans, strict=True):
        cloud, flat = points_of(message), scan.flat()
        assert len(cloud) > columns
        assert np.array_equal(np.stack([cloud[a] for a in "xyz"], -1), flat.points)
        assert cloud["x"].dtype == flat.points.dtype
        for name in ("intensity", "label", "cause"):
            assert np.array_equal(cloud[name], getattr(flat, name))
        assert np.array_equal(cloud["ring"], np.nonzero(scan.valid)[0])
        assert not cloud["return"].any()
        assert np.array_equal(stamp_ns(message) + cloud["t"].astype(np.int64), scan.ray_time_ns[scan.valid])
        assert scan.end_ns <= log_ns <= scan.end_ns + 10_000_000
        assert message.header.frame_id == ("lidar" if frame == "sensor" else "world")


def test_labels_are_named_and_clouds_may_be_thinned(tmp_path):
    env = street()
    lidar = env.attach(small_lidar(), body="car", pose=sn.Pose((0, 0, 1.2)))
    scans, path = [], tmp_path / "run.mcap"
    with McapRecorder(path, clouds_every=2) as recorder:
        for _ in env.run(0.45):
            recorder.record(env)
            scans += lidar.readings()
    topics = read(path)
    assert [stamp_ns(message) for _, message in topics["/lidar/points"]] == [scan.time_ns for scan in scans[::2]]
    assert len(topics["/clock"]) == 45

    # Also of a file that was cut off
    path.with_name("cut.mcap").write_bytes(path.read_bytes()[:-200])
    sn.record.recover(path.with_name("cut.mcap"))
    for one in (path, path.with_name("cut.recovered.mcap")):
        with one.open("rb") as file:
            (metadata,) = make_reader(file).iter_metadata()
        assert metadata.name == "sensorium.labels"
        assert metadata.metadata == {str(number): name for name, number in env.scene.labels.items()}
    with pytest.raises(SpecError, match="clouds_every is 0; it must be at least 1"):
        McapRecorder(path, clouds_every=0)


def test_every_return_of_a_ray_is_a_point(tmp_path):
    scan_shape = (2, 3, 4)
    rng = np.random.default_rng(5)
    valid = rng.random(scan_shape) < 0.6
    scan = sn.Scan(
        range_m=np.where(valid, 1.0, 0.0).astype(np.float32),
        points=rng.random((*scan_shape, 3)).astype(np.float32),
        object_id=np.where(valid, 3, -1).astype(np.int32),
        face_id=np.zeros(scan_shape, np.int32),
        label=rng.integers(-1, 9, scan_shape).astype(np.int32),
        offset_ns=np.arange(12).reshape(3, 4) * 10**9,
        start_ns=7,
        end_ns=12 * 10**9,
        frame="sensor",
        knot_ns=np.zeros(1, np.int64),
        X_WS=sn.Pose().broadcast_to((1, 1, 1)),
    )
    env = street()
    source = Source.of(env.attach(small_lidar()), env.world.body_names, ())
    with McapRecorder(tmp_path / "run.mcap") as recorder:
        for topic, message in messages_of(scan, source):
            recorder.write(topic, message, log_ns=5)
    ((log_ns, message),) = read(tmp_path / "run.mcap")["/lidar/points"]
    cloud = points_of(message)
    returns, rings, _ = np.nonzero(valid)
    assert np.array_equal(cloud["return"], returns)
    assert np.array_equal(cloud["ring"], rings)
    # Sweeps longer than 32 bits of nanoseconds tell seconds
    assert np.array_equal(np.rint(cloud["time"] * 1e9), np.broadcast_to(scan.offset_ns, scan_shape)[valid])
    assert (log_ns, stamp_ns(message)) == (5, 7)


def test_returns_found_in_waveforms_have_their_widths(tmp_path):
    env = street()
    lidar = env.attach(small_lidar(), body="car", pose=sn.Pose((0, 0, 1.2)), hide=("car",))
    for _ in env.run(0.1):
        pass
    scan = lidar.read()
    width_s = np.where(scan.valid, np.random.default_rng(1).uniform(3e-9, 9e-9, scan.range_m.shape), 0.0)
    light = Light(scan.intensity, scan.cause, scan.depth, scan.mirror_id, None, width_s.astype(np.float32))
    source = Source.of(lidar, env.world.body_names, ())
    with McapRecorder(tmp_path / "run.mcap") as recorder:
        for topic, message in messages_of(replace(scan, light=light), source):
            recorder.write(topic, message, log_ns=5)
    cloud = points_of(read(tmp_path / "run.mcap")["/lidar/points"][0][1])
    assert np.array_equal(cloud["width"], light.width_s[scan.valid])
    assert np.array_equal(cloud["label"], scan.label[scan.valid])
    assert np.array_equal(cloud["ring"], np.nonzero(scan.valid)[0])


def test_inertial_readings_come_back_with_covariances(tmp_path):
    env = street(seed=3)
    rates = ("acceleration", "angular_velocity", "magnetic_field")
    imu = sn.Imu(magnetic=GROUP, outputs=(*rates, "delta_velocity", "delta_angle"))
    imu.linear.noise.std = (0.1, 0.2, 0.3)
    imu.angular.noise.density = 0.01
    handle = env.attach(imu, body="car")
    flat = env.attach(sn.Accelerometer(axes="zx"), body="car", name="flat")
    readings, planar = [], []
    with McapRecorder(tmp_path / "run.mcap") as recorder:
        for _ in env.run(0.2):
            recorder.record(env)
            readings += handle.readings()
            planar += flat.readings()
    found = read(tmp_path / "run.mcap")
    assert len(found["/imu/data_raw"]) == len(readings) > 15
    topics = [found[f"/imu/{end}"] for end in ("data_raw", "mag", "delta_velocity", "delta_angle")]
    for (_, message), (_, mag), (_, delta), (_, turn), reading in zip(*topics, readings, strict=True):
        assert np.array_equal(xyz(message.linear_acceleration), reading.acceleration)
        assert np.array_equal(xyz(message.angular_velocity), reading.angular_velocity)
        assert np.array_equal(xyz(mag.magnetic_field), reading.magnetic_field)
        assert np.array_equal(xyz(delta.vector), reading.delta_velocity)
        assert np.array_equal(xyz(turn.vector), reading.delta_angle)
        assert stamp_ns(message) == stamp_ns(mag) == stamp_ns(delta) == stamp_ns(turn) == reading.time_ns
        assert message.header.frame_id == "imu"
    assert np.allclose(np.reshape(message.linear_acceleration_covariance, (3, 3)), np.diag([0.01, 0.04, 0.09]))
    # A data sheet's density at 100 Hz: sigma^2 = N^2 f_s / 2
    assert np.allclose(np.reshape(message.angular_velocity_covariance, (3, 3)), np.eye(3) * 1e-4 * 50.0)
    assert message.orientation_covariance[0] == -1.0
    assert not np.any(mag.magnetic_field_covariance)

    # Axes in their places; what is not measured is said to be absent
    (_, message), reading = found["/flat/data_raw"][-1], planar[-1]
    assert np.array_equal(xyz(message.linear_acceleration)[[2, 0]], reading.acceleration)
    assert np.isnan(message.linear_acceleration.y)
    assert message.angular_velocity_covariance[0] == -1.0


def test_joints_wheels_positions_and_pressures_come_back(tmp_path):
    env = street(seed=3)
    noise = Noise(std=(0.5, 0.5, 1.0), gauss_markov_std=2.0, gauss_markov_tau_s=100.0)
    handles = {
        "encoder": env.attach(sn.Encoder(counts_per_turn=1024), joint="wheel"),
        "odometer": env.attach(sn.Odometer(radius_m=0.3, noise=Noise(std=0.02)), joint="wheel"),
        "gnss": env.attach(
            sn.Gnss(origin=(47.4, 8.5, 400.0), position={"noise": noise}, timing=sn.Timing(rate_hz=50.0)), body="car"
        ),
        "local": env.attach(sn.Gnss(timing=sn.Timing(rate_hz=50.0)), body="car", name="local"),
        "barometer": env.attach(sn.Barometer(noise=Noise(std=3.0)), body="car"),
    }
    readings = {name: [] for name in handles}
    with McapRecorder(tmp_path / "run.mcap") as recorder:
        for _ in env.run(0.2):
            recorder.record(env)
            for name, handle in handles.items():
                readings[name] += handle.readings()
    found = read(tmp_path / "run.mcap")
    for (_, message), reading in zip(found["/encoder/joint_states"], readings["encoder"], strict=True):
        assert list(message.name) == ["wheel"]
        assert (message.position[0], message.velocity[0]) == (reading.position, reading.velocity)
        assert stamp_ns(message) == reading.time_ns
        assert message.header.frame_id == ""

    # What measures a joint sits nowhere, so it has no frame
    mounted = [t.child_frame_id for _, static in found["/tf_static"] for t in static.transforms]
    assert mounted == ["gnss", "local", "barometer"]
    for (_, message), reading in zip(found["/odometer/odometry"], readings["odometer"], strict=True):
        assert message.pose.pose.position.x == reading.distance
        assert message.twist.twist.linear.x == reading.velocity
    assert message.pose.covariance[0] == pytest.approx(4e-4)
    assert message.pose.covariance[7] == 1e6
    for (_, message), (_, vel), reading in zip(found["/gnss/fix"], found["/gnss/vel"], readings["gnss"], strict=True):
        assert np.array_equal([message.latitude, message.longitude, message.altitude], reading.geodetic)
        assert np.array_equal(xyz(vel.twist.linear), reading.velocity)
        assert (message.status.status, message.position_covariance_type) == (0, 2)
    assert np.allclose(np.reshape(message.position_covariance, (3, 3)), np.diag([4.25, 4.25, 5.0]))
    for (_, message), reading in zip(found["/local/position"], readings["local"], strict=True):
        assert np.array_equal(xyz(message.point), reading.position)
    for (_, message), reading in zip(found["/barometer/pressure"], readings["barometer"], strict=True):
        assert (message.fluid_pressure, message.variance) == (reading.pressure_Pa, 9.0)


def test_cosines_of_a_sun_sensor_come_back(tmp_path):
    env = street(seed=3, sun=sn.fields.Sun(elevation_deg=40.0))
    up = sn.Pose.from_euler_deg(pitch=-90.0)
    cell = env.attach(
        sn.SunSensor(noise=Noise(std=0.01), timing=sn.Timing(rate_hz=10.0, clock_offset_s=0.5)), body="ball", pose=up
    )
    readings = []
    with McapRecorder(tmp_path / "run.mcap") as recorder:
        for _ in env.run(0.5):
            recorder.record(env)
            readings += cell.readings()
    cosines = read(tmp_path / "run.mcap")["/sun_sensor/cosine"]
    assert [message.data for _, message in cosines] == [float(reading.cosine) for reading in readings]
    assert len(set(message.data for _, message in cosines)) == 5
    with (tmp_path / "run.mcap").open("rb") as file:
        published = [m.publish_time for _, _, m in make_reader(file).iter_messages(topics=["/sun_sensor/cosine"])]
    assert published == [reading.time_ns for reading in readings] == [k * 10**8 + 500_000_000 for k in range(1, 6)]


def test_messages_are_logged_when_they_arrived(tmp_path):
    env = street(step_s=0.05)
    imu = env.attach(sn.Imu(timing=sn.Timing(rate_hz=100.0, latency_s=0.007)), body="car")
    arrivals = []
    with McapRecorder(tmp_path / "run.mcap") as recorder:
        for _ in env.run(0.2):
            recorder.record(env)
            arrivals += imu.arrivals()
    logged = [log_ns for log_ns, _ in read(tmp_path / "run.mcap")["/imu/data_raw"]]
    assert logged == [arrival.arrival_ns for arrival in arrivals]
    assert logged == [arrival.reading.time_ns + 7_000_000 for arrival in arrivals]


def test_frames_time_and_faults(tmp_path):
    env = street()
    lost = Fault(Dropout(probability=1.0, fill="nan"), name="no sky", start_s=0.05, end_s=0.12)
    gnss = env.attach(
        sn.Gnss(origin=(0.0, 0.0, 0.0), timing=sn.Timing(rate_hz=50.0), faults=FaultSchedule(faults=(lost,))),
        body="car",
        pose=sn.Pose((0, 0, 2), (0.5, 0.5, 0.5, 0.5)),
        name="car",
    )
    poses, fixes = [], []
    with McapRecorder(tmp_path / "run.mcap") as recorder:
        for _ in env.run(0.2):
            recorder.record(env)
            poses.append(env.state.X_WB)
            fixes += [bool(r.fix) for r in gnss.readings()]
    found = read(tmp_path / "run.mcap")
    times = [message.clock.sec * 10**9 + message.clock.nanosec for _, message in found["/clock"]]
    assert times == [10_000_000 * k for k in range(1, 21)] == [log for log, _ in found["/clock"]]
    for (_, message), X_WB in zip(found["/tf"], poses, strict=True):
        assert [t.child_frame_id for t in message.transforms] == ["car", "ball"]
        for k, t in enumerate(message.transforms):
            q = t.transform.rotation
            assert np.array_equal(xyz(t.transform.translation), X_WB.position[0, k])
            assert np.array_equal([q.w, q.x, q.y, q.z], X_WB.quaternion[0, k])
            assert t.header.frame_id == "world"
    ((_, static),) = found["/tf_static"]
    (mount,) = static.transforms
    assert (mount.header.frame_id, mount.child_frame_id) == ("car", "car_sensor")
    assert np.array_equal(xyz(mount.transform.translation), (0, 0, 2))

    (_, onset), (_, end) = found["/diagnostics"]
    assert [onset.status[0].name, onset.status[0].message, end.status[0].message] == ["car: no sky", "active", "over"]
    assert {v.key: v.value for v in end.status[0].values} == {
        "world": "0",
        "start_ns": str(gnss.faults.log[0].start_ns),
        "end_ns": str(gnss.faults.log[0].end_ns),
    }
    assert [message.status.status == 0 for _, message in found["/car_sensor/fix"]] == fixes
    assert not all(fixes)
    assert any(fixes)


def test_a_recording_that_begins_late_tells_of_faults_that_are_active_and_not_of_those_before(tmp_path):
    env = street()
    dropout = Dropout(probability=0.5)
    early = [Fault(dropout, name=f"early {k}", start_s=0.01 * k, end_s=0.01 * k + 0.005) for k in range(8)]
    long = Fault(dropout, name="long", start_s=0.05, end_s=0.15)
    faults = FaultSchedule(faults=(*early, long))
    env.attach(sn.Gyroscope(timing=sn.Timing(rate_hz=1000.0), faults=faults), body="car", name="gyroscope")
    for _ in env.run(0.1):
        pass
    assert env.sensors["gyroscope"].faults.log.total == 9
    with McapRecorder(tmp_path / "late.mcap") as recorder:
        for _ in env.run(0.1):
            recorder.record(env)
    found = [(message.status[0].name, message.status[0].message) for _, message in read(recorder.path)["/diagnostics"]]
    assert found == [("gyroscope: long", "active"), ("gyroscope: long", "over")]


def test_worlds_and_sensors_of_a_kind_have_topics_and_frames_of_their_own(tmp_path):
    env = street(worlds=2, first_world=5)
    poses = [sn.Pose((0, 0, 1.2)), sn.Pose((0, 0, 2.0)), sn.Pose((1, 0, 2.0))]
    lidar = env.attach(small_lidar(), body="car", pose=poses, hide=("car",))
    with McapRecorder(tmp_path / "run.mcap") as recorder:
        for _ in env.run(0.11):
            recorder.record(env)
            if lidar.fresh:
                scan = lidar.read()
    found = read(tmp_path / "run.mcap")
    for world in range(2):
        for k in range(3):
            ((_, message),) = found[f"/world_{5 + world}/lidar_{k}/points"]
            assert np.array_equal(points_of(message)["z"], scan.points[world, k][scan.valid[world, k]][:, 2])
            assert message.header.frame_id == f"world_{5 + world}/lidar_{k}"
    (_, message) = found["/tf"][0]
    assert [t.child_frame_id for t in message.transforms] == [f"world_{w}/{b}" for w in (5, 6) for b in ("car", "ball")]


def test_rosbags_reads_every_message(tmp_path):
    env = street()
    env.attach(small_lidar(), body="car", hide=("car",))
    imu = env.attach(sn.Imu(), body="car")
    rates = []
    with McapRecorder(tmp_path / "run.mcap") as recorder:
        for _ in env.run(0.25):
            recorder.record(env)
            rates += [reading.angular_velocity for reading in imu.readings()]
    counts, read_rates = {}, []
    with AnyReader([tmp_path / "run.mcap"]) as reader:
        for connection, _, data in reader.messages():
            message = reader.deserialize(data, connection.msgtype)
            counts[connection.topic] = counts.get(connection.topic, 0) + 1
            if connection.topic == "/imu/data_raw":
                read_rates.append(xyz(message.angular_velocity))
    assert counts == {"/clock": 25, "/tf": 25, "/tf_static": 2, "/imu/data_raw": len(rates), "/lidar/points": 2}
    assert np.array_equal(read_rates, rates)


def test_what_cannot_be_recorded_is_said_in_a_line(tmp_path):
    with pytest.raises(SpecError, match=r"cannot be written: No such file"):
        McapRecorder(tmp_path / "no" / "run.mcap")
    recorder = McapRecorder(tmp_path / "run.mcap")
    with pytest.raises(SpecError, match="log_ns is -1; it must be zero or more"):
        recorder.write("/clock", clock(0), log_ns=-1)
    recorder.close()
    recorder.close()
    with pytest.raises(SpecError, match=r"'run\.mcap' is closed"):
        recorder.write("/clock", clock(1))


def test_a_full_disk_is_raised_in_the_run(tmp_path):
    with pytest.raises(RecordError, match="'/dev/full' cannot be written any more: No space left"):
        McapRecorder("/dev/full")

    # It fills up later
    recorder = McapRecorder(tmp_path / "run.mcap")
    recorder.write("/clock", clock(0))
    recorder._file._file = full_disk()
    with pytest.raises(RecordError, match=r"run\.mcap' cannot be written any more: No space left"):
        recorder.write("/clock", clock(1))
    with pytest.raises(RecordError, match="No space left"):
        recorder.close()


def full_disk():
    return Path("/dev/full").open("r+b", buffering=0)


def test_a_disk_that_is_full_for_the_thread_is_raised_in_the_run(tmp_path):
    env = street(step_s=0.1)
    env.attach(small_lidar(2000), pose=sn.Pose((0, 0, 1.8)))
    recorder = McapRecorder(tmp_path / "run.mcap")
    recorder._file._places = full_disk()
    env.step()
    recorder.record(env)
    env.step()
    for call in (lambda: recorder.record(env), recorder.flush, recorder.close):
        with pytest.raises(RecordError, match=r"run\.mcap' cannot be written any more: No space left"):
            call()


def recorded_topics(path, names):
    env = sn.Environment(sn.Scene(), sn.worlds.Static(step_s=0.01))
    for name in names:
        env.attach(sn.Gyroscope(timing=sn.Timing(rate_hz=100.0)), name=name)
    with McapRecorder(path) as recorder:
        for _ in env.run(0.02):
            recorder.record(env)
    with path.open("rb") as file:
        channels = make_reader(file).get_summary().channels.values()
    return {channel.topic for channel in channels} - {"/clock", "/tf_static"}


@pytest.mark.parametrize(
    ("name", "token"),
    [
        ("imu", "imu"),
        ("a b-c.d", "a_b_c_d"),
        ("360", "sensor_360"),
        ("-x", "sensor_x"),
        ("_hidden", "_hidden"),
        ("é", "sensor_"),
        ("a//b/", "a/b"),
        ("/rig/2nd", "rig/sensor_2nd"),
        ("\x1b[2J\n", "sensor_2J_"),
    ],
)
def test_topics_follow_the_rules_of_ros(tmp_path, name, token):
    (topic,) = recorded_topics(tmp_path / "run.mcap", [name])
    assert topic.rpartition("/")[0] == f"/{token}"
    assert re.fullmatch(r"(/[A-Za-z_][A-Za-z0-9_]*)+", topic)


@pytest.mark.parametrize("names", [("a b", "a_b"), ("a_b", "a-b"), ("x", "/x"), ("é", "ü"), ("1", "sensor_1")])
def test_two_sensors_never_share_a_topic(tmp_path, names):
    with pytest.raises(SpecError, match=r"would both be recorded as /.*; their names must differ"):
        recorded_topics(tmp_path / "run.mcap", names)


@pytest.mark.parametrize("topic", ["", "/", "imu", "/imu/", "/a//b", "/1a", "/a b", "/a\x1b", "/" + 300 * "a"])
def test_topics_of_ones_own_follow_them_too(tmp_path, topic):
    with McapRecorder(tmp_path / "run.mcap") as recorder, pytest.raises(SpecError, match="a name of ROS 2"):
        recorder.write(topic, clock(1))


@pytest.mark.parametrize("time_ns", [2**31 * 10**9, 2**63, 2**64])
def test_times_that_no_message_can_tell_are_refused(tmp_path, time_ns):
    with McapRecorder(tmp_path / "run.mcap") as recorder:
        with pytest.raises(SpecError, match=f"a time is {time_ns} ns; messages of ROS 2 have 32 bits for seconds"):
            recorder.write("/clock", clock(time_ns))
        with pytest.raises(SpecError, match="zero or more, and within 2\\^63"):
            recorder.write("/clock", clock(0), log_ns=max(time_ns, 2**63))


def test_one_topic_has_one_type(tmp_path):
    env = street()
    source = Source.of(env.attach(sn.Imu()), env.world.body_names, ())
    recorder = McapRecorder(tmp_path / "run.mcap")
    recorder.write("/clock", clock(1))
    with pytest.raises(SpecError, match="topic '/clock' has messages of rosgraph_msgs/msg/Clock"):
        recorder.write("/clock", mounts(source, 1))
    recorder.close()
    assert len(read(tmp_path / "run.mcap")["/clock"]) == 1

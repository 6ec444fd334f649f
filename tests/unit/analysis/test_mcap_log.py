"""Logs as MCAP, written here by the mcap and rosbags packages."""

import json

import numpy as np
import pytest
from mcap.writer import Writer
from rosbags.typesys import Stores, get_typestore

from sensorium.analysis import read_log
from sensorium.core.errors import SpecError

STORE = get_typestore(Stores.ROS2_HUMBLE)
TYPES = STORE.types
RATES = np.random.default_rng(1).standard_normal((40, 3))
FORCES = np.random.default_rng(2).standard_normal((40, 3))
START_NS, STEP_NS = 1_700_000_000_000_000_000, 5_000_000


def vector(values):
    return TYPES["geometry_msgs/msg/Vector3"](*(float(v) for v in values))


def header(time_ns):
    time = TYPES["builtin_interfaces/msg/Time"](time_ns // 10**9, time_ns % 10**9)
    return TYPES["std_msgs/msg/Header"](time, "imu")


def imu(k, *, stamped=True):
    return TYPES["sensor_msgs/msg/Imu"](
        header=header(START_NS + k * STEP_NS if stamped else 0),
        orientation=TYPES["geometry_msgs/msg/Quaternion"](0.0, 0.0, 0.0, 1.0),
        orientation_covariance=np.zeros(9),
        angular_velocity=vector(RATES[k]),
        angular_velocity_covariance=np.zeros(9),
        linear_acceleration=vector(FORCES[k]),
        linear_acceleration_covariance=np.zeros(9),
    )


def magnetic(k):
    return TYPES["sensor_msgs/msg/MagneticField"](header(START_NS + k * STEP_NS), vector(RATES[k] * 1e-6), np.zeros(9))


def write_ros(path, topics, *, count=40):
    """Write ROS 2 messages; topics maps names to (type, message of index). Log times jitter, as they do."""
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start(profile="ros2")
        for name, (kind, make) in topics.items():
            text = STORE.generate_msgdef(kind, ros_version=2)[0].encode()
            schema = writer.register_schema(kind, "ros2msg", text)
            channel = writer.register_channel(name, "cdr", schema)
            for k in range(count):
                data = bytes(STORE.serialize_cdr(make(k), kind))
                late = int(np.random.default_rng(k).integers(0, 1_000_000))
                writer.add_message(channel, START_NS + k * STEP_NS + late, data, START_NS + k * STEP_NS)
        writer.finish()
    return path


def write_json(path, messages, *, schema=b"{}", step_ns=STEP_NS):
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start()
        channel = writer.register_channel("/imu", "json", writer.register_schema("imu", "jsonschema", schema))
        for k, message in enumerate(messages):
            data = message if isinstance(message, bytes) else json.dumps(message).encode()
            writer.add_message(channel, START_NS + k * step_ns, data, START_NS + k * step_ns)
        writer.finish()
    return path


IMU = ("sensor_msgs/msg/Imu", imu)
FIELD = ("sensor_msgs/msg/MagneticField", magnetic)
CLOCK = ("std_msgs/msg/Header", lambda k: header(k + 1))


def test_an_imu_of_ros_2(tmp_path):
    parts = []
    file = write_ros(tmp_path / "log.mcap", {"/imu": IMU, "/clock": CLOCK})
    log = read_log(file, progress=parts.append)
    assert log.names == tuple(f"{v}.{a}" for v in ("angular_velocity", "linear_acceleration") for a in "xyz")
    assert log.units == ("rad/s",) * 3 + ("m/s^2",) * 3
    assert log.rate_hz == pytest.approx(200.0, rel=1e-9)
    np.testing.assert_array_equal(log.values, np.hstack([RATES, FORCES]))
    assert parts[0] == 0.0


def test_a_magnetometer_of_ros_2(tmp_path):
    log = read_log(write_ros(tmp_path / "log.mcap", {"/mag": FIELD}))
    assert (log.names, log.units) == (tuple(f"magnetic_field.{a}" for a in "xyz"), ("T", "T", "T"))
    np.testing.assert_array_equal(log.values, RATES * 1e-6)


def test_where_headers_have_no_time_the_log_s_own_is_used(tmp_path):
    topics = {"/imu": (IMU[0], lambda k: imu(k, stamped=False))}
    log = read_log(write_ros(tmp_path / "log.mcap", topics))
    assert log.rate_hz == pytest.approx(200.0, rel=0.01)
    assert log.rate_hz != pytest.approx(200.0, rel=1e-9)


def test_several_topics_need_a_name(tmp_path):
    other = ("std_msgs/msg/Float64", lambda k: STORE.types["std_msgs/msg/Float64"](0.0))
    file = write_ros(tmp_path / "log.mcap", {"/imu": IMU, "/mag": FIELD, "/battery": other})
    with pytest.raises(SpecError, match=r"has 2 topics with .* must be named \(--topic\); there are /imu, /mag$"):
        read_log(file)
    assert len(read_log(file, topic="/mag").names) == 3
    with pytest.raises(SpecError, match=r"topic is '/gps'; 'log.mcap' has /battery, /imu, /mag"):
        read_log(file, topic="/gps")


def test_fields_by_name(tmp_path):
    file = write_ros(tmp_path / "log.mcap", {"/imu": IMU})
    log = read_log(file, columns=["linear_acceleration.z", "angular_velocity"])
    assert log.names == ("linear_acceleration.z", *(f"angular_velocity.{a}" for a in "xyz"))
    np.testing.assert_array_equal(log.values, np.hstack([FORCES[:, 2:], RATES]))
    with pytest.raises(SpecError, match="field is 'speed'; messages of '/imu' have no such field"):
        read_log(file, columns=["speed"])
    with pytest.raises(SpecError, match="each must be named once"):
        read_log(file, columns=["angular_velocity", "angular_velocity.x"])
    with pytest.raises(SpecError, match=r"'header.frame_id' is 'imu' in message 0 of '/imu'; it must be a number"):
        read_log(file, columns=["header.frame_id"])


def test_a_type_that_only_the_file_knows(tmp_path):
    """The schema in the file is enough."""
    text = "std_msgs/Header header\nfloat64 temperature\nfloat64[3] axes\n"
    from rosbags.typesys import get_types_from_msg

    own = get_typestore(Stores.ROS2_HUMBLE)
    own.register(get_types_from_msg(text, "lab_msgs/msg/Probe"))
    kind = own.types["lab_msgs/msg/Probe"]
    with (tmp_path / "log.mcap").open("wb") as file:
        writer = Writer(file)
        writer.start(profile="ros2")
        schema = writer.register_schema("lab_msgs/msg/Probe", "ros2msg", text.encode())
        channel = writer.register_channel("/probe", "cdr", schema)
        for k in range(40):
            message = kind(header(START_NS + k * STEP_NS), float(RATES[k, 0]), np.zeros(3))
            writer.add_message(channel, k, bytes(own.serialize_cdr(message, "lab_msgs/msg/Probe")), k)
        writer.finish()
    log = read_log(tmp_path / "log.mcap", topic="/probe", columns=["temperature"])
    assert (log.names, log.units, log.rate_hz) == (("temperature",), ("",), pytest.approx(200.0))
    np.testing.assert_array_equal(log.values[:, 0], RATES[:, 0])
    with pytest.raises(SpecError, match=r"messages of '/probe' hold no reading that is known"):
        read_log(tmp_path / "log.mcap", topic="/probe")


@pytest.mark.parametrize("stamp", ["header", "timestamp", "none"])
def test_json(tmp_path, stamp):
    def message(k):
        time_ns = START_NS + 2 * k * STEP_NS
        body = {"angular_velocity": dict(zip("xyz", RATES[k].tolist(), strict=True))}
        if stamp == "header":
            body["header"] = {"stamp": {"sec": time_ns // 10**9, "nanosec": time_ns % 10**9}}
        elif stamp == "timestamp":
            body["timestamp"] = {"sec": time_ns // 10**9, "nsec": time_ns % 10**9}
        return body

    log = read_log(write_json(tmp_path / "log.mcap", [message(k) for k in range(40)]), topic="/imu")
    np.testing.assert_array_equal(log.values, RATES)
    assert log.units == ("rad/s",) * 3
    assert log.rate_hz == pytest.approx(200.0 if stamp == "none" else 100.0)


def test_messages_that_are_lost_are_a_gap(tmp_path):
    topics = {"/imu": (IMU[0], lambda k: imu(k if k < 20 else k + 3))}
    file = write_ros(tmp_path / "log.mcap", topics, count=37)
    with pytest.raises(SpecError, match=r"3 samples are missing in 1 gaps, the first of 0.02 s before message 20"):
        read_log(file)
    log = read_log(file, allow_gaps=True)
    assert (len(log.values), log.filled) == (40, 3)
    np.testing.assert_array_equal(log.values[23:], np.hstack([RATES, FORCES])[23:])


def test_a_nan_is_named_with_its_message(tmp_path):
    def message(k):
        broken = imu(k)
        return broken if k != 7 else type(broken)(**{**vars(broken), "angular_velocity": vector([0.0, np.nan, 0.0])})

    with pytest.raises(SpecError, match=r"'angular_velocity.y' is nan at message 7 of 'log.mcap'; it must be finite"):
        read_log(write_ros(tmp_path / "log.mcap", {"/imu": (IMU[0], message)}))


def test_files_that_are_broken(tmp_path):
    whole = write_ros(tmp_path / "whole.mcap", {"/imu": IMU}).read_bytes()
    for name, content in {"text": b"t,gx\n1,2\n", "empty": b"", "cut": whole[: len(whole) // 2]}.items():
        file = tmp_path / f"{name}.mcap"
        file.write_bytes(content)
        with pytest.raises(SpecError, match=f"'{name}.mcap'"):
            read_log(file)


def test_wrong_bytes_give_one_kind_of_error(tmp_path):
    whole = write_ros(tmp_path / "whole.mcap", {"/imu": IMU}).read_bytes()
    rng = np.random.default_rng(3)
    file = tmp_path / "log.mcap"
    refused = []
    for _ in range(150):
        broken = bytearray(whole)
        for _ in range(rng.integers(1, 5)):
            broken[rng.integers(len(broken))] ^= int(rng.integers(1, 256))
        file.write_bytes(broken)
        try:
            read_log(file)
        except SpecError as error:
            refused.append(str(error))
    assert len(refused) > 50
    assert not any("\n" in message for message in refused)


def test_messages_that_are_broken(tmp_path):
    good = {"angular_velocity": {"x": 0.0, "y": 1.0, "z": 2.0}}
    with pytest.raises(SpecError, match=r"message 1 of '/imu' in 'log.mcap' cannot be decoded: JSONDecodeError"):
        read_log(write_json(tmp_path / "log.mcap", [good, b"{"]), topic="/imu")
    bad = {"angular_velocity": {"x": 0.0, "y": "fast", "z": 2.0}}
    with pytest.raises(SpecError, match=r"'angular_velocity.y' is 'fast' in message 1"):
        read_log(write_json(tmp_path / "log.mcap", [good, bad]), topic="/imu")
    with pytest.raises(SpecError, match=r"'angular_velocity.x' is None in message 1"):
        read_log(write_json(tmp_path / "log.mcap", [good, {}]), topic="/imu")
    with pytest.raises(SpecError, match=r"topic '/imu' of 'log.mcap' has no messages"):
        read_log(write_json(tmp_path / "log.mcap", []), topic="/imu")


def test_encodings_that_are_not_known(tmp_path):
    with (tmp_path / "log.mcap").open("wb") as file:
        writer = Writer(file)
        writer.start()
        channel = writer.register_channel("/imu", "protobuf", writer.register_schema("Imu", "protobuf", b"x"))
        writer.add_message(channel, 0, b"abc", 0)
        writer.finish()
    with pytest.raises(SpecError, match=r"messages of '/imu' in 'log.mcap' are 'protobuf'; it must be cdr"):
        read_log(tmp_path / "log.mcap", topic="/imu")


@pytest.mark.parametrize(
    ("stamp", "says"),
    [
        ({"sec": 10**11, "nanosec": 0}, r"message 0 of '/imu' is of 100000000000000000000 ns; times must be within"),
        ({"sec": "x", "nanosec": 0}, r"header\.stamp of a message is 'x' s and 0 ns; it must be two numbers"),
    ],
)
def test_times_that_are_none_are_told(tmp_path, stamp, says):
    path = tmp_path / "log.mcap"
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start()
        channel = writer.register_channel("/imu", "json", writer.register_schema("imu", "jsonschema", b"{}"))
        for k in range(4):
            row = {"header": {"stamp": stamp}, "angular_velocity": {"x": 0.1 * k, "y": 0.0, "z": 1.0}}
            writer.add_message(channel, k, json.dumps(row).encode(), k)
        writer.finish()
    with pytest.raises(SpecError, match=says):
        read_log(path, topic="/imu")

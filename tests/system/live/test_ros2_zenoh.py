"""ROS 2 over Zenoh, as subscribers see it that come, go, freeze and die."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack

import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.live.ros2 import graph_names
from sensorium.live.ros2.graph_names import Endpoint, Qos, dds_type_name, read_attachment, topic_key
from sensorium.live.ros2.message_types import TRIGGER, trigger_hash, type_hash
from sensorium.live.ros2.trigger import REQUEST, read_reply
from sensorium.record.ros2 import cdr
from sensorium.record.ros2.message import Message, vector
from tests.system.live.ros2_runs import Counting, Running, car, eventually, free_port, live_threads, open_sockets

zenoh = pytest.importorskip("zenoh")

pytestmark = pytest.mark.slow

KINDS = {
    "/clock": "rosgraph_msgs/msg/Clock",
    "/tf": "tf2_msgs/msg/TFMessage",
    "/tf_static": "tf2_msgs/msg/TFMessage",
    "/diagnostics": "diagnostic_msgs/msg/DiagnosticArray",
    "/flat/points": "sensor_msgs/msg/PointCloud2",
    "/flat/scan": "sensor_msgs/msg/LaserScan",
    "/imu/data_raw": "sensor_msgs/msg/Imu",
    "/ray/points": "sensor_msgs/msg/PointCloud2",
    "/ray/range": "sensor_msgs/msg/Range",
    "/cmd_vel": "geometry_msgs/msg/Twist",
    "/sensorium/fault": "std_msgs/msg/String",
    "/robot_description": "std_msgs/msg/String",
}


def key_of(topic: str, name: str | None = None, domain: int = 0) -> str:
    kind = KINDS[topic]
    return topic_key(domain, name or topic, dds_type_name(kind), type_hash(kind, "jazzy"))


@pytest.fixture
def peer():
    """Opens sessions that connect to a port; all are closed at the end."""
    with ExitStack() as stack:

        def opened(port: int, mode: str = "peer", listen: bool = False):
            config = zenoh.Config()
            settings = {
                "mode": mode,
                "connect/endpoints": [] if listen else [f"tcp/127.0.0.1:{port}"],
                "listen/endpoints": [f"tcp/127.0.0.1:{port}"] if listen else [],
                "scouting/multicast/enabled": False,
            }
            for name, value in settings.items():
                config.insert_json5(name, json.dumps(value))
            return stack.enter_context(zenoh.open(config))

        yield opened


_kept = []  # subscribers, which end when they are dropped


def sink_at(port: int, mode: str = "listen", **options):
    return sn.live.open_sink("ros2", endpoint=f"tcp/127.0.0.1:{port}", mode=mode, **options)


def subscribed(session, key: str) -> list:
    """Samples as they come."""
    samples = []
    _kept.append(session.declare_subscriber(key, samples.append))
    return samples


def latched(session, key: str) -> list:
    """Samples of a latched topic, those of the past too."""
    from zenoh import ext

    samples = []
    history = ext.HistoryConfig(detect_late_publishers=True)
    _kept.append(ext.declare_advanced_subscriber(session, key, samples.append, history=history))
    return samples


@pytest.fixture(autouse=True)
def nothing_stays():
    """Threads and sockets that a test began have ended after it."""
    sockets = open_sockets()
    yield
    _kept.clear()
    eventually(lambda: not live_threads())
    eventually(lambda: open_sockets() <= sockets)


def test_subscribers_get_the_bytes_of_the_recording(peer, tmp_path):
    from sensorium.record.mcap.recorder import McapRecorder

    env, port = car(), free_port()
    clock = sn.live.RunClock(paused=True)
    with Running(env, sink_at(port), clock=clock), McapRecorder(tmp_path / "run.mcap") as recorder:
        session = peer(port)
        topics = [topic for topic in KINDS if topic.startswith(("/flat", "/imu", "/ray", "/clock", "/tf"))]
        found = {topic: (latched if topic == "/tf_static" else subscribed)(session, key_of(topic)) for topic in topics}
        time.sleep(1.0)  # until the subscriptions have reached the run
        for number in range(1, 21):
            recorded = threading.Event()
            clock.single_step()
            eventually(lambda number=number: env.time_ns == number * 20_000_000)
            clock.call(lambda recorded=recorded: (recorder.record(env), recorded.set()))
            assert recorded.wait(5.0)
        eventually(lambda: len(found["/clock"]) == 20 and len(found["/imu/data_raw"]) >= 20)
    from mcap.reader import make_reader

    with (tmp_path / "run.mcap").open("rb") as file:
        written = {}
        for _, channel, message in make_reader(file).iter_messages():
            written.setdefault(channel.topic, []).append(message.data)
    for topic in topics:
        sent = [sample.payload.to_bytes() for sample in found[topic]]
        if topic == "/ray/range":
            sent = [data[:-4] for data in sent]  # the variance that Jazzy has
        if topic == "/tf_static":
            frames = [each.child_frame_id for each in cdr.decoded(KINDS[topic], sent[-1]).transforms]
            assert frames == ["flat", "imu", "ray"]
            continue
        assert sent == written[topic], topic
        assert len(sent) >= 3
    numbers = [read_attachment(sample.attachment.to_bytes()) for sample in found["/clock"]]
    assert [number for number, _, _ in numbers] == list(range(1, 21))
    assert len({gid for _, _, gid in numbers}) == 1
    assert abs(numbers[-1][1] - time.time_ns()) < 60e9


def test_the_graph_shows_node_and_endpoints_until_the_run_ends(peer):
    port = free_port()
    options = {"domain": 3, "namespace": "robot1", "qos": {"/imu/data_raw": {"reliability": "best_effort", "depth": 5}}}
    session = None
    with Running(car(), sink_at(port, **options)):
        session = peer(port)

        def tokens() -> set[str]:
            replies = session.liveliness().get(graph_names.all_tokens(3), timeout=2.0)
            return {str(reply.ok.key_expr) for reply in replies if reply.ok is not None}

        eventually(lambda: any("%flat%scan" in token for token in tokens()))
        found = tokens()
        assert sum("/NN/%/%robot1/sensorium" in token for token in found) == 1
        endpoints = {(one.kind, one.name): one for token in found if (one := Endpoint.from_token(token)) is not None}
        assert endpoints["MP", "/robot1/imu/data_raw"].qos == Qos(reliability="best_effort", depth=5)
        assert endpoints["MP", "/tf_static"].qos == graph_names.LATCHED
        assert ("MP", "/clock") in endpoints
        assert ("MS", "/robot1/cmd_vel") in endpoints
        assert ("SS", "/robot1/sensorium/pause") in endpoints
        assert endpoints["MP", "/robot1/flat/scan"].type_name == "sensor_msgs::msg::dds_::LaserScan_"
    eventually(lambda: not list(session.liveliness().get(graph_names.all_tokens(3), timeout=1.0)))


def _mounts(samples: list) -> list:
    """Transforms of the last message, if it has all three."""
    transforms = cdr.decoded(KINDS["/tf_static"], samples[-1].payload.to_bytes()).transforms if samples else []
    return transforms if len(transforms) == 3 else []


def test_frames_get_their_prefix(peer):
    port = free_port()
    with Running(car(), sink_at(port, frame_prefix="robot1/")):
        session = peer(port)
        imu, mounts, poses = (
            subscribed(session, key_of("/imu/data_raw")),
            latched(session, key_of("/tf_static")),
            subscribed(session, key_of("/tf")),
        )
        eventually(lambda: imu and poses and _mounts(mounts))
    decoded = cdr.decoded(KINDS["/imu/data_raw"], imu[0].payload.to_bytes())
    assert decoded.header.frame_id == "robot1/imu"
    expected = {("robot1/car", f"robot1/{name}") for name in ("flat", "imu", "ray")}
    assert {(one.header.frame_id, one.child_frame_id) for one in _mounts(mounts)} == expected
    (body,) = cdr.decoded(KINDS["/tf"], poses[0].payload.to_bytes()).transforms
    assert (body.header.frame_id, body.child_frame_id) == ("world", "robot1/car")


def test_commands_move_the_car_and_services_pause_it(peer):
    env, port = car(), free_port()
    sink = sink_at(port)
    with Running(env, sink) as run:
        session = peer(port)
        clock = subscribed(session, key_of("/clock"))
        eventually(lambda: clock)
        twist = {"linear": vector((2.0, 0.0, 0.0)), "angular": vector((0.0, 0.0, 0.0))}
        session.put(key_of("/cmd_vel"), cdr.encoded(Message(KINDS["/cmd_vel"], 0, twist)))
        eventually(lambda: env.state.X_WB.position[0, 0, 0] > 0.1)
        session.put(key_of("/cmd_vel"), b"no CDR at all")

        def call(word: str) -> tuple[bool, str]:
            key = topic_key(0, f"/sensorium/{word}", dds_type_name(TRIGGER), trigger_hash("jazzy"))
            tag = graph_names.attachment(7, time.time_ns(), bytes(range(16)))
            (reply,) = list(session.get(key, payload=REQUEST, attachment=tag, timeout=5.0))
            assert read_attachment(reply.ok.attachment.to_bytes())[::2] == (7, bytes(range(16)))
            return read_reply(reply.ok.payload.to_bytes())

        assert call("pause")[0]
        time.sleep(0.2)
        at_ns = env.time_ns
        time.sleep(0.3)
        assert env.time_ns == at_ns
        assert call("step")[0]
        eventually(lambda: env.time_ns == at_ns + 20_000_000)
        assert call("reset")[0]
        eventually(lambda: env.state.X_WB.position[0, 0, 0] == 0.0)
        assert run.clock.paused
        assert call("resume")[0]
        eventually(lambda: env.time_ns > at_ns + 40_000_000)
        status = subscribed(session, key_of("/diagnostics"))
        time.sleep(0.3)
        session.put(
            key_of("/sensorium/fault"), cdr.encoded(Message("std_msgs/msg/String", 0, {"data": "imu: stuck on"}))
        )

        def said() -> set[str]:
            arrays = [cdr.decoded(KINDS["/diagnostics"], sample.payload.to_bytes()) for sample in list(status)]
            return {f"{one.name} {one.message}" for array in arrays for one in array.status}

        eventually(lambda: {"imu: stuck active", "imu active: stuck"} <= said())
        without_tag = topic_key(0, "/sensorium/pause", dds_type_name(TRIGGER), trigger_hash("jazzy"))
        (refused,) = list(session.get(without_tag, payload=REQUEST, timeout=5.0))
        assert refused.err is not None
    assert "1 of 3 commands refused" in str(sink.state())
    assert sink.state().dropped == 0


def test_receivers_may_be_killed_frozen_and_started_again():
    env, port = car(), free_port()
    sink = sink_at(port)
    with ExitStack() as stack, Running(env, sink) as run:
        eventually(lambda: env.time_ns > 0)
        first, second = (Counting(stack, "zenoh_receiver.py", port, key_of("/imu/data_raw")) for _ in range(2))
        eventually(lambda: first.count > 10 and second.count > 10)
        first.process.kill()
        at = second.count
        eventually(lambda: second.count > at + 20)
        third = Counting(stack, "zenoh_receiver.py", port, key_of("/imu/data_raw"))
        eventually(lambda: third.count > 10)

        # One that takes nothing any more
        os.kill(second.process.pid, signal.SIGSTOP)
        at = third.count
        assert not run.stands_still(3.0)
        eventually(lambda: third.count > at + 50)
        assert run.stops_within(3.0)
        os.kill(second.process.pid, signal.SIGCONT)


def big_run(port: int):
    """Clouds of two megabytes, twenty a second."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(80.0, 60.0, 20.0))
    env = sn.Environment(scene, sn.worlds.Static({"car": sn.Pose()}, step_s=0.05))
    elevation = tuple(20.0 - k * 0.5 for k in range(64))
    env.attach(sn.Lidar(pattern=sn.patterns.Spinning(elevation_deg=elevation, columns=1024, rate_hz=20.0)), name="flat")
    return env, sink_at(port)


def test_a_frozen_receiver_of_clouds_costs_clouds_and_no_time():
    port = free_port()
    env, sink = big_run(port)
    env.run(0.3).finish()  # kernels
    with ExitStack() as stack, Running(env, sink) as run:
        receiver = Counting(stack, "zenoh_receiver.py", port, key_of("/flat/points"))
        eventually(lambda: receiver.count > 5, 30.0)
        os.kill(receiver.process.pid, signal.SIGSTOP)
        assert not run.stands_still(4.0)
        assert run.stops_within(3.0)
        os.kill(receiver.process.pid, signal.SIGCONT)


def test_a_run_begins_before_its_router(peer):
    port = free_port()
    env, sink = car(), sink_at(port, mode="connect")
    with Running(env, sink):
        eventually(lambda: env.time_ns > 200_000_000)
        peer(port, mode="router", listen=True)
        clock = subscribed(peer(port, mode="client"), key_of("/clock"))
        eventually(lambda: len(clock) > 5, 30.0)


def test_auto_connects_where_a_router_is_and_listens_elsewhere(peer):
    port = free_port()
    peer(port, mode="router", listen=True)
    with Running(car(), sink_at(port, mode="auto")):
        clock = subscribed(peer(port, mode="client"), key_of("/clock"))
        eventually(lambda: len(clock) > 5)
    with Running(env := car(), sink_at(other := free_port(), mode="auto")):
        eventually(lambda: env.time_ns > 0 and _accepts(other))


def _accepts(port: int) -> bool:
    import socket

    try:
        socket.create_connection(("127.0.0.1", port), timeout=0.2).close()
    except OSError:
        return False
    return True


def test_a_taken_port_is_refused_in_one_sentence(peer):
    port = free_port()
    peer(port, listen=True)
    begin = f"endpoint is 'tcp/127.0.0.1:{port}'; Zenoh cannot listen on it"
    with pytest.raises(SpecError, match=begin):
        car().run(1.0, live=[sink_at(port)]).finish()


URDF = """<robot name="box"><link name="base"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><box size="1 1 1"/></geometry></visual></link></robot>"""


def test_late_subscribers_get_the_robots_description(peer):
    port = free_port()
    env = sn.Environment.from_mujoco(URDF)
    with Running(env, sink_at(port)):
        eventually(lambda: env.time_ns > 50_000_000)
        found = latched(peer(port), key_of("/robot_description"))
        eventually(lambda: found)
    assert cdr.decoded("std_msgs/msg/String", found[0].payload.to_bytes()).data == URDF


SCRIPT = """
import sensorium as sn, sys
env = sn.Environment(sn.Scene(), sn.worlds.Commanded({"car": sn.Pose()}, step_s=0.02))
sink = sn.live.open_sink("ros2", endpoint=f"tcp/127.0.0.1:{sys.argv[1]}", mode="listen")
print("ready", flush=True)
env.run(600.0, realtime=True, live=[sink]).finish()
"""


@pytest.mark.parametrize(("how", "code"), [(signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_a_killed_run_leaves_nothing_and_its_subscriber_goes_on(peer, how, code):
    port = free_port()
    run = subprocess.Popen([sys.executable, "-c", SCRIPT, str(port)], stdout=subprocess.PIPE, text=True)
    try:
        assert run.stdout.readline().strip() == "ready"
        eventually(lambda: _accepts(port), 30.0)
        session = peer(port)
        clock = subscribed(session, key_of("/clock"))
        eventually(lambda: len(clock) > 5)
        began_s = time.monotonic()
        run.send_signal(how)
        assert run.wait(10.0) == code
        assert time.monotonic() - began_s < 5.0
    finally:
        run.kill()
        run.wait(10.0)
        run.stdout.close()
    eventually(lambda: not _accepts(port))
    with Running(car(), sink_at(port)):  # it connects again by itself
        at = len(clock)
        eventually(lambda: len(clock) > at + 5, 30.0)

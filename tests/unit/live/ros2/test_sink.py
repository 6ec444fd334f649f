"""What goes out of a ROS 2 sink, with a middleware that only keeps it."""

import sensorium as sn
from sensorium.live.ros2.options import ZenohOptions
from sensorium.live.ros2.sink import RosSink
from sensorium.live.step import LiveStep
from sensorium.pacing import RunClock
from sensorium.record.ros2 import cdr
from sensorium.record.ros2.step_messages import StepMessages


class KeptSink(RosSink):
    """Keeps what is published, as if everything but some topics had subscribers."""

    name = "kept"

    def __init__(self, options, unwanted=()) -> None:
        super().__init__(options)
        self.published, self.unwanted = [], unwanted

    def _connect(self, commands) -> None:
        self.commands = commands

    def _wanted(self, topic, kind) -> bool:
        return topic not in self.unwanted

    def _publish(self, topic, kind, data) -> None:
        self.published.append((topic, kind, data))

    def _close(self) -> None:
        pass

    def of(self, topic: str) -> list:
        return [cdr.decoded(kind, data) for name, kind, data in self.published if name == topic]


def environment() -> sn.Environment:
    env = sn.Environment(sn.Scene(), sn.worlds.Static({"car": sn.Pose()}, step_s=0.25))
    fault = sn.corruption.Fault(sn.corruption.Stuck(mode="present"), start_s=1.0, end_s=1.6, name="stuck")
    env.attach(
        sn.Gyroscope(timing=sn.Timing(rate_hz=4.0), faults=sn.corruption.FaultSchedule(faults=[fault])), body="car"
    )
    ray = sn.patterns.Table(azimuth_deg=(0,), elevation_deg=(0,), time_s=(0,), rate_hz=4)
    env.attach(sn.Lidar(pattern=ray), body="car", name="ray")
    return env


def run(env: sn.Environment, sink: KeptSink, steps: int) -> LiveStep:
    """Take steps; returns the last."""
    maker = StepMessages()
    sink.open(env, RunClock())
    for _ in range(steps):
        env.step()
        step = LiveStep(env, maker)
        sink.send(step)
    sink.close()
    return step


def test_states_of_faults_come_once_a_second_beside_their_changes():
    env, sink = environment(), KeptSink(ZenohOptions())
    run(env, sink, 12)
    said = [(one.name, one.level, one.message) for array in sink.of("/diagnostics") for one in array.status]
    assert [each for each in said if ":" in each[0]] == [
        ("gyroscope: stuck", 2, "active"),
        ("gyroscope: stuck", 0, "over"),
    ]
    states = [each[1:] for each in said if each[0] == "gyroscope"]
    assert states == [(0, "no active fault"), (2, "active: stuck"), (0, "no active fault")]


def test_each_message_of_mounts_has_all_of_them():
    sink = KeptSink(ZenohOptions(frame_prefix="r/"))
    run(environment(), sink, 2)
    frames = [[one.child_frame_id for one in message.transforms] for message in sink.of("/tf_static")]
    assert frames == [["r/gyroscope"], ["r/gyroscope", "r/ray"]]


def test_bytes_are_those_of_the_step_unless_frames_differ():
    sink = KeptSink(ZenohOptions(distribution="humble"))
    step = run(environment(), sink, 1)
    sent = {topic: data for topic, _, data in sink.published}
    for one in step.messages:
        if one.topic != "/tf_static":
            assert sent[one.topic] is one.cdr()


def test_topics_without_subscribers_are_not_encoded():
    sink = KeptSink(ZenohOptions(), unwanted=("/ray/points", "/clock"))
    step = run(environment(), sink, 1)
    by_topic = {one.topic: one for one in step.messages}
    assert by_topic["/ray/points"]._cdr is None
    assert by_topic["/ray/range"]._cdr is not None
    assert sink.state().sent == len(sink.published)
    assert not {"/clock", "/ray/points"} & {topic for topic, _, _ in sink.published}


def test_a_sink_without_commands_takes_none():
    sink = KeptSink(ZenohOptions(commands=False))
    run(environment(), sink, 1)
    assert sink.commands is None
    assert sink.state().error is None


def test_refused_commands_show_in_its_state():
    sink = KeptSink(ZenohOptions())
    run(environment(), sink, 1)
    (control,) = [topic for topic in sink.commands.topics if topic.name == "/sensorium/control"]
    sink.commands.receive(control, b"nothing")
    assert "1 of 1 commands refused, last /sensorium/control was refused" in str(sink.state())

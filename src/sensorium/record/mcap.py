"""Recording as MCAP with ROS 2 messages, which needs no ROS."""

import warnings
from contextlib import suppress
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from sensorium.environment import Environment
from sensorium.errors import RecordError, SpecError
from sensorium.frames import Pose
from sensorium.record.background import Background
from sensorium.record.ros2 import cdr
from sensorium.record.ros2.clock import clock
from sensorium.record.ros2.diagnostics import fault_status
from sensorium.record.ros2.message import Message
from sensorium.record.ros2.readings import has_messages, messages_of
from sensorium.record.ros2.source import Source, world_prefix
from sensorium.record.ros2.transforms import mounts, transforms
from sensorium.sensors.attached import AttachedSensor
from sensorium.sensors.scan import Scan

Compression = Literal["none", "lz4", "zstd"]

# Steps that may wait for the writer: those of two or three sweeps at common rates
_WAITING_STEPS = 256

# A message closes its chunk when it is this long; a step's messages are one chunk otherwise [bytes]
_CHUNK_SIZE = 1 << 26


@dataclass
class _Step:
    """What one step gave, to be written: sensors' readings, poses of bodies and messages that are made already."""

    time_ns: int
    readings: list[tuple[Source, Any]] = field(default_factory=list)
    X_WB: Pose | None = None
    messages: list[tuple[str, Message]] = field(default_factory=list)


class McapRecorder:
    """Writes what sensors report while they do, in a file that robotics tools open.

        with sn.record.McapRecorder("run.mcap", env) as recorder:
            for _ in env.run(10.0):
                recorder.step()

    Topics begin with the sensor's name: /lidar/points (PointCloud2), /imu/data and /imu/mag (Imu, MagneticField),
    /encoder/joint_states, /odometer/odometry, /gnss/fix and /gnss/vel, /barometer/pressure, /sun_sensor/cosine; then
    /tf with the true poses of all bodies, /tf_static with the mounts of the sensors, /clock, and /diagnostics with
    onsets and ends of faults. Times are simulated; a message is logged when it arrived and carries in its header the
    time by its sensor's clock. With several worlds or sensors of a kind, topics and frames are
    /world_0/lidar_1/points and world_0/lidar_1.

    Messages are made, compressed and written on a thread; a step is on the disk before the step after next begins if
    both have a sweep. Each batch that is written is a chunk of its own and handed to the operating system at once: a
    process that is killed loses no more than the sweep under way and the steps since, and `sensorium recover` makes a
    proper file of the rest.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        env: Environment | None = None,
        *,
        compression: Compression = "none",
    ) -> None:
        """Begin a file.

        Args:
            path: File to write; one that exists is replaced.
            env: Whose sensors `step()` records; None to write messages only.
            compression: Of the chunks. Measured on sweeps of 262,144 rays: "lz4" saves a fifth and nearly doubles
                the writer's work, "zstd" saves two fifths at five times the work.
        """
        from mcap.writer import CompressionType, Writer

        kinds = {"none": CompressionType.NONE, "lz4": CompressionType.LZ4, "zstd": CompressionType.ZSTD}
        if compression not in kinds:
            raise SpecError(f"compression is {compression!r}; it must be one of {', '.join(kinds)}")
        self.path = Path(path)
        self._env = env
        try:
            self._file = self.path.open("wb")
        except OSError as error:
            raise SpecError(f"path is {str(self.path)!r}, which cannot be written: {error.strerror}") from None
        self._writer: Any = Writer(self._file, chunk_size=_CHUNK_SIZE, compression=kinds[compression])
        try:
            self._writer.start(profile="ros2", library="sensorium")
            self._file.flush()
        except OSError as error:
            raise self._failed(error) from None
        self._schemas: dict[str, int] = {}
        self._channels: dict[str, tuple[int, str]] = {}
        self._sequence: dict[str, int] = {}
        self._sources: dict[str, Source] = {}
        self._faults_seen: dict[str, tuple[int, list[int]]] = {}
        self._not_recorded: set[str] = set()
        self._background: Background[_Step] | None = Background(self._write, limit=_WAITING_STEPS)

    def step(self) -> None:
        """Record the environment's last step: readings that arrived in it, faults, poses and time."""
        env = self._env
        if env is None:
            raise SpecError("env is None; a recorder must be given an environment to record its steps")
        step = _Step(env.time_ns, messages=[("/clock", clock(env.time_ns))])
        for sensor in env.sensors.values():
            source = self._source(sensor, step)
            arrived = sensor.readings()
            if arrived and not has_messages(arrived[0]):
                self._warn(sensor.name, arrived[0])
                continue
            step.readings += [(source, reading) for reading in arrived]
            self._add_faults(sensor, step)
        if env.world.body_names:
            step.X_WB = env.state.X_WB
        self._put(step, large=any(isinstance(reading, Scan) for _, reading in step.readings))

    def write(self, topic: str, message: Message, *, log_ns: int | None = None) -> None:
        """Record one message of your own.

        Args:
            topic: Its topic; each topic has messages of one type.
            message: Such as the functions of `sensorium.record.ros2` make.
            log_ns: When it is logged [ns], not negative; None is its own time.
        """
        time_ns = message.stamp_ns if log_ns is None else log_ns
        if time_ns < 0:
            raise SpecError(f"log_ns is {time_ns}; it must be zero or more")
        self._put(_Step(time_ns, messages=[(topic, message)]), large=True)

    def flush(self) -> None:
        """Wait until all that was recorded has been handed to the operating system."""
        if self._background is not None:
            self._background.join()

    def close(self) -> None:
        """Write what waits, and the index; nothing can be recorded after."""
        if self._background is None:
            return
        background, self._background = self._background, None
        try:
            background.finish()
            self._writer.finish()
            self._file.flush()
        except OSError as error:
            raise self._failed(error) from None
        finally:
            # What could not be written before cannot be now, and has been told
            with suppress(OSError):
                self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    # --- on the thread of the run -----------------------------------------------------------------------------------

    def _put(self, step: _Step, *, large: bool) -> None:
        if self._background is None:
            raise SpecError(f"recorder of {self.path.name!r} is closed; nothing can be recorded any more")
        self._background.put(step, large=large)

    def _source(self, sensor: AttachedSensor[Any], step: _Step) -> Source:
        """Names of a sensor; when it is first seen, its mount goes to /tf_static."""
        if sensor.name not in self._sources:
            assert self._env is not None
            world = self._env.world
            source = self._sources[sensor.name] = Source.of(sensor, world.body_names, world.joint_names)
            step.messages.append(("/tf_static", mounts(source, step.time_ns)))
        return self._sources[sensor.name]

    def _add_faults(self, sensor: AttachedSensor[Any], step: _Step) -> None:
        """Faults that set in or were over since the last step."""
        log = sensor.faults.log
        seen, active = self._faults_seen.get(sensor.name, (0, []))
        if seen == len(log) and not active:
            return
        ended = [number for number in active if log[number].end_ns is not None]
        changed = [log[number] for number in ended]
        for event in log[seen:]:
            changed += (
                [event] if event.end_ns is None else [type(event)(event.fault, event.world, event.start_ns), event]
            )
        still = [n for n in (*active, *range(seen, len(log))) if log[n].end_ns is None]
        self._faults_seen[sensor.name] = len(log), still
        step.messages += [("/diagnostics", fault_status(sensor.name, event, step.time_ns)) for event in changed]

    def _warn(self, name: str, reading: Any) -> None:
        if name not in self._not_recorded:
            self._not_recorded.add(name)
            kind = type(reading).__name__
            warnings.warn(f"sensor {name!r} is not recorded: no message stands for its {kind}", stacklevel=3)

    # --- on the writer's thread -------------------------------------------------------------------------------------

    def _write(self, steps: list[_Step]) -> None:
        """Encode and write steps, then hand them to the operating system."""
        try:
            for step in steps:
                for topic, message in step.messages:
                    self._add(topic, message, step.time_ns)
                if step.X_WB is not None:
                    self._add("/tf", self._bodies(step.X_WB, step.time_ns), step.time_ns)
                for source, reading in step.readings:
                    for topic, message in messages_of(reading, source):
                        self._add(topic, message, step.time_ns)
            self._writer.flush()
        except OSError as error:
            raise self._failed(error) from None

    def _bodies(self, X_WB: Pose, time_ns: int) -> Message:
        """Poses of all bodies of all worlds."""
        assert self._env is not None
        worlds, names = X_WB.shape[0], self._env.world.body_names
        prefixes = [world_prefix(self._env, world) for world in range(worlds)]
        parents = [f"{prefix}world" for prefix in prefixes for _ in names]
        return transforms(X_WB.reshape(-1), parents, [prefix + name for prefix in prefixes for name in names], time_ns)

    def _add(self, topic: str, message: Message, log_ns: int) -> None:
        channel, kind = self._channels.get(topic) or self._register(topic, message.kind)
        if kind != message.kind:
            raise SpecError(f"topic {topic!r} has messages of {kind}; {message.kind} must have a topic of its own")
        number = self._sequence[topic] = self._sequence.get(topic, -1) + 1
        data = cdr.encoded(message)
        self._writer.add_message(
            channel, log_time=log_ns, data=data, publish_time=max(0, message.stamp_ns), sequence=number
        )

    def _register(self, topic: str, kind: str) -> tuple[int, str]:
        """Announce a topic, and its type where that is new."""
        if kind not in self._schemas:
            self._schemas[kind] = self._writer.register_schema(kind, "ros2msg", cdr.definition(kind))
        qos = _LATCHED if topic == "/tf_static" else ""
        number = self._writer.register_channel(topic, "cdr", self._schemas[kind], {"offered_qos_profiles": qos})
        self._channels[topic] = number, kind
        return number, kind

    def _failed(self, error: OSError) -> RecordError:
        return RecordError(f"{str(self.path)!r} cannot be written any more: {error.strerror}")


# Reliable and transient local, as rosbag2 writes it: who plays the file gives mounts to late listeners too
_LATCHED = """- history: 3
  depth: 0
  reliability: 1
  durability: 1
  deadline: {sec: 9223372036, nsec: 854775807}
  lifespan: {sec: 9223372036, nsec: 854775807}
  liveliness: 1
  liveliness_lease_duration: {sec: 9223372036, nsec: 854775807}
  avoid_ros_namespace_conventions: false
"""

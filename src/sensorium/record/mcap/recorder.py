"""Recording as MCAP with ROS 2 messages, which needs no ROS."""

from contextlib import suppress
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sensorium.core.clock import MAX_NS
from sensorium.core.errors import RecordError, SpecError
from sensorium.environment import Environment
from sensorium.files.mcap_messages import JOINT_KINDS, LABELS, SLIDES
from sensorium.record.background import Background
from sensorium.record.mcap.file import McapFile, Place
from sensorium.record.recorder import Recorder
from sensorium.record.ros2 import cdr
from sensorium.record.ros2.message import DeferredBytes, Message, check_topic
from sensorium.record.ros2.step_messages import StepMessage, StepMessages
from sensorium.runtime.interrupts import Uninterrupted
from sensorium.worlds.base import slides_of

# A message with more bytes than this is long: it gets a chunk of its own, and a sensor's is written by the thread
_LONG_BYTES = 1 << 16


class McapRecorder(Recorder):
    """Writes readings as they arrive, in a file that robotics tools open.

    Topics begin with the sensor's name: /lidar/points (PointCloud2; a lidar of one ray has /lidar/range too, one that
    keeps its samples /lidar/waveforms), /imu/data_raw and /imu/mag (Imu, MagneticField), /encoder/joint_states,
    /odometer/odometry, /gnss/fix and /gnss/vel, /barometer/pressure, /sun_sensor/cosine, /cone/range, /radar/detections
    and /radar/range_doppler (PointCloud2 and Image), /camera/image_raw and /camera/camera_info, /depth_camera/depth and
    the other outputs of a depth camera; then /tf with the true poses of all bodies, /tf_static with the mounts of the
    sensors, /clock, and /diagnostics with onsets and ends of faults. Times are simulated; a message is logged at its
    arrival and has in its header the time by its sensor's clock. With several worlds or sensors of a kind, topics and
    frames are /world_0/lidar_1/points and world_0/lidar_1. Names of label numbers are metadata, under the name of
    `LABELS`: {"1": "ground", ...}; so are sliding joints, under `JOINT_KINDS`: {"lift": "slide"}.

    The bytes of the file depend only on the recorded data. Short messages are encoded and handed to the operating
    system before `record` returns. Long point clouds get their places in the file, where a thread packs and writes them
    while the run goes on; `record` waits only for the clouds of an earlier step that are still being written. So a
    process that is killed at any moment loses at most the clouds of one step, and nothing recorded before or after
    them; `sensorium recover` makes a valid file of the rest. Readings must not be changed once they are recorded.

    >>> env = sn.Environment(sn.Scene(), sn.worlds.Static(step_s=0.01))
    >>> gyroscope = env.attach(sn.Gyroscope(timing=sn.Timing(rate_hz=100.0)))
    >>> with sn.record.McapRecorder("run.mcap") as recorder:
    ...     for _ in env.run(duration_s=1.0):
    ...         recorder.record(env)
    >>> recorder.path.stat().st_size > 20_000
    True
    """

    def __init__(self, path: str | PathLike[str], *, clouds_every: int = 1) -> None:
        """Begin a file; one that exists is replaced.

        Args:
            path: The file.
            clouds_every: Record the first scan of a lidar and then every n-th: a cloud of 262,144 points has 7 MB,
                or 10 with points in the world.
        """
        if clouds_every < 1:
            raise SpecError(f"clouds_every is {clouds_every}; it must be at least 1")
        self.path = Path(path)
        self._step_messages = StepMessages(clouds_every=clouds_every)
        self._names_labels = False
        try:
            self._file = McapFile(self.path, profile="ros2", library="sensorium")
        except OSError as error:
            if self.path.exists():
                raise self._failed(error) from None
            raise SpecError(f"path is {str(self.path)!r}, which cannot be written: {error.strerror}") from None
        self._schemas: dict[str, int] = {}
        self._channels: dict[str, tuple[int, str]] = {}
        self._buffer = np.zeros(0, np.uint8)
        self._background: Background[list[tuple[Place, DeferredBytes]]] | None = Background(self._fill)

    def record(self, env: Environment) -> None:
        """Record the last step of an environment: readings that arrived in it, faults, poses and time.

        Ctrl-C waits for its end.
        """
        with Uninterrupted():
            self._record(env)

    def _record(self, env: Environment) -> None:
        background = self._open()
        self._name_labels_and_slides(env)
        messages = self._step_messages.of(env)

        # Short messages first, then the places of long ones; no place before the previous one is filled
        is_long = [cdr.long_bytes(one.message) > _LONG_BYTES for one in messages]
        if any(is_long):
            background.join()
        try:
            for one, long in zip(messages, is_long, strict=True):
                if not long:
                    self._add(one)
            places = [self._place(one) for one, long in zip(messages, is_long, strict=True) if long]
            self._file.flush()
        except OSError as error:
            raise self._failed(error) from None
        if places:
            background.put(places)

    def write(self, topic: str, message: Message, *, log_ns: int | None = None) -> None:
        """Record one message of your own; it is with the operating system when this returns.

        Args:
            topic: Its topic; each topic has messages of one type.
            message: Such as the functions of `sensorium.record.ros2` make.
            log_ns: When it is logged [ns], not negative; None is its own time.
        """
        background = self._open()
        time_ns = message.stamp_ns if log_ns is None else log_ns
        if not 0 <= time_ns <= MAX_NS:
            raise SpecError(f"log_ns is {time_ns}; it must be zero or more, and within 2^63")
        with Uninterrupted():
            self._write(background, StepMessage(topic, message, time_ns))

    def _write(self, background: Background[list[tuple[Place, DeferredBytes]]], one: StepMessage) -> None:
        try:
            if cdr.long_bytes(one.message) > _LONG_BYTES:
                background.join()
                place, data = self._place(one)
                self._file.flush()
                place.fill(data.materialize())
            else:
                self._add(one)
                self._file.flush()
        except OSError as error:
            raise self._failed(error) from None

    def flush(self) -> None:
        """Wait until all that was recorded has been handed to the operating system."""
        self._open().join()

    def close(self) -> None:
        """Write pending data and the index; nothing can be recorded after. Ctrl-C waits for its end."""
        with Uninterrupted():
            self._close()

    def _close(self) -> None:
        if self._background is None:
            return
        background, self._background = self._background, None
        try:
            background.finish()
            self._file.finish()
        except OSError as error:
            raise self._failed(error) from None
        finally:
            # A file that could not be written before cannot be written now; the error was raised already
            with suppress(OSError):
                self._file.close()

    # --- on the thread of the run -----------------------------------------------------------------------------------

    def _open(self) -> Background[list[tuple[Place, DeferredBytes]]]:
        """The thread, if it has had no error yet."""
        if self._background is None:
            raise SpecError(f"recorder of {self.path.name!r} is closed; nothing can be recorded any more")
        self._background.raise_error()
        return self._background

    def _name_labels_and_slides(self, env: Environment) -> None:
        """Write the names of labels and the sliding joints once; an environment keeps both."""
        if not self._names_labels:
            self._names_labels = True
            self._file.metadata(LABELS, {str(number): name for name, number in env.scene.labels.items()})
            if slides := slides_of(env.world):
                self._file.metadata(JOINT_KINDS, dict.fromkeys(slides, SLIDES))

    def _add(self, one: StepMessage) -> None:
        """Put a short message into the open chunk."""
        channel = self._channel(one.topic, one.message.kind)
        self._file.message(channel, one.cdr(), log_ns=one.log_ns, publish_ns=max(0, one.message.stamp_ns))

    def _place(self, one: StepMessage) -> tuple[Place, DeferredBytes]:
        """Keep a place for a long message; returns it with the bytes that belong there."""
        channel = self._channel(one.topic, one.message.kind)
        head, data, tail = cdr.parts(one.message)
        parts, publish_ns = (head, data.length, tail), max(0, one.message.stamp_ns)
        return self._file.place(channel, parts, log_ns=one.log_ns, publish_ns=publish_ns), data

    def _channel(self, topic: str, kind: str) -> int:
        """Number of a topic, announced when it is new, and its type where that is."""
        if topic not in self._channels:
            check_topic(topic)
            if kind not in self._schemas:
                self._schemas[kind] = self._file.schema(kind, "ros2msg", cdr.definition(kind))
            metadata = {"offered_qos_profiles": _LATCHED if topic == "/tf_static" else ""}
            self._channels[topic] = self._file.channel(topic, "cdr", self._schemas[kind], metadata), kind
        channel, known = self._channels[topic]
        if kind != known:
            raise SpecError(f"topic {topic!r} has messages of {known}; {kind} must have a topic of its own")
        return channel

    def _failed(self, error: OSError) -> RecordError:
        return RecordError(f"{str(self.path)!r} cannot be written any more: {error.strerror}")

    # --- on the writer's thread -------------------------------------------------------------------------------------

    def _fill(self, places: list[tuple[Place, DeferredBytes]]) -> None:
        """Make the bytes of long messages, in one buffer for all, and write each to its place."""
        try:
            for place, data in places:
                if self._buffer.size < data.length:
                    self._buffer = np.zeros(data.length, np.uint8)
                out: NDArray[np.uint8] = self._buffer[: data.length]
                data.write_to(out)
                place.fill(out)
        except OSError as error:
            raise self._failed(error) from None


# Reliable and transient local, as rosbag2 writes it, so that late subscribers to a replay get the mounts too
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

"""CDR by its definition (OMG DDS-RTPS, plain little-endian), read without any library that knows ROS."""

import struct

import pytest

import sensorium as sn
from sensorium.record.ros2 import cdr
from sensorium.record.ros2.message import Source


class CdrReader:
    """Reads values one after the other.

    After a header of four bytes each number begins at a multiple of its own size, counted from there; text has its
    length with the closing zero before it, and a sequence the number of its items.
    """

    def __init__(self, data: bytes) -> None:
        assert data[:4] == b"\x00\x01\x00\x00", "it is not plain little-endian CDR"
        self._data, self._at = data[4:], 0

    def take(self, *codes: str) -> list:
        """Numbers by the letters of `struct`."""
        values = []
        for code in codes:
            size = struct.calcsize(code)
            padding = -self._at % size
            assert not any(self._data[self._at : self._at + padding])
            self._at += padding
            values += struct.unpack_from(f"<{code}", self._data, self._at)
            self._at += size
        return values

    def text(self) -> str:
        """A string."""
        (length,) = self.take("I")
        raw = self._data[self._at : self._at + length]
        assert raw[-1:] == b"\x00"
        self._at += length
        return raw[:-1].decode("utf-8")

    def numbers(self, code: str) -> list:
        """A sequence of numbers."""
        (count,) = self.take("I")
        return self.take(*[code] * count)

    def header(self) -> tuple[int, str]:
        """std_msgs/Header: time [ns] and frame."""
        seconds, nanoseconds = self.take("i", "I")
        return seconds * 10**9 + nanoseconds, self.text()

    def bytes_left(self) -> int:
        """How many were not read."""
        return len(self._data) - self._at


@pytest.fixture
def decoded():
    """Gives a reader of a message's bytes."""
    return lambda message: CdrReader(cdr.encoded(message))


@pytest.fixture
def attached():
    """Attaches a sensor in a world with a body and a joint; gives the sensor, and its names for messages."""

    def attach(spec, *, worlds=None, **options):
        world = sn.worlds.Kinematic({"car": sn.paths.Fixed(sn.Pose())}, {"elbow": sn.paths.JointLine(1.0)}, step_s=0.01)
        env = sn.Environment(sn.Scene(), world, worlds=worlds)
        sensor = env.attach(spec, **options)
        return sensor, Source.of(sensor, env.world.body_names, env.world.joint_names)

    return attach

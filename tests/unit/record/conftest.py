"""Scans to write, made of random numbers; messages as two independent readers give them."""

from pathlib import Path

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from rosbags.highlevel import AnyReader

import sensorium as sn
from sensorium.sensors.lidar.scan import Light


def _random_scan(seed=0, *, shape=(2, 8, 50), frame="sensor", light=True, far_m=0.0, **changes) -> sn.Scan:
    """Two returns of 8 channels by 50 columns, about six in ten of them there."""
    rng = np.random.default_rng(seed)
    valid = rng.random(shape) < 0.6
    kind = np.float32 if frame == "sensor" else np.float64

    def integers(low, high, dtype):
        return np.where(valid, rng.integers(low, high, shape), 0 if low >= 0 else -1).astype(dtype)

    shine = None
    if light:
        intensity = np.where(valid, rng.random(shape), 0.0).astype(np.float32)
        cause = np.where(valid, rng.integers(1, 7, shape), 0).astype(np.uint8)
        shine = Light(intensity, cause, integers(0, 4, np.uint8), integers(-1, 9, np.int32), None)
    fields = {
        "range_m": np.where(valid, rng.random(shape) * 100.0, 0.0).astype(np.float32),
        "points": np.where(valid[..., None], rng.normal(far_m, 50.0, (*shape, 3)), 0.0).astype(kind),
        "object_id": np.where(valid, 3, -1).astype(np.int32),
        "face_id": integers(-1, 99, np.int32),
        "label": integers(-1, 1 << 30, np.int32),
        "offset_ns": rng.integers(0, 10**8, shape[-2:]),
        "start_ns": 3_000_000_001,
        "end_ns": 3_100_000_001,
        "frame": frame,
        "knot_ns": np.array([3_000_000_001, 3_100_000_001]),
        "X_WS": sn.Pose(rng.random((2, 1, 1, 3)), rng.normal(size=(2, 1, 1, 4))),
        "clock_skew": 1e-5,
        "light": shine,
    }
    return sn.Scan(**{**fields, **changes})


@pytest.fixture
def random_scan():
    """Makes scans."""
    return _random_scan


def _read_back(path: Path, topic: str) -> tuple[list, list]:
    """The messages of a topic by mcap-ros2-support and by rosbags."""
    with path.open("rb") as file:
        reader = make_reader(file, validate_crcs=True, decoder_factories=[DecoderFactory()])
        first = [decoded.decoded_message for decoded in reader.iter_decoded_messages(topics=[topic])]
    with AnyReader([path]) as bags:
        connections = [c for c in bags.connections if c.topic == topic]
        second = [bags.deserialize(data, c.msgtype) for c, _, data in bags.messages(connections)]
    assert len(first) == len(second)
    return first, second


@pytest.fixture
def read_back():
    """Reads the messages of a topic."""
    return _read_back

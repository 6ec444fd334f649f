"""Pictures as messages: every encoding comes back pixel for pixel."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.record.ros2.message import image, range_image

TYPES = {"mono8": np.uint8, "rgb8": np.uint8, "mono16": np.uint16, "16UC1": np.uint16, "32FC1": np.float32}


# The larger ones are long messages, at places of their own in the file
@pytest.mark.parametrize("size", [(7, 5), (300, 421)])
@pytest.mark.parametrize("encoding", TYPES)
def test_pixels_come_back(tmp_path, read_back, encoding, size):
    rng = np.random.default_rng(3)
    shape = (*size, 3) if encoding == "rgb8" else size
    pictures = [(rng.random(shape) * 250).astype(TYPES[encoding]) for _ in range(3)]
    with sn.record.McapRecorder(tmp_path / "run.mcap") as recorder:
        for k, pixels in enumerate(pictures):
            recorder.write("/eye/image", image(pixels, encoding, stamp_ns=k, frame_id="eye"))
    for messages in read_back(tmp_path / "run.mcap", "/eye/image"):
        assert len(messages) == 3
        for k, (message, pixels) in enumerate(zip(messages, pictures, strict=True)):
            assert (message.height, message.width, message.encoding) == (*size, encoding)
            assert message.step * message.height == len(message.data)
            assert (message.header.frame_id, message.header.stamp.nanosec) == ("eye", k)
            back = np.frombuffer(bytes(message.data), TYPES[encoding]).reshape(shape)
            assert np.array_equal(back, pixels)


def test_pixels_need_not_be_contiguous(tmp_path, read_back):
    pixels = np.arange(40, dtype=np.uint16).reshape(5, 8)[::-1, ::2]
    with sn.record.McapRecorder(tmp_path / "run.mcap") as recorder:
        recorder.write("/eye", image(pixels, "mono16", stamp_ns=1, frame_id="eye"))
    for (message,) in read_back(tmp_path / "run.mcap", "/eye"):
        assert np.array_equal(np.frombuffer(bytes(message.data), np.uint16).reshape(5, 4), pixels)


def test_a_scan_as_a_picture_of_ranges(tmp_path, read_back, random_scan):
    scan = random_scan(shape=(2, 8, 50))
    with sn.record.McapRecorder(tmp_path / "run.mcap") as recorder:
        recorder.write("/lidar/range_image", range_image(scan, frame_id="lidar"))
    for (message,) in read_back(tmp_path / "run.mcap", "/lidar/range_image"):
        ranges = np.frombuffer(bytes(message.data), np.float32).reshape(8, 50)
        assert np.array_equal(np.isnan(ranges), ~scan.valid[0])
        assert np.array_equal(ranges[scan.valid[0]], scan.range_m[0][scan.valid[0]])
        stamp = message.header.stamp
        assert stamp.sec * 10**9 + stamp.nanosec == scan.start_ns + round(scan.start_ns * scan.clock_skew)


def test_what_is_no_picture_is_refused(random_scan):
    with pytest.raises(SpecError, match="encoding is 'bgr8'; it must be one of mono8, rgb8"):
        image(np.zeros((2, 2), np.uint8), "bgr8", stamp_ns=0, frame_id="eye")
    with pytest.raises(SpecError, match=r"type float64; 32FC1 must be \(height, width\) of float32"):
        image(np.zeros((2, 2)), "32FC1", stamp_ns=0, frame_id="eye")
    with pytest.raises(SpecError, match=r"shape \(2, 2\) .* rgb8 must be \(height, width, 3\) of uint8"):
        image(np.zeros((2, 2), np.uint8), "rgb8", stamp_ns=0, frame_id="eye")
    with pytest.raises(SpecError, match="a picture must be of one organized scan"):
        range_image(random_scan().flat(), frame_id="lidar")

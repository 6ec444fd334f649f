"""How a camera projects, as a message."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.record.ros2.camera_info import camera_info


def test_a_pinhole_comes_back(tmp_path, read_back):
    distortion = (-0.3, 0.1, 1e-3, -2e-3, 0.02)
    info = camera_info((640, 480), (500.0, 510.0), (319.5, 239.0), distortion, stamp_ns=3 * 10**9 + 7, frame_id="eye")
    with sn.record.McapRecorder(tmp_path / "run.mcap") as recorder:
        recorder.write("/eye/camera_info", info)
    for (message,) in read_back(tmp_path / "run.mcap", "/eye/camera_info"):
        assert (message.width, message.height, message.distortion_model) == (640, 480, "plumb_bob")
        assert tuple(message.d) == distortion
        K, P = np.reshape(message.k, (3, 3)), np.reshape(message.p, (3, 4))
        # A point 2 m ahead, 0.4 m to the right and 0.2 m down
        u, v, w = K @ (0.4, 0.2, 2.0)
        assert (u / w, v / w) == pytest.approx((319.5 + 100.0, 239.0 + 51.0))
        assert np.array_equal(P[:, :3], K)
        assert not P[:, 3].any()
        assert np.array_equal(np.reshape(message.r, (3, 3)), np.eye(3))
        assert (message.header.stamp.sec, message.header.stamp.nanosec, message.header.frame_id) == (3, 7, "eye")


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"size": (0, 480)}, r"size is \(0, 480\)"),
        ({"focal_px": (500.0, -1.0)}, r"focal_px is \(500.0, -1.0\); both must be positive"),
        ({"distortion": (0.1, 0.2)}, "plumb_bob takes 5 finite numbers"),
        ({"distortion": (0.1, 0.2, 0.0, 0.0, float("nan"))}, "plumb_bob takes 5 finite numbers"),
    ],
)
def test_what_no_camera_has_is_refused(changes, match):
    good = {"size": (640, 480), "focal_px": (500.0, 500.0), "center_px": (320.0, 240.0)}
    with pytest.raises(SpecError, match=match):
        camera_info(**{**good, **changes}, stamp_ns=0, frame_id="eye")

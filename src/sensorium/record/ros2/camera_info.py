"""sensor_msgs/CameraInfo: how a camera projects."""

from collections.abc import Sequence

import numpy as np

from sensorium.core.errors import SpecError
from sensorium.record.ros2.message import Message, header

# Coefficients of ROS' models: k1, k2, t1, t2, k3 of Brown and Conrady, k1 to k4 of Kannala and Brandt
_COEFFICIENTS = {"plumb_bob": 5, "equidistant": 4}


def camera_info(
    size: tuple[int, int],
    focal_px: tuple[float, float],
    center_px: tuple[float, float],
    distortion: Sequence[float] = (0.0, 0.0, 0.0, 0.0, 0.0),
    *,
    model: str = "plumb_bob",
    stamp_ns: int,
    frame_id: str,
) -> Message:
    """A camera with the distortion `plumb_bob` or `equidistant`; the picture is not rectified, the camera is alone.

    Args:
        size: Width and height of the picture [px].
        focal_px: fx and fy [px].
        center_px: cx and cy, the principal point [px]; the middle of the first pixel is 0, 0.
        distortion: k1, k2, t1, t2, k3 of plumb_bob, or k1, k2, k3, k4 of equidistant [1].
        model: plumb_bob, or equidistant for a fisheye.
        stamp_ns: That of the picture [ns].
        frame_id: Frame of the camera: z forward, x right, y down.
    """
    width, height = size
    if width < 1 or height < 1:
        raise SpecError(f"size is {size}; width and height must be at least 1")
    numbers = np.array([*focal_px, *center_px, *distortion], np.float64)
    if model not in _COEFFICIENTS:
        raise SpecError(f"model is {model!r}; it must be one of {', '.join(_COEFFICIENTS)}")
    if len(distortion) != _COEFFICIENTS[model] or not np.isfinite(numbers).all():
        raise SpecError(f"distortion is {tuple(distortion)}; {model} takes {_COEFFICIENTS[model]} finite numbers")
    fx, fy, cx, cy = numbers[:4]
    if not (fx > 0.0 and fy > 0.0):
        raise SpecError(f"focal_px is {focal_px}; both must be positive")
    nothing = {"x_offset": 0, "y_offset": 0, "height": 0, "width": 0, "do_rectify": False}
    fields = {
        "header": header(stamp_ns, frame_id),
        "height": height,
        "width": width,
        "distortion_model": model,
        "d": numbers[4:],
        "k": np.array([fx, 0.0, cx, 0.0, fy, cy, 0.0, 0.0, 1.0]),
        "r": np.eye(3).ravel(),
        "p": np.array([fx, 0.0, cx, 0.0, 0.0, fy, cy, 0.0, 0.0, 0.0, 1.0, 0.0]),
        "binning_x": 0,
        "binning_y": 0,
        "roi": nothing,
    }
    return Message("sensor_msgs/msg/CameraInfo", stamp_ns, fields)

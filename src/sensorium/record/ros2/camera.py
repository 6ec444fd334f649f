"""sensor_msgs/Image and sensor_msgs/CameraInfo of a camera."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import RecordError
from sensorium.physics.imaging.white_balance import GrayWorld
from sensorium.record.ros2.camera_info import camera_info
from sensorium.record.ros2.message import Message, Source, image
from sensorium.sensors.camera.camera import Camera
from sensorium.sensors.camera.image import CameraImage

OPTICAL = "_optical"
"""Ending of the frame that images are in: z forward, x right, y down (REP 103)."""


def camera(reading: CameraImage, source: Source) -> list[tuple[int, str, Message]]:
    """The image and how the camera projects, for each world and sensor.

    One band and three are one picture, image_raw; other numbers are a picture each, image_NAME. Pixels of more than 8
    bits are 16 bits wide, with the camera's own codes in them. Of cameras with automatics exposure_s [s], gain and
    white_balance_NAME are std_msgs/Float64 beside them.
    """
    spec = source.spec
    if not isinstance(spec, Camera):
        raise RecordError(f"sensor {source.name!r} is a {type(spec).__name__}; images must come from a camera")
    is_mosaic = spec.mosaic is not None and not spec.demosaic
    bands = 1 if is_mosaic else len(spec.bands)
    pixels = source.rows(reading.image, tail=2 if bands == 1 else 3)
    stamp_ns = reading.time_ns
    messages: list[tuple[int, str, Message]] = []
    for row, frame in enumerate(source.frames):
        frame_id = frame + OPTICAL
        for end, picture in _pictures(pixels[row], reading.bands):
            encoding = _encoding(picture, spec.mosaic if is_mosaic else None)
            messages.append((row, end, image(picture, encoding, stamp_ns=stamp_ns, frame_id=frame_id)))
        messages.append((row, "camera_info", _info(spec, stamp_ns, frame_id)))
        messages += [
            (row, end, Message("std_msgs/msg/Float64", stamp_ns, {"data": float(values[row])}))
            for end, values in _automatics(spec, reading, source).items()
        ]
    return messages


def _automatics(spec: Camera, reading: CameraImage, source: Source) -> dict[str, NDArray[np.float64]]:
    """Values that change from image to image automatically, with the end of their topic."""
    found = {}
    if spec.auto_exposure is not None:
        found = {"exposure_s": source.rows(reading.exposure_s), "gain": source.rows(reading.gain)}
    if isinstance(spec.white_balance, GrayWorld):
        balance = source.rows(reading.balance, tail=1)
        found |= {f"white_balance_{name}": balance[:, number] for number, name in enumerate(reading.bands)}
    return found


def _pictures(pixels: NDArray[Any], bands: tuple[str, ...]) -> list[tuple[str, NDArray[Any]]]:
    """Pixels of one picture, with the end of its topic."""
    if pixels.ndim == 2 or pixels.shape[2] == 3:
        return [("image_raw", pixels)]
    return [(f"image_{name}", np.ascontiguousarray(pixels[..., number])) for number, name in enumerate(bands)]


def _encoding(picture: NDArray[Any], mosaic: str | None) -> str:
    """Name of the pixels' form."""
    bits = 8 * picture.dtype.itemsize
    if mosaic is not None:
        return f"bayer_{mosaic}{bits}"
    return f"{'rgb' if picture.ndim == 3 else 'mono'}{bits}"


def _info(spec: Camera, stamp_ns: int, frame_id: str) -> Message:
    """Projection of the camera; Seidel's distortion E is Brown's k1 = -E d^3 in tangents of the angle."""
    pattern = spec.projection()
    model = "plumb_bob"
    coefficients: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0, 0.0)
    if spec.lens == "seidel":
        coefficients = (-spec.distortion * spec.pupil_distance_m**3, 0.0, 0.0, 0.0, 0.0)
    elif spec.lens == "brown" and spec.lens_coefficients:
        coefficients = tuple(spec.lens_coefficients)
    elif spec.lens == "fisheye":
        model, coefficients = "equidistant", tuple(spec.lens_coefficients) or (0.0, 0.0, 0.0, 0.0)
    size = (spec.columns, spec.rows)
    return camera_info(
        size, pattern.focal_px, pattern.center, coefficients, model=model, stamp_ns=stamp_ns, frame_id=frame_id
    )

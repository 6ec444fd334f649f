"""sensor_msgs/Image, CameraInfo and PointCloud2 of a depth camera."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import RecordError
from sensorium.patterns import Fisheye, Pinhole
from sensorium.record.ros2.camera import OPTICAL
from sensorium.record.ros2.camera_info import camera_info
from sensorium.record.ros2.message import DeferredBytes, Message, Source, image
from sensorium.record.ros2.point_cloud import cloud_message
from sensorium.record.ros2.run_topics import true_pose
from sensorium.sensors.depth_camera.depth_camera import DepthCamera
from sensorium.sensors.depth_camera.image import DepthImage

# Outputs that are images as they are
_ENCODINGS = {
    **{"object_id": "32SC1", "face_id": "32SC1", "normals": "32FC3", "flow": "32FC2", "scene_flow": "32FC3"},
    "color": "rgb8",
}


def depth_camera(reading: DepthImage, source: Source) -> list[tuple[int, str, Message]]:
    """An image for each output, the points as a cloud, and how the camera projects, for each world and sensor.

    Depth and range are 32FC1 in meters: NaN if not measured, minus infinity if too near, infinity if too far (REP 118).
    Labels are 16SC1, or 32SC1 if the scene has larger ones. Normals and scene flow in the sensor frame are in the frame
    of the sensor, x forward, as the points are; images are in its optical frame. A camera with a random placement also
    has a message with its pose in the world.
    """
    spec = source.spec
    if not isinstance(spec, DepthCamera):
        raise RecordError(
            f"sensor {source.name!r} is a {type(spec).__name__}; these images must come from a DepthCamera"
        )
    stamp_ns = reading.time_ns
    messages: list[tuple[int, str, Message]] = []
    arrays = {name: source.rows(array, tail=_tail(name)) for name, array in reading.images.items()}
    lenses = source.rows(np.concatenate([reading.focal_px, reading.center_px], axis=-1), tail=1)
    drawn = None if spec.randomize is None else spec.randomize.projections
    patterns = [(drawn or (spec.pattern,))[which] for which in reading.projection.ravel().tolist()]
    for row, frame in enumerate(source.frames):
        optical = frame + OPTICAL
        for name, array in arrays.items():
            pixels = array[row]
            if name == "points":
                label = arrays["segmentation"][row] if "segmentation" in arrays else None
                at = source.roots[row] if reading.frame == "world" else frame
                messages.append((row, "points", _cloud(pixels, label, stamp_ns, at)))
            elif name in ("depth", "range"):
                meters = reading.in_meters(pixels)
                messages.append((row, name, image(meters, "32FC1", stamp_ns=stamp_ns, frame_id=optical)))
            elif name == "segmentation":
                messages.append((row, name, _labels(pixels, source, stamp_ns, optical)))
            else:
                messages.append((row, name, image(pixels, _ENCODINGS[name], stamp_ns=stamp_ns, frame_id=optical)))
        messages.append((row, "camera_info", _info(patterns[row], lenses[row], stamp_ns, optical)))
        if spec.randomize is not None and spec.randomize.placement is not None:
            messages.append((row, "pose", true_pose(reading.X_WS, row, source, stamp_ns)))
    return messages


def _tail(name: str) -> int:
    """Number of axes of an output of one camera."""
    return 2 if name in ("depth", "range", "segmentation", "object_id", "face_id") else 3


def _labels(pixels: NDArray[np.int32], source: Source, stamp_ns: int, frame_id: str) -> Message:
    """Labels as small as the scene allows, the same in every image."""
    labels = source.rig.tracer.labels
    largest = max(labels.object_label.max(initial=0), labels.face_label.max(initial=0))
    if largest < 2**15:
        return image(pixels.astype(np.int16), "16SC1", stamp_ns=stamp_ns, frame_id=frame_id)
    return image(pixels, "32SC1", stamp_ns=stamp_ns, frame_id=frame_id)


def _cloud(points: NDArray[Any], label: NDArray[np.int32] | None, stamp_ns: int, frame_id: str) -> Message:
    """Points that were measured, row by row, with their labels where those are known; packed when they are written."""
    kind = np.dtype(
        [*((axis, points.dtype.newbyteorder("<")) for axis in "xyz"), *([] if label is None else [("label", "<i4")])]
    )
    kept = (points != 0.0).any(axis=-1)
    count = int(np.count_nonzero(kept))
    data = DeferredBytes(count * kind.itemsize, partial(_pack, points, label, kept, kind))
    return cloud_message(kind, count, data, stamp_ns, frame_id)


def _pack(
    points: NDArray[Any],
    label: NDArray[np.int32] | None,
    kept: NDArray[np.bool_],
    kind: np.dtype[np.void],
    out: NDArray[np.uint8],
) -> None:
    records = out.view(kind)
    for number, axis in enumerate("xyz"):
        records[axis] = points[..., number][kept]
    if label is not None:
        records["label"] = label[kept]


def _info(pattern: Pinhole | Fisheye, lens: NDArray[np.float64], stamp_ns: int, frame_id: str) -> Message:
    """Projection of the camera; focal length and principal point may be random, and are those of the image."""
    model = "equidistant" if pattern.kind == "fisheye" else "plumb_bob"
    fx, fy, cx, cy = (float(number) for number in lens)
    return camera_info(
        (pattern.width, pattern.height),
        (fx, fy),
        (cx, cy),
        pattern.distortion,
        model=model,
        stamp_ns=stamp_ns,
        frame_id=frame_id,
    )

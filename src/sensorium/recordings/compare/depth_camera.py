"""A simulated depth camera before the planes of recorded depth frames."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sensorium.core.errors import SpecError
from sensorium.devices import DepthCameraSheet, Device
from sensorium.environment import Environment
from sensorium.recordings.compare.comparison import Comparing
from sensorium.recordings.fit.depth_camera import halves
from sensorium.recordings.measure.depth_camera import WINDOW, measure_depth_camera, window_planes
from sensorium.recordings.readers.realsense import DepthRecording
from sensorium.scene.mesh import Mesh
from sensorium.scene.scene import Scene
from sensorium.sensors.depth_camera.depth_camera import DepthCamera
from sensorium.worlds import Static

_RATE_HZ = 30.0


def simulate_frames(device: Device, recording: DepthRecording, seed: int) -> tuple[DepthRecording, Sequence[str]]:
    """As many frames of a device as were recorded, of the recorded size and focal length.

    Each window of the first recorded frame that has no hole is a plane of the scene: the one that `measure` fits to its
    disparities, so that the noise of the recording is not simulated again. What the second eye does not see are holes
    in the recording already: the simulated one hides nothing.
    """
    sheet = device.sheet
    assert isinstance(sheet, DepthCameraSheet)
    if sheet.principle != "stereo":
        raise SpecError(f"device {device.name!r} is no stereo camera; {recording.path.name!r} is of one")
    frames, height, width = recording.codes.shape
    pattern = {
        "kind": "pinhole", "width": width, "height": height, "focal_px": (recording.focal_px,) * 2, "rate_hz": _RATE_HZ,
    }  # fmt: skip
    errors = device.specification()["errors"]
    errors = [each | ({"occlusion": False} if each["kind"] == "stereo" else {}) for each in errors]
    camera = DepthCamera.from_device(device.path, pattern=pattern, errors=errors)
    scene = Scene()
    scene.add(plane_mesh(recording))
    env = Environment(scene, Static(step_s=1.0 / _RATE_HZ), seed=seed)
    sensor = env.attach(camera)
    images: list[Any] = []
    while len(images) < frames:
        env.step()
        images += sensor.readings()
    unit_m = sheet.number("depth_unit") or recording.unit_m
    codes = np.stack([np.rint(image.depth_m / unit_m).astype(np.uint16) for image in images[:frames]])
    simulated = recording._replace(codes=codes, unit_m=unit_m, baseline_m=float(sheet.number("baseline")))
    return simulated, ("targets: a plane for each window of the first frame without a hole",)


def plane_mesh(recording: DepthRecording) -> Mesh:
    """Planes of the first frame's windows in the sensor's frame, each seen by the pixels of its window alone."""
    _, height, width = recording.codes.shape
    corner_px, disparity = window_planes(recording, 0)
    # Corners half a pixel beyond the outermost pixels, in the order of a square
    offsets = np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) * WINDOW - 0.5
    u, v = (corner_px[:, None, k] + offsets[:, k] for k in (0, 1))
    depth_m = recording.disparity_of_m / disparity
    x, y = (u - 0.5 * (width - 1)) / recording.focal_px, (v - 0.5 * (height - 1)) / recording.focal_px
    corners = np.stack([depth_m, -x * depth_m, -y * depth_m], axis=-1)
    first = 4 * np.arange(len(corners))[:, None, None]
    faces = first + np.array([[0, 1, 2], [0, 2, 3]])
    return Mesh(corners.reshape(-1, 3), faces.reshape(-1, 3))


compare_depth_camera = Comparing(
    kind="depth_camera",
    measure=measure_depth_camera,
    halves=halves,
    samples="frames",
    simulate=simulate_frames,
    tolerances={
        "disparity_noise": 0.15,
        "disparity_noise.by_depth": 0.2,
        "disparity_noise.frame_to_frame": 0.15,
        "disparity_quantum": 1e-3,
    },
)
"""Correlation of noise over pixels and lost pixels are not modeled."""

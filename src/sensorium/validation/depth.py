"""Depth cameras."""

from typing import Any

import numpy as np

import sensorium as sn
from sensorium.validation.check import Axis, Comparison, Family

DEPTH = Family("Depth cameras")


def _image(camera: sn.DepthCamera, distance_m: float, seed: int = 0, yaw_deg: float = 0.0) -> Any:
    """What a camera sees of a large wall ahead."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(1.0, 200, 200), pose=sn.Pose((distance_m + 0.5, 0, 0)))
    env = sn.Environment(scene, sn.worlds.Static({"mast": sn.Pose()}, step_s=0.1), seed=seed)
    sensor = env.attach(camera, body="mast", pose=sn.Pose.from_euler_deg((0, 0, 0), yaw=yaw_deg))
    env.step()
    return sensor.read()


@DEPTH.check(
    "depth-and-range",
    "A wall across the axis has one depth; its range is depth over the cosine of each pixel's ray.",
    reference="physics.md 11: depth = range x cos, pixel centres at (u + 1/2 - W/2) / f",
    relative=2e-6,
)
def _depth(quick: bool) -> Comparison:
    pattern = sn.patterns.Pinhole.from_fov(48, 27, 87.0, rate_hz=10)
    image = _image(sn.DepthCamera(pattern=pattern, outputs={"depth", "range"}, max_range_m=30.0), 4.0)
    f = 24.0 / np.tan(np.radians(87.0) / 2)
    u, v = np.meshgrid(np.arange(48) + 0.5 - 24.0, np.arange(27) + 0.5 - 13.5)
    slant = np.sqrt(1.0 + (u / f) ** 2 + (v / f) ** 2)
    found = np.stack([image.depth / 4.0, image.range / 4.0])
    expected = np.stack([np.ones_like(slant), slant])
    at = np.stack([u, u])
    return Comparison(found, expected, at=at, x=Axis("column from the axis [px]"), y=Axis("distance / depth"))


@DEPTH.check(
    "depth-noise",
    "Noise in proportion to the distance has the deviation k r, and the asked share of pixels drops out.",
    reference="physics.md 11 (Aerial Gym). Tolerance: five standard errors of this many pixels",
    relative=0.06,
)
def _noise(quick: bool) -> Comparison:
    pattern = sn.patterns.Pinhole.from_fov(160, 120, 1.0, rate_hz=10)
    distances, found, expected = np.array([2.0, 5.0, 9.0]), [], []
    for distance in distances:
        noise = sn.DepthNoise(multiplier=0.01, dropout=0.1)
        image = _image(sn.DepthCamera(pattern=pattern, noise=noise, max_range_m=20.0), float(distance), seed=5)
        seen = image.depth != 0.0
        found += [float(image.depth[seen].astype(float).std() / distance), float(1.0 - seen.mean())]
        expected += [0.01, 0.1]
    at = np.repeat(distances, 2)
    return Comparison(found, expected, at=at, x=Axis("distance [m]"), y=Axis("std / r, share dropped", log=True))

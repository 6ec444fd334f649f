"""Depth cameras."""

from typing import Any

import numpy as np

import sensorium as sn
from sensorium.physics.imaging import depth_errors
from sensorium.qa.validation.check import Array, Axis, Comparison, Family

DEPTH = Family("Depth cameras")

_REFLECTANCE = 0.5


def _image(camera: sn.DepthCamera, distance_m: float, seed: int = 0, yaw_deg: float = 0.0) -> Any:
    """Image of a large wall ahead."""
    scene = sn.Scene()
    matt = sn.Lambertian(reflectance=_REFLECTANCE)
    scene.add(sn.shapes.box(1.0, 200, 200), pose=sn.Pose((distance_m + 0.5, 0, 0)), material=matt)
    env = sn.Environment(scene, sn.worlds.Static({"mast": sn.Pose()}, step_s=0.1), seed=seed)
    sensor = env.attach(camera, body="mast", pose=sn.Pose.from_euler_deg((0, 0, 0), yaw=yaw_deg))
    env.step()
    return sensor.read()


@DEPTH.check(
    "depth-and-range",
    "A wall across the axis has one depth; its range is depth over the cosine of each pixel's ray.",
    reference="physics.md 11: depth = range x cos, pixel centers at (u + 1/2 - W/2) / f",
    relative=2e-6,
)
def _depth(quick: bool) -> Comparison:
    pattern = sn.patterns.Pinhole.from_fov(48, 27, 87.0, rate_hz=10)
    image = _image(sn.DepthCamera(pattern=pattern, outputs={"depth", "range"}, max_range_m=30.0), 4.0)
    f = 24.0 / np.tan(np.radians(87.0) / 2)
    u, v = np.meshgrid(np.arange(48) + 0.5 - 24.0, np.arange(27) + 0.5 - 13.5)
    slant = np.sqrt(1.0 + (u / f) ** 2 + (v / f) ** 2)
    found = np.stack([image.depth_m / 4.0, image.range_m / 4.0])
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
        seen = image.depth_m != 0.0
        found += [float(image.depth_m[seen].astype(float).std() / distance), float(1.0 - seen.mean())]
        expected += [0.01, 0.1]
    at = np.repeat(distances, 2)
    return Comparison(found, expected, at=at, x=Axis("distance [m]"), y=Axis("std / r, share dropped", log=True))


def _spread(error: Any, distances: Array, seed: int = 7) -> list[float]:
    """Standard deviation of a narrow camera's depth of walls [m]."""
    pattern = sn.patterns.Pinhole(width=160, height=120, focal_px=(4000.0, 4000.0), rate_hz=10)
    found = []
    for distance in distances:
        camera = sn.DepthCamera(pattern=pattern, errors=(error,), max_range_m=30.0)
        depth = _image(camera, float(distance), seed=seed).depth_m.astype(float)
        found.append(float(depth[depth > 0].std()))
    return found


@DEPTH.check(
    "stereo",
    "The error of a stereo camera grows with the square of depth: z^2 / (f B) times that of the disparity.",
    reference="physics.md 13, Stereo. Tolerance: five standard errors of this many pixels",
    relative=0.05,
)
def _stereo(quick: bool) -> Comparison:
    distances = np.array([2.0, 5.0, 9.0])
    error = depth_errors.StereoError(baseline_m=0.05, disparity_std_px=0.2, subpixel_bits=None, occlusion=False)
    found = _spread(error, distances)
    expected = distances**2 / (4000.0 * 0.05) * 0.2
    x, y = Axis("depth [m]", log=True), Axis("standard deviation [m]", log=True)
    return Comparison(found, expected, at=distances, x=x, y=y)


@DEPTH.check(
    "time-of-flight",
    "The error of a time-of-flight camera is c / (4 sqrt(2) pi f) sqrt(A + B) / A, and ranges wrap at c / 2f.",
    reference="physics.md 13, Time of flight, with A = A_1 rho / r^2",
    relative=0.05,
)
def _time_of_flight(quick: bool) -> Comparison:
    distances = np.array([1.0, 2.0, 5.0, 8.0])
    error = depth_errors.TimeOfFlightError(modulation_hz=20e6, signal_e=1e5, ambient_e=2e3)
    pattern = sn.patterns.Pinhole(width=160, height=120, focal_px=(4000.0, 4000.0), rate_hz=10)
    found, expected = [], []
    for distance in distances:
        camera = sn.DepthCamera(pattern=pattern, errors=(error,), max_range_m=30.0)
        depth = _image(camera, float(distance), seed=3).depth_m.astype(float)
        signal = 1e5 * _REFLECTANCE / distance**2
        std = 299792458.0 / (4 * np.sqrt(2) * np.pi * 20e6) * np.sqrt(signal + 2e3) / signal
        # Beyond 7.4948 m the phase wraps
        found += [float(depth.std()) / std, float(depth.mean()) / (distance % (299792458.0 / 40e6))]
        expected += [1.0, 1.0]
    at = np.repeat(distances, 2)
    return Comparison(found, expected, at=at, x=Axis("range [m]"), y=Axis("spread and mean / law"))

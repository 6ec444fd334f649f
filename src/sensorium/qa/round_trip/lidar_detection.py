"""Round trip of a lidar's detection: the range at which the share of returning rays crosses the stated value."""

import math

import numpy as np
from numpy.typing import NDArray

from sensorium.devices import Device, LidarSheet
from sensorium.environment import Environment
from sensorium.physics.materials import Lambertian
from sensorium.qa.round_trip.row import Row, Z, in_sheet_unit, seed_of
from sensorium.scene import shapes
from sensorium.scene.scene import Scene
from sensorium.sensors.lidar.detection_limit import DetectionLimit
from sensorium.sensors.lidar.lidar import Lidar
from sensorium.worlds import Static

# Distances of walls, as shares of the stated range; and the number of rays to each
_PLACES = np.linspace(0.94, 1.06, 7)
_RAYS = 40_000


def detection_rows(device: Device, sheet: LidarSheet) -> list[Row]:
    """Detection ranges of every reflectance that the sheet states one for."""
    return [
        in_sheet_unit(
            device.name,
            f"range at {100.0 * reflectance:g} %",
            getattr(sheet, name),
            sheet.number(name),
            detection_range(device, reflectance, sheet.number(name)),
        )
        for name, reflectance in sheet.detection_ranges().items()
    ]


def detection_range(device: Device, reflectance: float, near_m: float) -> tuple[float, float, float]:
    """Range at which the stated share of rays returns from a diffuse target [m], and the ends of its interval.

    Args:
        device: A lidar; its greatest range is removed, so that only detection limits it.
        reflectance: Of the target [1].
        near_m: Where to look [m].
    """
    lidar = Lidar.from_device(device.path, max_range_m=2.0 * near_m, errors=())
    counted = [returned(device, lidar, reflectance, float(place_m)) for place_m in near_m * _PLACES]
    range_m, seen, rays = (np.array(column, np.float64) for column in zip(*counted, strict=True))
    limit = lidar.detection
    assert isinstance(limit, DetectionLimit)
    return crossing(range_m, seen / rays, rays, limit.probability)


def returned(device: Device, lidar: Lidar, reflectance: float, radius_m: float) -> tuple[float, int, int]:
    """True range [m] of a diffuse wall all around, how many rays return from it, and how many are sent."""
    scene = Scene()
    scene.add(shapes.sphere(radius_m, 5), material=Lambertian(reflectance=reflectance))
    seed = seed_of(device.name, radius_m * reflectance)
    env = Environment(scene, Static(step_s=1.0 / lidar.pattern.rate_hz), seed=seed)
    sensor, seen, rays = env.attach(lidar), 0, 0
    while rays < _RAYS:
        env.step()
        for scan in sensor.readings():
            seen, rays = seen + int(scan.valid.sum()), rays + scan.valid.size
    return float(sensor.truth().range_m.mean(dtype=np.float64)), seen, rays


def crossing(
    range_m: NDArray[np.float64], share: NDArray[np.float64], rays: NDArray[np.float64], probability: float
) -> tuple[float, float, float]:
    """Range [m] at which shares of returns cross a probability, and the ends of its interval.

    The normal quantiles of the shares, weighted by their binomial errors, are fitted with a line over 1 / r^2, which
    the light of a target far out is in proportion to.
    """
    from scipy.special import ndtri

    within = (share > 0.0) & (share < 1.0)
    z, x, p = ndtri(share[within]), range_m[within] ** -2.0, share[within]
    error = np.sqrt(2.0 * math.pi * p * (1.0 - p) / rays[within]) * np.exp(0.5 * z**2)
    middle = np.average(x, weights=error**-2.0)
    (slope, level), covariance = np.polyfit(x - middle, z, 1, w=1.0 / error, cov="unscaled")
    at = (float(ndtri(probability)) - level) / slope
    half = Z * math.sqrt(covariance[1, 1] + at * at * covariance[0, 0]) / slope
    measured, least, most = (float((middle + at + off) ** -0.5) for off in (0.0, half, -half))
    return measured, least, most

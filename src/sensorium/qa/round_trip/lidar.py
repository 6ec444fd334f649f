"""Round trip of a lidar: the values of its sheet, measured from sweeps of a sphere around it."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.frames import Pose
from sensorium.devices import Device, LidarSheet
from sensorium.environment import Environment
from sensorium.physics.materials import Lambertian
from sensorium.qa.round_trip.row import Row, Z, in_sheet_unit, limits, seed_of, stated_row
from sensorium.scene import shapes
from sensorium.scene.scene import Scene
from sensorium.sensors.lidar.detection_limit import DetectionLimit
from sensorium.sensors.lidar.lidar import Lidar
from sensorium.sensors.lidar.scan import Scan
from sensorium.worlds import Static

Array = NDArray[np.float64]

# Distances of targets, as shares of the greatest range; and the number of returns that gives the noise to 1.7 %
_NEAR, _FAR = 0.1, 0.8
_RETURNS = 20_000

# Offset of the sphere for the range limits to the left, in radii, or this many times the sine of the widest ray to the
# left in a narrow field: ranges then are on both sides of either limit
_ASIDE, _ASIDE_OF_FIELD = 0.4, 1.5

# Noise without the parts by light, the biases of channels and that of directions (the sphere has facets), which the
# rows on noise and reach leave out
_BY_RANGE: dict[str, Any] = {
    "by_range": (), "by_signal": None, "by_reflectance": (), "channel_bias_m": (), "channel_bias_std_m": 0.0,
    "angle_std_rad": 0.0,
}  # fmt: skip

# Sweeps over which a rosette fills its field of view
_ROSETTE_SWEEPS = 40


def lidar_rows(device: Device) -> list[Row]:
    """Everything of a lidar's sheet that sweeps can show."""
    sheet = device.sheet
    assert isinstance(sheet, LidarSheet)
    lidar = Lidar.from_device(device.path, detection=None)
    near_m, far_m = _NEAR * lidar.max_range_m, _FAR * lidar.max_range_m
    scan, _ = _sweep(device, lidar, far_m)[0]
    return [
        *_counted(device, sheet, lidar, scan),
        *_fields(device, sheet, lidar, scan),
        *_steps(device, sheet, lidar, scan),
        *_noise(device, sheet, near_m),
        *_noise(device, sheet, far_m),
        *_quantum(device, sheet, near_m),
        *_reach(device, sheet, "min_range"),
        *_reach(device, sheet, "max_range"),
        *detection_rows(device, sheet),
    ]


def _sweep(
    device: Device, lidar: Lidar, radius_m: float, sweeps: int = 1, aside_m: float = 0.0
) -> list[tuple[Scan, Scan]]:
    """Sweeps in the middle of a gray sphere, or beside it, each with its truth."""
    scene = Scene()
    scene.add(shapes.sphere(radius_m, 5), pose=Pose((0.0, aside_m, 0.0)), material=Lambertian(reflectance=0.5))
    env = Environment(scene, Static(step_s=1.0 / lidar.pattern.rate_hz), seed=seed_of(device.name, radius_m))
    sensor = env.attach(lidar)
    seen: list[tuple[Scan, Scan]] = []
    while len(seen) < sweeps:
        env.step()
        seen += [(scan, sensor.truth()) for scan in sensor.readings()]
    return seen


def _counted(device: Device, sheet: LidarSheet, lidar: Lidar, scan: Scan) -> list[Row]:
    """Points a second; a sweep has a whole number of columns."""
    if sheet.points_per_second is None:
        return []
    rate = scan.valid.sum() / ((scan.end_ns - scan.start_ns) * 1e-9)
    column = scan.range_m.shape[-2] * lidar.pattern.rate_hz
    around = (rate, rate - 0.5 * column, rate + 0.5 * column)
    return stated_row(device, "points_per_second", around, what="points per second")


def _fields(device: Device, sheet: LidarSheet, lidar: Lidar, scan: Scan) -> list[Row]:
    """Fields of view, to the width of the beam."""
    if sheet.scan == "rosette":
        rays = [lidar.pattern.rays(sweep).direction_S for sweep in range(_ROSETTE_SWEEPS)]
        direction = np.concatenate(rays, axis=1).astype(np.float64)
        horizontal, vertical = np.degrees(np.arcsin(direction[..., 1])), np.degrees(np.arcsin(direction[..., 2]))
    else:
        horizontal, vertical = _angles_deg(lidar, scan)
    widths = lidar.beam.half_divergence_rad
    rows = []
    for k, (name, angle_deg) in enumerate((("horizontal_fov", horizontal), ("vertical_fov", vertical))):
        if getattr(sheet, name) is not None:
            spot_deg = math.degrees(2.0 * (widths[k] if isinstance(widths, tuple) else widths))
            field_deg, what = float(np.ptp(angle_deg)), name.replace("_fov", " field")
            around = (field_deg, field_deg - spot_deg, field_deg + spot_deg)
            rows += stated_row(device, name, around, what=what, rounded=True)
    return rows


def _steps(device: Device, sheet: LidarSheet, lidar: Lidar, scan: Scan) -> list[Row]:
    """From column to column and from channel to channel, as they mostly are."""
    azimuth_deg, elevation_deg = _angles_deg(lidar, scan)
    rows = []
    for name in ("azimuth_step", "step"):
        if getattr(sheet, name) is not None:
            steps = np.abs(np.diff(azimuth_deg, axis=-1))
            step = float(np.median(steps))
            half = 0.5 * step / azimuth_deg.shape[-1]
            around = (step, step - half, step + half)
            rows += stated_row(device, name, around, what="azimuth step", rounded=True)
            break
    if sheet.elevation_step is not None:
        steps = np.diff(np.sort(np.median(elevation_deg, axis=-1)))
        low, step, high = (float(one) for one in np.percentile(steps, [25, 50, 75]))
        rows += stated_row(device, "elevation_step", (step, low, high), what="elevation step", rounded=True)
    return rows


def _noise(device: Device, sheet: LidarSheet, range_m: float) -> list[Row]:
    """Standard deviation of ranges at one range, by the part that depends on range alone, without the rounding."""
    stated = sheet.range_noise or sheet.range_noise_slope or sheet.range_noise_square
    if stated is None:
        return []
    names = ("range_noise", "range_noise_slope", "range_noise_square")
    stated_m = sum((sheet.number(name) or 0.0) * range_m**power for power, name in enumerate(names))
    lidar = Lidar.from_device(device.path, errors=(), detection=None, noise=_BY_RANGE)
    rays = math.prod(lidar.pattern.rays().shape)
    errors = [
        (scan.range_m.astype(np.float64) - truth.range_m)[scan.valid]
        for scan, truth in _sweep(device, lidar, range_m, math.ceil(_RETURNS / rays))
    ]
    error_m = np.concatenate(errors)
    # Standard error of a standard deviation, over it: sqrt((2 + excess kurtosis) / 4 n)
    excess = sheet.number("excess_kurtosis") or 0.0
    std_mm, share = 1e3 * float(error_m.std()), Z * math.sqrt((2.0 + excess) / (4.0 * len(error_m)))
    what = f"range noise at {range_m:g} m, 1 sigma"
    low, high = std_mm * (1.0 - share), std_mm * (1.0 + share)
    return [Row(device.name, what, 1e3 * stated_m, std_mm, low, high, "mm", stated.grade)]


def _quantum(device: Device, sheet: LidarSheet, range_m: float) -> list[Row]:
    """The step of ranges that are read out, among ranges that are spread over many."""
    if sheet.range_quantum is None:
        return []
    quantum_m = sheet.number("range_quantum")
    noise = {**_BY_RANGE, "base_m": 10.0 * quantum_m, "slope": 0.0, "square_per_m": 0.0}
    lidar = Lidar.from_device(device.path, detection=None, noise=noise)
    scan, _ = _sweep(device, lidar, range_m)[0]
    codes = np.unique(scan.range_m[scan.valid])
    step_m, half_m = float(np.median(np.diff(codes.astype(np.float64)))), float(np.spacing(codes.max()))
    around = (step_m, step_m - half_m, step_m + half_m)
    return stated_row(device, "range_quantum", around, what="range step")


def _reach(device: Device, sheet: LidarSheet, name: str) -> list[Row]:
    """Least or greatest range: between the last target that is seen and the first that is not."""
    if getattr(sheet, name) is None:
        return []
    stated_m = sheet.number(name)
    noise = {**_BY_RANGE, "base_m": 0.0, "slope": 0.0, "square_per_m": 0.0}
    silent: dict[str, Any] = {"errors": (), "noise": noise, "detection": None}
    limited = Lidar.from_device(device.path, **silent)
    endless = Lidar.from_device(device.path, **silent, min_range_m=0.0, max_range_m=10.0 * stated_m)
    aside = min(_ASIDE, _ASIDE_OF_FIELD * float(limited.pattern.rays().direction_S[..., 1].max()))
    scans = [_sweep(device, lidar, stated_m, aside_m=aside * stated_m)[0][0] for lidar in (limited, endless)]
    seen, range_m = scans[0].valid, scans[1].range_m.astype(np.float64)
    ends = limits(seen, range_m, greatest=name == "max_range")
    what = "greatest range" if name == "max_range" else "least range"
    return stated_row(device, name, ends, what=what)


def _angles_deg(lidar: Lidar, scan: Scan) -> tuple[Array, Array]:
    """Azimuth along the columns without a jump, and elevation [deg], of points as seen from where their beams start."""
    points: NDArray[Any] = scan.points.astype(np.float64)
    origin = lidar.pattern.rays().origin_S
    if origin is not None:
        points = points - origin
    x, y, z = np.moveaxis(points, -1, 0)
    azimuth = np.unwrap(np.arctan2(y, x), axis=-1)
    return np.degrees(azimuth), np.degrees(np.arctan2(z, np.hypot(x, y)))


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

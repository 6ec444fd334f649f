"""Round trip of a lidar: the values of its sheet, measured from sweeps of a sphere around it."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.frames import Pose
from sensorium.devices import Device, LidarSheet
from sensorium.environment import Environment
from sensorium.physics.materials import Lambertian
from sensorium.qa.round_trip.lidar_detection import detection_rows
from sensorium.qa.round_trip.row import Row, Z, in_sheet_unit, limits, seed_of
from sensorium.scene import shapes
from sensorium.scene.scene import Scene
from sensorium.sensors.lidar.lidar import Lidar
from sensorium.sensors.lidar.scan import Scan
from sensorium.worlds import Static

Array = NDArray[np.float64]

# Distances of targets, as shares of the greatest range; and the number of returns that gives the noise to 1.7 %
_NEAR, _FAR = 0.1, 0.8
_RETURNS = 20_000

# Offset of the sphere for the range limits to the left, in radii: ranges then are on both sides of either limit
_ASIDE = 0.4

# Noise without the parts by light and the biases of channels, which the rows on noise and reach leave out
_BY_RANGE: dict[str, Any] = {
    "by_range": (), "by_signal": None, "by_reflectance": (), "channel_bias_m": (), "channel_bias_std_m": 0.0
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
    stated = sheet.number("points_per_second")
    return [in_sheet_unit(device.name, "points per second", sheet.points_per_second, stated, around)]


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
        quantity = getattr(sheet, name)
        if quantity is not None:
            spot_deg = math.degrees(2.0 * (widths[k] if isinstance(widths, tuple) else widths))
            field_deg, what = float(np.ptp(angle_deg)), name.replace("_fov", " field")
            around = (field_deg, field_deg - spot_deg, field_deg + spot_deg)
            rows.append(in_sheet_unit(device.name, what, quantity, sheet.number(name), around, rounded=True))
    return rows


def _steps(device: Device, sheet: LidarSheet, lidar: Lidar, scan: Scan) -> list[Row]:
    """From column to column and from channel to channel, as they mostly are."""
    azimuth_deg, elevation_deg = _angles_deg(lidar, scan)
    rows = []
    for name in ("azimuth_step", "step"):
        if (quantity := getattr(sheet, name)) is not None:
            steps = np.abs(np.diff(azimuth_deg, axis=-1))
            step = float(np.median(steps))
            half = 0.5 * step / azimuth_deg.shape[-1]
            around = (step, step - half, step + half)
            stated = sheet.number(name)
            rows.append(in_sheet_unit(device.name, "azimuth step", quantity, stated, around, rounded=True))
            break
    if (quantity := sheet.elevation_step) is not None:
        steps = np.diff(np.sort(np.median(elevation_deg, axis=-1)))
        low, step, high = (float(one) for one in np.percentile(steps, [25, 50, 75]))
        stated = sheet.number("elevation_step")
        rows.append(in_sheet_unit(device.name, "elevation step", quantity, stated, (step, low, high), rounded=True))
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
    std_mm, share = 1e3 * float(error_m.std()), Z / math.sqrt(2.0 * len(error_m))
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
    return [in_sheet_unit(device.name, "range step", sheet.range_quantum, quantum_m, around)]


def _reach(device: Device, sheet: LidarSheet, name: str) -> list[Row]:
    """Least or greatest range: between the last target that is seen and the first that is not."""
    quantity = getattr(sheet, name)
    if quantity is None:
        return []
    stated_m = sheet.number(name)
    noise = {**_BY_RANGE, "base_m": 0.0, "slope": 0.0, "square_per_m": 0.0, "angle_std_rad": 0.0}
    silent: dict[str, Any] = {"errors": (), "noise": noise, "detection": None}
    limited = Lidar.from_device(device.path, **silent)
    endless = Lidar.from_device(device.path, **silent, min_range_m=0.0, max_range_m=10.0 * stated_m)
    scans = [_sweep(device, lidar, stated_m, aside_m=_ASIDE * stated_m)[0][0] for lidar in (limited, endless)]
    seen, range_m = scans[0].valid, scans[1].range_m.astype(np.float64)
    ends = limits(seen, range_m, greatest=name == "max_range")
    what = "greatest range" if name == "max_range" else "least range"
    return [in_sheet_unit(device.name, what, quantity, stated_m, ends)]


def _angles_deg(lidar: Lidar, scan: Scan) -> tuple[Array, Array]:
    """Azimuth along the columns without a jump, and elevation [deg], of points as seen from where their beams start."""
    points: NDArray[Any] = scan.points.astype(np.float64)
    origin = lidar.pattern.rays().origin_S
    if origin is not None:
        points = points - origin
    x, y, z = np.moveaxis(points, -1, 0)
    azimuth = np.unwrap(np.arctan2(y, x), axis=-1)
    return np.degrees(azimuth), np.degrees(np.arctan2(z, np.hypot(x, y)))

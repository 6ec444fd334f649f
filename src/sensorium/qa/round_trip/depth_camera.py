"""Round trip of a depth camera: the values of its sheet, measured from images inside a sphere."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.frames import Pose
from sensorium.devices import DepthCameraSheet, Device
from sensorium.environment import Environment
from sensorium.physics.materials import Lambertian
from sensorium.qa.round_trip.row import Row, Z, limits, seed_of, stated_row
from sensorium.scene import shapes
from sensorium.scene.scene import Scene
from sensorium.sensors.depth_camera.depth_camera import DepthCamera
from sensorium.sensors.depth_camera.image import DepthImage
from sensorium.worlds import Static

Array = NDArray[np.float64]

# Pixels in the middle of an image are enough for noise and steps, and faster
_PART = {"width": 160, "height": 120}

# Distances at which noise is measured, as shares of the greatest range, and the farthest one of these devices [m]
_NEAR, _FAR, _FARTHEST_M = 0.25, 0.75, 8.0

# Offset of the sphere for limits to the left, in radii: ranges then are on both sides of either limit
_ASIDE = 0.4


def depth_camera_rows(device: Device) -> list[Row]:
    """Everything of a depth camera's sheet that images can show."""
    sheet = device.sheet
    assert isinstance(sheet, DepthCameraSheet)
    return [
        *_fields(device, sheet),
        *_noise(device, sheet),
        *_disparities(device, sheet),
        *_depth_step(device, sheet),
        *_reach(device, sheet, "min_range"),
        *_reach(device, sheet, "max_range"),
    ]


def _image(
    device: Device, radius_m: float, *, aside_m: float = 0.0, reflectance: float = 0.5, **changes: Any
) -> tuple[DepthImage, DepthImage]:
    """An image in a gray sphere, or beside its middle, with its truth."""
    camera = DepthCamera.from_device(device.path, outputs={"depth", "range", "points"}, **changes)
    scene = Scene()
    material = Lambertian(reflectance=reflectance)
    scene.add(shapes.sphere(radius_m, 5), pose=Pose((0.0, aside_m, 0.0)), material=material)
    env = Environment(scene, Static(step_s=1.0 / camera.pattern.rate_hz), seed=seed_of(device.name, radius_m))
    sensor = env.attach(camera)
    env.step()
    return sensor.read(), sensor.truth()


def _fields(device: Device, sheet: DepthCameraSheet) -> list[Row]:
    """Fields of view from edge to edge, to a pixel."""
    image, _ = _image(device, 2.0, errors=(), min_range_m=0.0, max_range_m=10.0)
    points = image.points.astype(np.float64)
    tangent = points[..., 1:] / points[..., :1]
    rows = []
    for name, across in (("horizontal_fov", tangent[:, :, 0]), ("vertical_fov", tangent[:, :, 1].T)):
        if getattr(sheet, name) is None:
            continue
        # From the middles of the outermost pixels to their edges is half a pixel more on each side
        first, last = across[:, 0].mean(), across[:, -1].mean()
        pixel = (first - last) / (across.shape[1] - 1)
        field_deg = math.degrees(math.atan(first + 0.5 * pixel) - math.atan(last - 0.5 * pixel))
        half_deg = 0.5 * math.degrees(pixel)
        around = (field_deg, field_deg - half_deg, field_deg + half_deg)
        what = name.replace("_fov", " field")
        rows += stated_row(device, name, around, what=what)
    return rows


def _noise(device: Device, sheet: DepthCameraSheet) -> list[Row]:
    """Noise at a distance or two, without any rounding."""
    spec = DepthCamera.from_device(device.path)
    stated = sheet.disparity_noise if sheet.principle == "stereo" else sheet.range_noise or sheet.range_noise_slope
    if stated is None:
        return []
    errors = [error.model_dump() for error in spec.errors if error.kind != "quantization"]
    reflectance = sheet.number("noise_reflectance") or 0.5
    farthest_m = min(spec.max_range_m, _FARTHEST_M)
    distances = [sheet.number("noise_distance")] if sheet.noise_distance else [_NEAR * farthest_m, _FAR * farthest_m]
    rows = []
    for z in distances:
        if sheet.principle == "stereo":
            errors[0]["subpixel_bits"] = None
        changes: dict[str, Any] = {"errors": errors, "pattern": _PART, "min_range_m": 0.0, "max_range_m": 10.0 * z}
        image, truth = _image(device, z, reflectance=reflectance, **changes)
        if sheet.principle == "stereo":
            law = _stereo_law(sheet, spec, truth.depth_m)
            stated_m, error = float(_stereo_law(sheet, spec, np.array(z))), image.depth_m - truth.depth_m
        else:
            stated_m = _timed_law(sheet, z)
            law, error = np.full(truth.range_m.shape, stated_m), image.range_m - truth.range_m
        share = (error / law)[image.depth_m > 0.0]
        std_mm, relative = 1e3 * stated_m * float(share.std()), Z / math.sqrt(2.0 * share.size)
        what = f"{'depth' if sheet.principle == 'stereo' else 'range'} noise at {z:g} m, 1 sigma"
        low, high = std_mm * (1.0 - relative), std_mm * (1.0 + relative)
        rows.append(Row(device.name, what, 1e3 * stated_m, std_mm, low, high, "mm", stated.grade))
    return rows


def _stereo_law(sheet: DepthCameraSheet, spec: DepthCamera, depth_m: NDArray[Any]) -> Array:
    """Standard deviation of depth that the sheet's error of matching means [m]."""
    scale = spec.pattern.focal_px[0] * sheet.number("baseline")
    return np.asarray(depth_m, np.float64) ** 2 * sheet.number("disparity_noise") / scale


def _timed_law(sheet: DepthCameraSheet, range_m: float) -> float:
    """Standard deviation of range that the sheet states [m]."""
    base, slope = sheet.number("range_noise") or 0.0, sheet.number("range_noise_slope") or 0.0
    return float(base + slope * range_m)


def _disparities(device: Device, sheet: DepthCameraSheet) -> list[Row]:
    """Step and end of the disparities, from depths."""
    if sheet.disparity_quantum is None and sheet.disparity_levels is None:
        return []
    spec = DepthCamera.from_device(device.path)
    scale = spec.pattern.focal_px[0] * sheet.number("baseline")
    stereo = next(error.model_dump() for error in spec.errors if error.kind == "stereo")
    rows = []
    if sheet.disparity_quantum is not None:
        quantum = sheet.number("disparity_quantum")
        noisy = [{**stereo, "disparity_std_px": 10.0 * quantum}]
        changes: dict[str, Any] = {"errors": noisy, "pattern": _PART, "min_range_m": 0.0, "max_range_m": 100.0}
        image, _ = _image(device, 2.0, **changes)
        found = np.unique(scale / image.depth_m[image.depth_m > 0.0].astype(np.float64))
        steps = np.diff(found)
        step = float(np.median(steps[steps > 0.5 * quantum]))
        half = float(found.max()) * 2.0**-23
        rows += stated_row(device, "disparity_quantum", (step, step - half, step + half), what="disparity step")
    if sheet.disparity_levels is not None:
        levels = sheet.number("disparity_levels")
        quiet = [{**stereo, "disparity_std_px": 0.0, "subpixel_bits": None}]
        nearest_m = scale / levels
        wide: dict[str, Any] = {"errors": quiet, "pattern": _strip(spec), "min_range_m": 0.0, "max_range_m": 100.0}
        image, truth = _image(device, 1.3 * nearest_m, aside_m=0.3 * nearest_m, **wide)
        # Those that fall outside of the second image are lost for another reason
        disparity = scale / truth.depth_m.astype(np.float64)
        inside = np.arange(disparity.shape[-1]) > disparity
        ends = float(disparity[(image.depth_m > 0.0)].max()), float(disparity[inside & (image.depth_m == 0.0)].min())
        rows += stated_row(device, "disparity_levels", (0.5 * sum(ends), *ends), what="disparity search")
    return rows


def _depth_step(device: Device, sheet: DepthCameraSheet) -> list[Row]:
    """The step of depths that are read out."""
    if sheet.depth_unit is None:
        return []
    step_m = sheet.number("depth_unit")
    errors = [{"kind": "quantization", "step_m": step_m}]
    image, _ = _image(device, 2.0, errors=errors, pattern=_PART, min_range_m=0.0, max_range_m=10.0)
    found = np.unique(image.depth_m[image.valid]).astype(np.float64)
    steps = np.diff(found)
    # Depth is computed from range, which changes its last bits
    step, half = float(np.median(steps[steps > 0.5 * step_m])), 4.0 * float(np.spacing(np.float32(found.max())))
    return stated_row(device, "depth_unit", (step, step - half, step + half), what="depth step")


def _strip(camera: DepthCamera) -> dict[str, int]:
    """A few rows of an image across all of its columns, as a change of the pattern."""
    return {"height": min(camera.pattern.height, 32)}


def _reach(device: Device, sheet: DepthCameraSheet, name: str) -> list[Row]:
    """Least or greatest range: between the last that is seen and the first that is not."""
    if getattr(sheet, name) is None:
        return []
    stated_m = sheet.number(name)
    strip: dict[str, Any] = {"errors": (), "pattern": _strip(DepthCamera.from_device(device.path))}
    limited, _ = _image(device, stated_m, aside_m=_ASIDE * stated_m, **strip)
    endless: dict[str, Any] = {**strip, "min_range_m": 0.0, "max_range_m": 10.0 * stated_m}
    whole, _ = _image(device, stated_m, aside_m=_ASIDE * stated_m, **endless)
    seen, range_m = limited.valid, whole.range_m.astype(np.float64)
    ends = limits(seen, range_m, greatest=name == "max_range")
    what = "greatest range" if name == "max_range" else "least range"
    return stated_row(device, name, ends, what=what)

"""All errors of depth cameras, distinguished by their `kind`, and the stage that each becomes."""

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from sensorium.core.frames import Pose
from sensorium.patterns import Fisheye
from sensorium.physics.imaging.depth_errors import (
    FlyingPixels,
    Frames,
    QuadraticError,
    StereoError,
    TimeOfFlightError,
    phase_range,
    power_of_pixels,
    quadratic_error,
    stereo_depth,
)
from sensorium.physics.imaging.depth_quantization import DepthQuantization, quantized
from sensorium.sensors.depth_camera.pixel_parts import blocks_of_parts, mix_parts
from sensorium.sensors.depth_camera.rays import in_tiles
from sensorium.sensors.depth_camera.second_eye import lose_hidden
from sensorium.sensors.depth_camera.stage import DepthFrame, Projection, Stage
from sensorium.tracing.embree.packet import BLOCK


def measure_by_eyes(error: StereoError, frame: DepthFrame) -> None:
    """Stereo: the second camera is to the right of the first."""
    depth = np.ascontiguousarray(frame.range_m * frame.axial)
    seen, focal_px = np.ones(depth.shape, np.bool_), frame.focal_px[:, 0]
    stereo_depth(depth, frame.cosine, seen, error, focal_px=focal_px, width=frame.width, frames=_frames(frame))
    if error.occlusion:  # the second camera traces only points that were matched
        heads, pixels = depth.shape
        aside = frame.X_WS @ Pose((0.0, -error.baseline_m, 0.0))
        place = in_tiles(frame.width, pixels // frame.width)
        blocks = heads * -(-pixels // BLOCK)
        frame.cast(lose_hidden, blocks, aside, place, frame.width, error.baseline_m, frame.range_m, depth)
    frame.range_m[...] = depth / frame.axial


def measure_by_phase(error: TimeOfFlightError, frame: DepthFrame) -> None:
    """Time of flight: power by the surface that was hit, distance by phase."""
    if error.rays == 1:
        reflectance = frame.reflectance(error.wavelength_m)
        power = power_of_pixels(frame.range_m, frame.object_id, frame.cosine, reflectance, sensors=frame.sensors)
    else:
        power = _mixed(frame, error.rays, error.wavelength_m)
    phase_range(frame.range_m, power, error, frames=_frames(frame))


def mix_pixels(error: FlyingPixels, frame: DepthFrame) -> None:
    """Several rays per pixel."""
    _mixed(frame, error.rays, error.wavelength_m)


def measure_by_law(error: QuadraticError, frame: DepthFrame) -> None:
    """Noise by a fitted law."""
    if error.along == "range":
        quadratic_error(frame.range_m, error, frames=_frames(frame))
        return
    depth = np.ascontiguousarray(frame.range_m * frame.axial)
    quadratic_error(depth, error, frames=_frames(frame))
    frame.range_m[...] = depth / frame.axial


def is_rectified(error: StereoError, pattern: Projection) -> None:
    """Refuse lenses through which disparity is not along rows."""
    if isinstance(pattern, Fisheye) or any(pattern.distortion):
        raise ValueError(
            f"errors has {error.kind!r} with a {type(pattern).__name__} that bends; it must look through pinholes "
            "without distortion, as rectified images do"
        )


def has_an_axis(error: QuadraticError | DepthQuantization, pattern: Projection) -> None:
    """Refuse depth for lenses with rays at right angles to the axis or beyond."""
    if isinstance(pattern, Fisheye) and error.along == "depth":
        raise ValueError(
            f"errors has {error.kind!r} along 'depth' with a fisheye, whose depth may be 0; it must be along 'range'"
        )


def _mixed(frame: DepthFrame, rays: int, wavelength_m: float) -> NDArray[np.float32]:
    """Mix the light of rays over each pixel: ranges in place, and the power that comes back, (heads, pixels)."""
    within = (np.arange(rays) + 0.5) / rays - 0.5
    power, reflectance = np.empty_like(frame.range_m), frame.reflectance(wavelength_m)
    blocks = blocks_of_parts(power.shape[0], power.shape[1], rays**2)
    frame.cast(mix_parts, blocks, frame.X_WS, reflectance, frame.width, within, frame.range_m, power)
    return power


def _frames(frame: DepthFrame) -> Frames:
    """Counter words of the random numbers."""
    return Frames(frame.key, frame.tick, frame.first_world, frame.sensors)


AnyDepthError = Annotated[
    StereoError | TimeOfFlightError | FlyingPixels | QuadraticError | DepthQuantization, Field(discriminator="kind")
]
"""Any of them."""


def _quantize(error: DepthQuantization, frame: DepthFrame) -> None:
    axial = frame.axial if error.along == "depth" else np.float32(1.0)
    frame.range_m[...] = quantized(frame.range_m * axial, error.step_m) / axial


STAGES: dict[type[Any], Stage] = {
    StereoError: Stage(measure_by_eyes, frozenset({"cosine"}), is_rectified),
    TimeOfFlightError: Stage(measure_by_phase, frozenset({"object_id", "cosine"})),
    FlyingPixels: Stage(mix_pixels),
    QuadraticError: Stage(measure_by_law, check=has_an_axis),
    DepthQuantization: Stage(_quantize, check=has_an_axis),
}
"""Stage of each kind of error."""

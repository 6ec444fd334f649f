"""How real depth cameras see a frame: the models of `imaging.depth_errors`, given the rays that they need."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sensorium.imaging.depth_errors import (
    FlyingPixels,
    Frames,
    QuadraticError,
    StereoError,
    TimeOfFlightError,
    mixed_pixels,
    phase_range,
    quadratic_error,
    stereo_depth,
)
from sensorium.imaging.depth_quantization import DepthQuantization
from sensorium.patterns import Fisheye
from sensorium.sensors.depth_stage import DepthFrame, Projection

# Rays that are made at once: their arrays take some 100 bytes each
_AT_ONCE = 1 << 20

# How much nearer than the point a second eye may meet something and still see the point [m], and per metre of distance:
# float32 of the two casts, on surfaces however oblique
_CLEAR_M, _CLEAR = 1e-3, 1e-4


def measure_by_eyes(error: StereoError, frame: DepthFrame) -> None:
    """Two eyes; the second sits to the right of the first."""
    seen = np.ones(frame.range_m.shape, np.bool_)
    if error.occlusion:
        for chunk in _chunks(frame, 1):
            seen[:, chunk] = _seen_from_aside(frame, error.baseline_m, chunk)
    depth = np.ascontiguousarray(frame.range_m * frame.axial)
    focal_px = frame.focal_px[:, 0]
    stereo_depth(depth, frame.cosine, seen, error, focal_px=focal_px, width=frame.width, frames=_frames(frame))
    frame.range_m[...] = depth / frame.axial


def measure_by_phase(error: TimeOfFlightError, frame: DepthFrame) -> None:
    """Light that comes back by what it met, timed by its phase."""
    if error.rays == 1:
        power = _power(frame, frame.range_m, frame.object_id, frame.cosine, error.wavelength_m)
    else:
        power = _mixed(frame, error.rays, error.wavelength_m)
    phase_range(frame.range_m, power, error, frames=_frames(frame))


def mix_pixels(error: FlyingPixels, frame: DepthFrame) -> None:
    """Several rays a pixel."""
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
        raise ValueError(f"errors has {error.kind!r}; its pattern must be a pinhole without distortion, as rectified")


def has_an_axis(error: QuadraticError | DepthQuantization, pattern: Projection) -> None:
    """Refuse depth of lenses that look sideways."""
    if isinstance(pattern, Fisheye) and error.along == "depth":
        raise ValueError("along is 'depth' for a fisheye, whose depth may be 0; it must be 'range'")


def _seen_from_aside(frame: DepthFrame, baseline_m: float, chunk: slice) -> NDArray[np.bool_]:
    """Whether an eye to the right of each camera sees the points that the camera does, (heads, pixels of the chunk)."""
    range_m = frame.range_m[:, chunk].astype(np.float64)
    met = np.isfinite(range_m) & (range_m > 0.0)
    direction_S = frame.look(_pixels(frame, chunk))
    p_S = np.where(met, range_m, 1.0)[..., None] * direction_S + (0.0, baseline_m, 0.0)
    distance_m = np.linalg.norm(p_S, axis=-1)
    origin_W = frame.X_WS.apply(np.array([0.0, -baseline_m, 0.0]))[:, None]
    direction_W = np.einsum("hij,hnj->hni", frame.X_WS.rotation, p_S / distance_m[..., None])
    nearest_m, _, _ = frame.cast(np.broadcast_to(origin_W, p_S.shape), direction_W, np.inf)
    return met & (nearest_m >= distance_m * (1.0 - _CLEAR) - _CLEAR_M)


def _mixed(frame: DepthFrame, rays: int, wavelength_m: float) -> NDArray[np.float32]:
    """Mix the light of rays over each pixel: ranges in place, and the power that comes back, (heads, pixels)."""
    within = (np.arange(rays) + 0.5) / rays - 0.5
    aside = np.stack(np.meshgrid(within, within), axis=-1).reshape(-1, 2)
    power = np.zeros_like(frame.range_m)
    for chunk in _chunks(frame, rays**2):
        at = (_pixels(frame, chunk)[:, None] + aside).reshape(-1, 2)
        direction_W = np.einsum("hij,hnj->hni", frame.X_WS.rotation, frame.look(at))
        origin_W = np.broadcast_to(frame.X_WS.position[:, None], direction_W.shape)
        range_m, object_id, cosine = frame.cast(origin_W, direction_W, np.inf)
        each = _power(frame, range_m, object_id, cosine, wavelength_m)
        mixed, power[:, chunk] = mixed_pixels(range_m, each, rays=rays**2)
        frame.range_m[:, chunk] = np.where(frame.range_m[:, chunk] == 0.0, np.float32(0.0), mixed)
    return power


def _power(
    frame: DepthFrame,
    range_m: NDArray[np.float32],
    object_id: NDArray[np.int32],
    cosine: NDArray[np.float32],
    wavelength_m: float,
) -> NDArray[np.float32]:
    """What comes back, rho cos(theta) / r^2 [1/m^2], 0 where nothing was met."""
    reflectance = frame.reflectance(object_id, wavelength_m)
    met = np.isfinite(range_m) & (range_m > 0.0)
    distance = np.where(met, range_m, np.float32(1.0))
    return np.where(met, reflectance * cosine / (distance * distance), np.float32(0.0))


def _chunks(frame: DepthFrame, rays: int) -> Iterator[slice]:
    """Pixels of all heads in pieces of not too many rays, of so many rays a pixel."""
    heads, pixels = frame.range_m.shape
    at_once = max(1, _AT_ONCE // (heads * rays))
    for start in range(0, pixels, at_once):
        yield slice(start, min(pixels, start + at_once))


def _pixels(frame: DepthFrame, chunk: slice) -> NDArray[np.float64]:
    """Image points (u, v) of pixels [px], shape (pixels, 2)."""
    number = np.arange(chunk.start, chunk.stop)
    return np.stack([number % frame.width, number // frame.width], axis=-1).astype(np.float64)


def _frames(frame: DepthFrame) -> Frames:
    """What random numbers are counted by."""
    return Frames(frame.key, frame.tick, frame.first_world, frame.sensors)

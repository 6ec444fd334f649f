"""Stereo depth: disparity with its error, rounded, and lost if the second camera does not see the point.

    d = f B / z        z' = f B / round(d + sigma_d N, 1 / 2^m)        sigma_z = z^2 sigma_d / (f B)

f is the focal length in pixels, B the baseline, sigma_d the error of matching in pixels. The second camera is at B to
the right of the first, whose image is the depth image; a point at column u of the first is at u - d of the second.
There is no depth where

- the second eye's ray to the point is blocked, or the point lies outside its image: u - d < -1/2;
- the disparity is outside of the search, which makes the least distance f B / d_max;
- matching fails, with probability p = p_0 + (1 - p_0) exp(-cos(theta) / c), which rises at grazing incidence.

Source: physics.md section 13, Stereo; the law of sigma_z is that of Intel's tuning guide for the D400 series. The rate
at which the loss rises is this library's choice: section 13 requires a rise.
"""

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import ConfigDict, Field, model_validator

from sensorium.core.spec import Spec
from sensorium.physics.imaging.depth_errors.frame import BLOCK, Frames, blocks_of
from sensorium.physics.optics.checks import Array, checked, checked_cosine
from sensorium.random import draw_words, normal_pair_f32, uniform_f32
from sensorium.runtime import jit, worker_pool

STAGE_STEREO = np.int64(16)
"""Of the counter."""

_DRAW = np.int64(0)
_ZERO, _ONE, _HALF, _INFINITE = np.float32(0.0), np.float32(1.0), np.float32(0.5), np.float32(np.inf)

# Columns of the kernel's numbers
_STD, _STEPS, _LEAST, _MOST, _LOSS, _GRAZING = range(6)


class StereoError(Spec):
    """Errors of a stereo camera."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["stereo"] = "stereo"
    baseline_m: float = Field(gt=0.0)
    """B, from eye to eye [m]."""
    disparity_std_px: float = Field(default=0.08, ge=0.0)
    """sigma_d, error of matching, 1 sigma [px]."""
    subpixel_bits: int | None = Field(default=5, ge=0, le=16)
    """m: disparities are whole multiples of 1 / 2^m pixel; None does not round."""
    min_disparity_px: float = Field(default=0.0, ge=0.0)
    """Least disparity that is reported [px]; farther points have no depth."""
    max_disparity_px: float | None = Field(default=None, gt=0.0)
    """Greatest disparity of the search [px]; nearer points have no depth. None is unlimited."""
    loss: float = Field(default=0.0, ge=0.0, le=1.0)
    """p_0, probability that matching fails on a surface that faces the camera [1]."""
    grazing_cosine: float = Field(default=0.0, ge=0.0)
    """c, cosine of incidence about which surfaces are too oblique to match [1]; 0: none is."""
    occlusion: bool = True
    """Whether points that the second eye does not see are lost."""

    @model_validator(mode="after")
    def _search_has_room(self) -> "StereoError":
        if self.max_disparity_px is not None and self.max_disparity_px <= self.min_disparity_px:
            raise ValueError(
                f"max_disparity_px is {self.max_disparity_px}; it must be above min_disparity_px, "
                f"{self.min_disparity_px}"
            )
        return self


def disparity_of_depth(depth_m: ArrayLike, *, focal_px: float, baseline_m: float) -> Array:
    """Disparity f B / z [px]."""
    focal, baseline = _pair(focal_px, baseline_m)
    return focal * baseline / checked("depth_m", depth_m, above=0.0)


def depth_of_disparity(disparity_px: ArrayLike, *, focal_px: float, baseline_m: float) -> Array:
    """Depth f B / d [m]."""
    focal, baseline = _pair(focal_px, baseline_m)
    return focal * baseline / checked("disparity_px", disparity_px, above=0.0)


def stereo_std(depth_m: ArrayLike, *, focal_px: float, baseline_m: float, disparity_std_px: float) -> Array:
    """Standard deviation of depth, z^2 sigma_d / (f B) [m]: to first order, for sigma_d much less than d."""
    focal, baseline = _pair(focal_px, baseline_m)
    z = checked("depth_m", depth_m, at_least=0.0)
    return z * z * (checked("disparity_std_px", disparity_std_px, at_least=0.0) / (focal * baseline))


def match_loss(cos_incidence: ArrayLike, *, loss: float, grazing_cosine: float) -> Array:
    """Probability that matching fails, p_0 + (1 - p_0) exp(-cos / c) [1]."""
    cosine = checked_cosine("cos_incidence", cos_incidence)
    least = checked("loss", loss, at_least=0.0, at_most=1.0)
    if checked("grazing_cosine", grazing_cosine, at_least=0.0) == 0.0:
        return np.broadcast_to(least, cosine.shape).copy()
    return least + (1.0 - least) * np.exp(-cosine / grazing_cosine)


def stereo_depth(
    depth_m: NDArray[np.float32],
    cos_incidence: NDArray[np.float32],
    seen: NDArray[np.bool_],
    error: StereoError,
    *,
    focal_px: ArrayLike,
    width: int,
    frames: Frames,
) -> None:
    """Measure true depths with two eyes, in place.

    Args:
        depth_m: Along the axis, of all heads, shape (heads, rows * width), contiguous; 0 or infinite without a hit.
            Afterwards 0 without a depth.
        cos_incidence: Of the first eye's ray on the surface, same shape.
        seen: Whether the second eye's ray to the point is free, same shape.
        error: Figures.
        focal_px: Focal length of both eyes along rows [px], one for all heads or one each.
        width: Columns.
        frames: Which images they are.
    """
    numbers = np.array(
        [
            error.disparity_std_px,
            0.0 if error.subpixel_bits is None else 2.0**error.subpixel_bits,
            error.min_disparity_px,
            np.inf if error.max_disparity_px is None else error.max_disparity_px,
            error.loss,
            error.grazing_cosine,
        ],
        np.float32,
    )
    scale = np.broadcast_to(checked("focal_px", focal_px, above=0.0) * error.baseline_m, len(depth_m))
    arrays = depth_m, cos_incidence, seen, numbers, scale.astype(np.float32)
    worker_pool.run(_measure, blocks_of(depth_m), *arrays, width, frames)


@jit.kernel
def _measure(first, step, count, depth, cosine, seen, numbers, scale, width, frames):
    """Blocks first, first + step, ... of all heads."""
    pixels = depth.shape[1]
    blocks = (pixels + BLOCK - 1) // BLOCK
    for number in range(first, count, step):
        head, start = number // blocks, (number % blocks) * BLOCK
        world, base = frames.first_world + head // frames.sensors, (head % frames.sensors) * pixels
        for k in range(start, min(pixels, start + BLOCK)):
            z = depth[head, k]
            if not _ZERO < z < _INFINITE or not seen[head, k]:
                depth[head, k] = _ZERO
                continue
            w0, w1, w2, _ = draw_words(frames.key[0], frames.key[1], base + k, STAGE_STEREO, _DRAW, frames.tick, world)
            normal, _ = normal_pair_f32(w0, w1)
            column = np.float32(k % width)
            depth[head, k] = matched(z, column, cosine[head, k], scale[head], numbers, normal, uniform_f32(w2))


@jit.function
def matched(z, column, cosine, scale, numbers, normal, uniform):
    """Depth that matching gives of a point at a true depth [m], 0 where it gives none; scale is f B [px m]."""
    true = scale / z
    lost = numbers[_LOSS]
    if numbers[_GRAZING] > _ZERO:
        lost += (_ONE - lost) * np.float32(math.exp(-cosine / numbers[_GRAZING]))
    if column - true < -_HALF or uniform < lost:
        return _ZERO
    found = true + numbers[_STD] * normal
    if numbers[_STEPS] > _ZERO:
        found = np.float32(np.rint(found * numbers[_STEPS])) / numbers[_STEPS]
    if found <= _ZERO or found < numbers[_LEAST] or found > numbers[_MOST]:
        return _ZERO
    return scale / found


def _pair(focal_px: float, baseline_m: float) -> tuple[Array, Array]:
    return checked("focal_px", focal_px, above=0.0), checked("baseline_m", baseline_m, above=0.0)

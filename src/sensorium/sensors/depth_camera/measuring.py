"""Measurement of a depth camera's distances, repeated after errors and for the truth."""

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import worker_pool
from sensorium.runtime.recycling import Recycler
from sensorium.sensors.depth_camera.arrays import DepthArrays
from sensorium.sensors.depth_camera.faults import BEHIND_M
from sensorium.sensors.depth_camera.image import DepthImage
from sensorium.tracing.embree.packet import BLOCK
from sensorium.tracing.kernels.depth import measure as ms
from sensorium.tracing.kernels.depth.kernel import DepthAim, DepthDraws, DepthOutputs, Measuring, Pixels, measure_again

if TYPE_CHECKING:
    from sensorium.sensors.depth_camera.depth_camera import DepthCamera

# Bound of normal random numbers
_MOST_SIGMAS = 6.7


class DepthShot(NamedTuple):
    """The rays and the random numbers of an image, from which it can be measured again."""

    aim: DepthAim
    draws: DepthDraws

    def through(self, pixels: Pixels) -> "DepthShot":
        """The same with the present lenses of the pixels."""
        return self._replace(aim=self.aim._replace(pixels=pixels))

    def copy(self) -> "DepthShot":
        """The same in arrays of its own, for rasterized images: the next image overwrites the kernel's arrays."""
        aim, heads = self.aim, self.aim.heads
        heads = heads._replace(matrix=heads.matrix.copy())
        draws = self.draws._replace(tick=self.draws.tick.copy())
        return DepthShot(aim._replace(heads=heads, anchor=aim.anchor.copy()), draws)


class DepthMeasure:
    """Measures distances as a camera does: limits, noise, dropout, unit."""

    def __init__(self, spec: "DepthCamera", heads: int, arrays: DepthArrays, recycler: Recycler) -> None:
        """Prepare the constants.

        Args:
            spec: The camera.
            heads: Cameras of all worlds.
            arrays: Arrays of its images.
            recycler: Source of new arrays.
        """
        self._spec, self._heads, self._arrays, self._recycler = spec, heads, arrays, recycler
        self._count = spec.pattern.width * spec.pattern.height
        self._numbers, self._true_numbers, self.reach_m = _numbers(spec)
        self._noise_numbers = _without_limits(self._numbers)

    def by(self, draws: DepthDraws) -> Measuring:
        """Kernel arguments for measuring an image."""
        return Measuring(self._numbers, self.reach_m, draws)

    def measured(self, shot: DepthShot, distance_m: NDArray[np.float32], *, noise: bool = True) -> DepthOutputs:
        """Measured values of known distances (heads, pixels) [m]."""
        again = self._arrays.new_measured(self._recycler.array)
        self._measure(shot, distance_m, self._numbers if noise else self._true_numbers, again)
        return again

    def noisy(self, shot: DepthShot, distance_m: NDArray[np.float32]) -> NDArray[np.float32]:
        """Known distances with noise, 0 where there is no measurement, before limits."""
        if not (self._spec.noise.multiplier or self._spec.noise.dropout):
            return distance_m
        noisy = self._arrays.new_ranges(self._recycler.array)
        self._measure(shot, distance_m, self._noise_numbers, noisy)
        return noisy.range_m

    def axial(self, shot: DepthShot) -> NDArray[np.float32]:
        """Depth over range of every pixel, (1 | heads, pixels), through random lenses and with their jitter."""
        if not shot.aim.pixels.own_lens:
            return self._spec.pattern.rays().direction_S[..., 0].reshape(1, -1).astype(np.float32)
        ones, depths = np.ones((self._heads, self._count), np.float32), self._arrays.new_depths(self._recycler.array)
        self._measure(shot, ones, _without_limits(self._true_numbers), depths)
        return depths.depth

    def truth(self, image: DepthImage, shot: DepthShot, true_m: NDArray[np.float32]) -> DepthImage:
        """An image without errors from its true distances (heads, pixels) [m]."""
        made = self.measured(shot, true_m, noise=False)
        return replace(image, images={**image.images, **self._arrays.images(made)}, time_ns=image.start_ns)

    def _measure(
        self, shot: DepthShot, distance_m: NDArray[np.float32], numbers: NDArray[np.float32], out: DepthOutputs
    ) -> None:
        """Fill the requested arrays from known distances."""
        measuring = Measuring(numbers, self.reach_m, shot.draws)
        worker_pool.share(measure_again, self._heads * -(-self._count // BLOCK), shot.aim, measuring, distance_m, out)


def without_measurement(spec: "DepthCamera") -> tuple[float, float, float]:
    """Values for too near, too far and dropped, in the image's unit."""
    return spec.near_m / spec.scale_m, spec.far_m / spec.scale_m, spec.dropped_m / spec.scale_m


def _numbers(spec: "DepthCamera") -> tuple[NDArray[np.float32], NDArray[np.float32], np.float32]:
    """Measuring constants with noise and without, and the length of the rays [m]."""
    numbers = np.zeros(ms.MEASURE_COLUMNS, np.float32)
    numbers[[ms.NEAREST, ms.FARTHEST]] = spec.min_range_m, spec.max_range_m
    numbers[[ms.NEAR, ms.FAR, ms.DROPPED]] = without_measurement(spec)
    numbers[ms.SCALE] = 1.0 / spec.scale_m
    true = numbers.copy()
    numbers[[ms.NOISE, ms.DROPOUT]] = spec.noise.multiplier, spec.noise.dropout

    # Errors, noise and faults may move a range within the limits
    least = 1.0 - _MOST_SIGMAS * spec.noise.multiplier
    anywhere = spec.errors or spec.faults.corrupt or least <= 0.0
    return numbers, true, np.float32(np.inf if anywhere else spec.max_range_m / least)


def _without_limits(numbers: NDArray[np.float32]) -> NDArray[np.float32]:
    """The same noise, on ranges of any length in meters: 0 where a pixel is dropped, infinite where nothing is met."""
    noise = numbers.copy()
    noise[[ms.NEAREST, ms.FARTHEST, ms.NEAR, ms.FAR, ms.DROPPED, ms.SCALE]] = 0.0, np.inf, BEHIND_M, np.inf, 0.0, 1.0
    return noise

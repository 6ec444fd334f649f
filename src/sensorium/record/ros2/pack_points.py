"""The loop that lays returns out as the records of a point cloud, in one pass and without the interpreter's lock."""

import numpy as np
from numpy.typing import NDArray

from sensorium.jit import kernel

Words = NDArray[np.uint32]


@kernel
def pack_points(
    out: Words,
    keep: NDArray[np.bool_],
    points: Words,
    intensity: Words,
    time: Words,
    label: Words,
    extra: Words,
    cause: NDArray[np.uint8],
    columns: int,
) -> int:
    """Write a record for each return that is kept; all numbers are moved as words of 32 bits, whatever they mean.

    Args:
        out: Records, shape (returns, words): position, intensity, time, label, what is extra, then ring, cause and
            return number in one word.
        keep: Which are kept, shape (n,); n is all rays of a channel, channel by channel, return after return.
        points: Positions, shape (n, 3 or 6).
        intensity: Shape (n,).
        time: Shape (rays, 1 or 2), the same for every return of a ray.
        label: Shape (n,).
        extra: Shape (n, words), or no words.
        cause: Shape (n,).
        columns: Rays of a channel.

    Returns:
        How many were written.
    """
    of_point, of_time, rays = points.shape[1], time.shape[1], len(time)
    count = 0
    for number in range(len(keep) // rays):
        for ray in range(rays):
            at = number * rays + ray
            if not keep[at]:
                continue
            for k in range(of_point):
                out[count, k] = points[at, k]
            out[count, of_point] = intensity[at]
            for k in range(of_time):
                out[count, of_point + 1 + k] = time[ray, k]
            out[count, of_point + of_time + 1] = label[at]
            for k in range(extra.shape[1]):
                out[count, of_point + of_time + 2 + k] = extra[at, k]
            last = (ray // columns & 0xFFFF) | (np.int64(cause[at]) << 16) | ((number & 0xFF) << 24)
            out[count, of_point + of_time + 2 + extra.shape[1]] = np.uint32(last)
            count += 1
    return count

"""The loop that packs returns into the records of a point cloud, in one pass and without the GIL."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.runtime.jit import kernel

Words = NDArray[np.uint32]


class ReturnWords(NamedTuple):
    """The fields of returns; n is all rays of a channel, channel by channel, return after return."""

    points: Words  # (n, 3 or 6)
    intensity: Words  # (n,)
    label: Words  # (n,)
    extra: Words  # (n, words), or no words
    cause: NDArray[np.uint8]  # (n,)


@kernel
def pack_points(out: Words, keep: NDArray[np.bool_], returns: ReturnWords, time: Words, columns: int) -> int:
    """Write a record for each kept return; all numbers are copied as words of 32 bits, of any type.

    Args:
        out: Records, shape (returns, words): position, intensity, time, label, extra fields, then ring, cause and
            return number in one word.
        keep: Which are kept, shape (n,).
        returns: All returns.
        time: Shape (rays, 1 or 2), the same for every return of a ray.
        columns: Rays of a channel.

    Returns:
        Number of records written.
    """
    points, intensity, label, extra, cause = returns
    of_point, of_time, rays = points.shape[1], time.shape[1], len(time)
    count = 0
    for line in range(len(keep) // columns):
        first = line * columns
        number, first_ray = first // rays, first % rays
        of_line = np.uint32(((number & 0xFF) << 24) | (first_ray // columns & 0xFFFF))
        for column in range(columns):
            at, ray = first + column, first_ray + column
            if not keep[at]:
                continue
            row = out[count]
            row[0], row[1], row[2] = points[at, 0], points[at, 1], points[at, 2]
            for k in range(3, of_point):
                row[k] = points[at, k]
            row[of_point], row[of_point + 1] = intensity[at], time[ray, 0]
            if of_time == 2:
                row[of_point + 2] = time[ray, 1]
            row[of_point + of_time + 1] = label[at]
            for k in range(extra.shape[1]):
                row[of_point + of_time + 2 + k] = extra[at, k]
            row[of_point + of_time + 2 + extra.shape[1]] = of_line | (np.uint32(cause[at]) << np.uint32(16))
            count += 1
    return count

"""Flow in a depth image: motion of the point in each pixel, in space and in the image.

A point on body b is at p in the sensor frame now. Its motion there is an affine map of p, one per head and body: D p +
d. For scene flow that is its velocity; for optical flow its displacement since the previous image, which the lens then
projects: flow = project(p) - project(p - (D p + d)).
"""

import numpy as np

from sensorium.runtime import jit
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import NO_HIT
from sensorium.tracing.kernels.depth.lens import project
from sensorium.tracing.kernels.geometry import rows


@jit.function
def _moved(motion, x, y, z):
    """The affine map of a point, by rows of 3 x 4."""
    return (
        motion[0] * x + motion[1] * y + motion[2] * z + motion[3],
        motion[4] * x + motion[5] * y + motion[6] * z + motion[7],
        motion[8] * x + motion[9] * y + motion[10] * z + motion[11],
    )


@jit.function
def write_scene_flow(block, hit, x, y, z, body, motion, place, used, out):
    """Velocities [m/s] of the points that the rays of a block hit, (pixels, 3); 0 without a hit.

    Args:
        block, hit: Scratch after the trace, with columns found.
        x, y, z: Directions in S, float32.
        body: Body of each object, -1 for the world, int32 (objects,).
        motion: Maps of all bodies, the world's last, float64 (bodies + 1, 12).
        place: Pixel of each ray; used: rays of the block.
        out: Filled.
    """
    for k in range(used):
        p = place[k]
        if hit[rows.COLUMN + k] == NO_HIT:
            out[p, 0], out[p, 1], out[p, 2] = np.float32(0.0), np.float32(0.0), np.float32(0.0)
            continue
        t = np.float64(block[pk.B_T_FAR + k])
        dx, dy, dz = _moved(motion[body[hit[rows.COLUMN + k]]], t * x[k], t * y[k], t * z[k])
        out[p, 0], out[p, 1], out[p, 2] = dx, dy, dz


@jit.function
def write_flow(block, hit, x, y, z, body, motion, lens, place, used, out):
    """Displacements in the image [px] since the previous image, to the right and down, (pixels, 2).

    0 for rays without a hit, and where the point was behind a pinhole. Arguments as above, and the row of the lens.
    """
    for k in range(used):
        p = place[k]
        out[p, 0], out[p, 1] = np.float32(0.0), np.float32(0.0)
        if hit[rows.COLUMN + k] == NO_HIT:
            continue
        t = np.float64(block[pk.B_T_FAR + k])
        px, py, pz = t * x[k], t * y[k], t * z[k]
        dx, dy, dz = _moved(motion[body[hit[rows.COLUMN + k]]], px, py, pz)
        u, v, _ = project(lens, px, py, pz)
        before_u, before_v, seen = project(lens, px - dx, py - dy, pz - dz)
        if seen:
            out[p, 0], out[p, 1] = u - before_u, v - before_v

"""One-sided faces: an Embree filter rejects hits on their backs, so that rays go on.

The filter belongs to the mesh: every trace into it passes the backs, at no cost for other meshes.
"""

from typing import Any

import numba
import numpy as np
from numba.extending import intrinsic

from sensorium.runtime import jit
from sensorium.runtime.jit import c_function, pointer_from_address

ONE_SIDED_AT = 2
"""Index, in the mesh's user data, of the address of one uint8 per face, 1 where it is one-sided."""

# rows of a ray and of a hit as Embree hands them to a filter
_RAY_DIRECTION, _RAY_ROWS = 4, 12
_HIT_FACE, _HIT_ROWS = 5, 9


@jit.kernel
def backs_filter():
    """Address of the filter, for rtcSetGeometryIntersectFilterFunction and its like for occlusion."""
    return _address_of_filter()


def _refuse_backs(arguments):
    """Embree's filter of the hits of a packet: rejects those on one-sided faces that are not hit from the front.

    Rays along the plane of a face count as behind it, as in MuJoCo's `mj_ray`.

    Args:
        arguments: Address of RTCFilterFunctionNArguments: addresses of validity, mesh, context, rays and hits, then
            how many rays. Ray and normal are both in the frame of the mesh.
    """
    given = numba.carray(pointer_from_address(arguments), 6, np.int64)
    lanes = given[5] & np.int64(0xFFFFFFFF)
    valid = numba.carray(pointer_from_address(given[0]), lanes, np.int32)
    mesh = numba.carray(pointer_from_address(given[1]), ONE_SIDED_AT + 1, np.int64)
    ray = numba.carray(pointer_from_address(given[3]), _RAY_ROWS * lanes, np.float32)
    normal = numba.carray(pointer_from_address(given[4]), 3 * lanes, np.float32)
    hit = numba.carray(pointer_from_address(given[4]), _HIT_ROWS * lanes, np.uint32)
    for lane in range(lanes):
        if valid[lane] == 0:
            continue
        face = np.int64(hit[_HIT_FACE * lanes + lane])
        if numba.carray(pointer_from_address(mesh[ONE_SIDED_AT] + face), 1, np.uint8)[0] == 0:
            continue
        dot = (
            normal[lane] * ray[_RAY_DIRECTION * lanes + lane]
            + normal[lanes + lane] * ray[(_RAY_DIRECTION + 1) * lanes + lane]
            + normal[2 * lanes + lane] * ray[(_RAY_DIRECTION + 2) * lanes + lane]
        )
        if not dot < np.float32(0.0):
            valid[lane] = 0


@intrinsic
def _address_of_filter(typing_context: Any) -> Any:
    """Address of `_refuse_backs` as a C function, compiled and cached with the calling kernel."""
    return c_function(_refuse_backs, "sensorium_refuse_backs")

"""Buffers of hits along the rays of an image while it is rasterized, and the division of images into pieces."""

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from sensorium.runtime import jit, worker_pool
from sensorium.scene.layout import Layout
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import BLOCK, TILE_COLUMNS, TILE_ROWS, WIDTH, copy_lanes, every_lane, lanes_of

# An object is rasterized if it has at most this many triangles for each pixel it may cover, else traced
FACES_A_PIXEL = 4.0

# Worlds of more objects for each pixel are traced from the top
_OBJECTS_A_PIXEL = 0.125

# Rays of an image that are processed together: their hits stay in the second-level cache, several threads get work, and
# none is woken for less than some tens of microseconds of work. An object in two pieces is transformed into the
# camera's frame twice, so small images are divided only if threads would idle otherwise.
_MOST_RAYS, _FEWEST_RAYS, _FEWEST_SPANS = 16384, 4096, 8
_FEWEST_RAYS_A_THREAD = 2048


class Frame(NamedTuple):
    """The grid of an image, and its pieces."""

    width: int  # [px], both of whole tiles
    height: int
    span: int  # rays that are worked on together: rows of tiles, or blocks where images are traced
    most_vertices: int  # of a mesh that may be drawn
    rasterized: bool


def frame(width: int, height: int, heads: int, layout: Layout, *, one_instant: bool) -> Frame:
    """Division of images into pieces for the present number of threads. It does not affect the images.

    Args:
        width, height: Of an image [px].
        heads: How many images are taken together.
        layout: Of the scene.
        one_instant: Whether rays all start at one time from one place through the middles of pixels.
    """
    pixels, row = width * height, width * TILE_ROWS
    whole = width % TILE_COLUMNS == 0 and height % TILE_ROWS == 0
    if not one_instant or not whole or layout.mesh_index.shape[1] > _OBJECTS_A_PIXEL * pixels:
        return Frame(width, height, BLOCK, 0, False)
    fewest = min(_FEWEST_RAYS, max(_FEWEST_RAYS_A_THREAD, pixels * heads // worker_pool.get_threads()))
    rays = min(_MOST_RAYS, max(fewest, pixels * heads // _FEWEST_SPANS))
    small = [len(mesh.vertices) for mesh in layout.meshes if len(mesh.faces) <= FACES_A_PIXEL * pixels]
    return Frame(width, height, min(pixels, -(-rays // row) * row), max(small, default=0), True)


class Canvas(NamedTuple):
    """Nearest hits so far along some rays of an image, in the order of tiles."""

    distance: NDArray[np.float32]
    face: NDArray[np.uint32]
    instance: NDArray[np.uint32]
    item: NDArray[np.uint32]
    vertex: NDArray[np.float64]  # (5, most vertices) of the object being drawn
    matrix: NDArray[np.float64]  # (12,) its pose in the camera's frame: rows forward, right and down
    seen: NDArray[np.int64]  # (objects, 7) those in view: array, item, mesh, and the pixels they may cover
    order: NDArray[np.int64]  # (objects,) their numbers, nearest first
    nearest: NDArray[np.float64]  # (objects,) how near these are [m]


@jit.function
def new_canvas(frame, objects):
    """Scratch for `span` rays of an image of this many objects."""
    size, most = (frame.span, objects) if frame.rasterized else (0, 0)
    return Canvas(
        jit.empty(size, np.float32),
        jit.empty(size, np.uint32),
        jit.empty(size, np.uint32),
        jit.empty(size, np.uint32),
        jit.empty((5, frame.most_vertices), np.float64),
        jit.empty(12, np.float64),
        jit.empty((most, 7), np.int64),
        jit.empty(most, np.int64),
        jit.empty(most, np.float64),
    )


@jit.function
def take_rasterized(canvas, at, block, hit, used):
    """Copy the hits of `used` rays from `at` on into a block, which has room for whole packets."""
    for k in range(0, used, WIDTH):
        copy_lanes(block, pk.B_T_FAR + k, canvas.distance, at + k)
        copy_lanes(hit, pk.B_FACE + k, canvas.face, at + k)
        copy_lanes(hit, pk.B_INSTANCE + k, canvas.instance, at + k)
        copy_lanes(hit, pk.B_ITEM + k, canvas.item, at + k)


@intrinsic
def any_farther(typing_context: Any, distance: Any, at: Any, limit: Any) -> Any:
    """Whether any of the distances of a tile is above a limit."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        lanes = builder.load(lanes_of(context, builder, signature.args[0], values[0], values[1]), align=4)
        above = builder.fcmp_ordered(">", lanes, every_lane(builder, values[2]))
        bits = builder.bitcast(above, ir.IntType(WIDTH))
        return builder.icmp_unsigned("!=", bits, ir.Constant(ir.IntType(WIDTH), 0))

    return types.boolean(distance, types.intp, types.float32), generate

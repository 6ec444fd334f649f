"""The order in which rays of an image are cast: small tiles, one per packet.

Rays of a tile traverse the same parts of a scene; rays of one row diverge sooner.
"""

import numpy as np
from numpy.typing import NDArray

from sensorium.tracing.embree.packet import TILE_COLUMNS, TILE_ROWS


def in_tiles(width: int, height: int) -> NDArray[np.uint32]:
    """Pixels of an image tile by tile, row by row inside; shape (width * height,)."""
    v, u = np.divmod(np.arange(width * height), width)
    return np.lexsort((u, v, u // TILE_COLUMNS, v // TILE_ROWS)).astype(np.uint32)

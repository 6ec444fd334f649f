"""Bundles followed through a partitioned scene, as light/in_parts.py does with rays."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.tracing.kernels.light.in_parts import Collect, RemoteHits, walk_through
from sensorium.tracing.kernels.light.tables import LightTables
from sensorium.tracing.kernels.sweep import Heads, RayTables

# Active blocks of bundles: up to two megabytes each, for deep trees or for histograms
_MOST_WALKS = 64


def bundles_in_parts(
    kernel: Callable[..., None],
    new_walks: Callable[[int], Any],
    what: tuple[Any, ...],
    out: Any,
    remote_hits: RemoteHits,
    collect: Collect,
    numbers: NDArray[np.int64],
    anchor: NDArray[np.float64],
    rays: RayTables,
    heads: Heads,
    light: LightTables,
) -> None:
    """Fire some blocks of bundles of one world, and follow their light through the parts.

    Args:
        kernel: Advances blocks to their next trace, `follow_beams` or `follow_pulses`.
        new_walks: Allocates arrays for a number of blocks.
        what: Arguments of the kernel between the tables of light and the walks.
        out: Arrays for the returns.
        remote_hits: Finds hits in that world; collect: finds crossings of volumes there.
        numbers: Of the blocks, among those of all heads.
        anchor: Of all worlds [m], shape (worlds, 3).
        rays: The axes of the bundles.
        heads: Sensors that fire them.
        light: Materials and media of the scene.
    """
    walks = new_walks(min(_MOST_WALKS, len(numbers)))
    where = (anchor, rays, heads, light, *what, walks, out)
    walk_through(kernel, where, walks.bundles.rays, remote_hits, collect, numbers, light)

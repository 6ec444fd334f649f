"""Beams of several rays followed through a scene that lies in parts, as light/in_parts.py does it with rays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.tracing.kernels.beams.stages import follow_beams, new_beam_walks
from sensorium.tracing.kernels.beams.tables import BeamTables
from sensorium.tracing.kernels.light.in_parts import Collect, RemoteHits, walk_through
from sensorium.tracing.kernels.light.kernel import LightOutputs
from sensorium.tracing.kernels.light.tables import LightTables
from sensorium.tracing.kernels.sweep import Heads, RayTables

# Blocks of beams under way at once: up to two megabytes each, for deep trees
_MOST_WALKS = 64


def beams_in_parts(
    remote_hits: RemoteHits,
    collect: Collect,
    numbers: NDArray[np.int64],
    anchor: NDArray[np.float64],
    rays: RayTables,
    heads: Heads,
    light: LightTables,
    unlimited: LightTables,
    tables: BeamTables,
    draws: Any,
    out: LightOutputs,
) -> None:
    """Fire some blocks of beams of one world, and follow their light through the parts.

    Args:
        remote_hits: Finds hits in that world; collect: finds crossings of volumes there.
        numbers: Of the blocks, among those of all heads.
        anchor: Of all worlds [m], shape (worlds, 3).
        rays: The axes of beams.
        heads: Where they are fired from.
        light, unlimited, tables, draws: As for `sweep_beams`.
        out: Where the returns go.
    """
    walks = new_beam_walks(min(_MOST_WALKS, len(numbers)), light, tables)
    where = (anchor, rays, heads, light, unlimited, tables, draws, walks, out)
    walk_through(follow_beams, where, walks.rays, remote_hits, collect, numbers, light)

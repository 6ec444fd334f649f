"""Pulses followed through a scene that lies in parts, as light/in_parts.py does it with rays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.tracing.kernels.light.in_parts import Collect, RemoteHits, walk_through
from sensorium.tracing.kernels.light.tables import LightTables
from sensorium.tracing.kernels.sweep import Heads, RayTables
from sensorium.tracing.kernels.waveform.kernel import WaveformOutputs
from sensorium.tracing.kernels.waveform.stages import follow_pulses, new_pulse_walks
from sensorium.tracing.kernels.waveform.tables import WaveformTables

# Blocks of pulses under way at once: one or two megabytes each, most of it histograms
_MOST_WALKS = 64


def pulses_in_parts(
    remote_hits: RemoteHits,
    collect: Collect,
    numbers: NDArray[np.int64],
    anchor: NDArray[np.float64],
    rays: RayTables,
    heads: Heads,
    light: LightTables,
    tables: WaveformTables,
    draws: Any,
    rare: NDArray[np.float64],
    out: WaveformOutputs,
) -> None:
    """Fire some blocks of pulses of one world, and follow their light through the parts.

    Args:
        remote_hits: Finds hits in that world; collect: finds crossings of volumes there.
        numbers: Of the blocks, among those of all heads.
        anchor: Of all worlds [m], shape (worlds, 3).
        rays: The axes of pulses.
        heads: Where they are fired from.
        light: What they may hit; tables: what becomes of it; draws, rare: as for `sweep_waveform`.
        out: Where returns and waveforms go.
    """
    walks = new_pulse_walks(min(_MOST_WALKS, len(numbers)), light, tables)
    where = (anchor, rays, heads, light, tables, draws, rare, walks, out)
    walk_through(follow_pulses, where, walks.rays, remote_hits, collect, numbers, light)

"""One cast of a lidar that follows light: single rays, beams of several rays, or pulses with waveforms.

The kernels of beams and of pulses are imported when the first such cast runs.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import worker_pool
from sensorium.tracing.aim import Aim
from sensorium.tracing.kernels.bundles.tables import V_PULSES
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.light.in_parts import walk_through
from sensorium.tracing.kernels.light.kernel import LightOutputs, sweep_light
from sensorium.tracing.kernels.light.stages import follow_light, new_walks
from sensorium.tracing.kernels.sweep import SweepScene

if TYPE_CHECKING:
    from sensorium.tracing.kernels.bundles.tables import BeamTables
    from sensorium.tracing.kernels.waveform.kernel import WaveformOutputs
    from sensorium.tracing.kernels.waveform.tables import WaveformTables


# Active blocks of rays: about a kilobyte for each of their rays, some 130 MB, and more for deep trees
# Active blocks of bundles: up to two megabytes each, for deep trees or for histograms
_MOST_WALKS, _MOST_BUNDLES = 256, 64


class Draws(NamedTuple):
    """Counter words of the kernel's random numbers."""

    key: NDArray[np.uint32]  # (2,)
    tick: int
    first_world: int
    sensors: int


class BeamCast(NamedTuple):
    """Additional tables for beams of several rays."""

    tables: "BeamTables"
    unlimited: tb.LightTables
    """The tables of light without limits of range and strength, for the air along single rays."""


class PulseCast(NamedTuple):
    """Additional tables for pulses."""

    tables: "WaveformTables"
    scratch: NDArray[np.float64]
    """Of the decomposition, (threads, SCRATCH); (threads, 0) for other detectors, so that all share one kernel."""
    out: "WaveformOutputs"


class LightCast(NamedTuple):
    """Tables and output arrays of one cast, independent of the scene."""

    light: tb.LightTables
    draws: Draws
    out: LightOutputs
    beams: BeamCast | None = None
    pulses: PulseCast | None = None

    @property
    def blocks(self) -> int:
        """Blocks of beams or pulses over all heads; plain rays have those of their aim."""
        heads, _, rays = self.out.range_m.shape
        bundles = self.beams or self.pulses
        assert bundles is not None
        return heads * -(-rays // int(bundles.tables.switch[V_PULSES]))


def cast_light(scene: SweepScene, aim: Aim, cast: LightCast) -> None:
    """Cast into a scene in the memory of this process, as placed.

    Args:
        scene: The scene as placed.
        aim: Rays and mounts.
        cast: Tables and output arrays.
    """
    where = (scene, aim.for_kernel, cast.light, cast.draws)
    if cast.beams is not None:
        from sensorium.tracing.kernels.beams.kernel import sweep_beams

        worker_pool.run(sweep_beams, cast.blocks, *where, cast.beams, cast.out, serial_below=2)
    elif cast.pulses is not None:
        from sensorium.tracing.kernels.waveform.kernel import sweep_waveform

        worker_pool.run(sweep_waveform, cast.blocks, *where, cast.pulses, serial_below=2)
    else:
        worker_pool.run(sweep_light, aim.blocks, *where, cast.out)


def cast_light_in_parts(
    remote_hits: Callable[..., Any], collect: Callable[..., Any], world: int, worlds: int, aim: Aim, cast: LightCast
) -> None:
    """Cast the rays of one world into a partitioned scene.

    Args:
        remote_hits: Finds hits in that world; collect: finds crossings of volumes there.
        world: Number of the world; worlds: number of worlds.
        aim: Rays and mounts of all worlds.
        cast: Tables and output arrays.
    """
    light = cast.light
    blocks = aim.blocks if cast.beams is None and cast.pulses is None else cast.blocks
    numbers = np.arange(blocks).reshape(worlds, -1)[world]
    bundles = min(_MOST_BUNDLES, len(numbers))
    kernel: Callable[..., None]
    what: tuple[Any, ...]
    walks: Any
    if cast.beams is not None:
        from sensorium.tracing.kernels.beams.stages import follow_beams, new_beam_walks

        walks = new_beam_walks(bundles, light, cast.beams.tables)
        kernel, traced, what = follow_beams, walks.bundles.rays, (walks, cast.beams, cast.out)
    elif cast.pulses is not None:
        from sensorium.tracing.kernels.waveform.stages import follow_pulses, new_pulse_walks

        walks = new_pulse_walks(bundles, light, cast.pulses.tables)
        kernel, traced, what = follow_pulses, walks.bundles.rays, (walks, cast.pulses)
    else:
        walks = traced = new_walks(min(_MOST_WALKS, len(numbers)), light, int(light.switch[tb.S_SLOTS]) + 1)
        kernel, what = follow_light, (walks, cast.out)
    where = (aim.for_kernel, light, cast.draws, *what)
    walk_through(kernel, where, traced, remote_hits, collect, numbers, light)

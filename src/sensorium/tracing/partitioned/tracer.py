"""What lidars of one environment share where its scene lies in parts: the caster, and how the bodies move."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.scene.partition.in_parts import SceneInParts
from sensorium.tracing.caster import RawHits
from sensorium.tracing.embree.crossings import RawCrossings
from sensorium.tracing.kernels.light.remote_hits import LightHits
from sensorium.tracing.partitioned.caster import PartitionedCaster
from sensorium.tracing.partitioned.messages import Bodies
from sensorium.tracing.placement.motion import MAX_SEGMENTS
from sensorium.tracing.rays import Rays
from sensorium.worlds.history import History


class PartsTracer:
    """Casts into the parts with the bodies moving as the history says; what `Tracer` is for a scene in memory."""

    def __init__(
        self, scene: SceneInParts, body_names: tuple[str, ...], history: History, *, around_index: float = 1.0
    ) -> None:
        """Start a process for each part.

        Args:
            scene: The parts.
            body_names: Bodies of the world.
            history: Where they were.
            around_index: Refractive index of the atmosphere.
        """
        known = ", ".join(body_names) or "none"
        for name in scene.bodies:
            if name not in body_names:
                raise SpecError(
                    f"an object of the scene is on body {name!r}, which the world does not have (it has: {known})"
                )
        self._columns = [body_names.index(name) for name in scene.bodies]
        self._history = history
        self.layout = scene.layout(around_index=around_index)
        self.caster = PartitionedCaster(scene.folder, around_index=around_index)

    def let_hide(self, bodies: Iterable[str]) -> None:
        """Nothing to prepare: parts hide what a question names."""

    def forget_placement(self) -> None:
        """Nothing to forget: each question brings the poses of the bodies."""

    def bodies_during(self, start_ns: int, end_ns: int) -> list[Bodies]:
        """How the bodies of the scene moved from start to end, in each world; one knot for an instant."""
        times_ns = self._history.knots(start_ns, end_ns, most=MAX_SEGMENTS)
        positions, quaternions = self._history.motion(times_ns)
        return [
            Bodies(self.caster.bodies, positions[:, world, self._columns], quaternions[:, world, self._columns])
            for world in range(positions.shape[1])
        ]

    def cast(self, rays: Rays, anchor: NDArray[np.float64], bodies: Bodies, hide: Iterable[str]) -> RawHits:
        """Nearest hits of a lidar's rays in one world, through fog banks and the like.

        Args:
            rays: One row a ray; origins count from the anchor.
            anchor: Of the world [m], shape (3,).
            bodies: How they move while the rays fire.
            hide: Bodies that the rays pass through.
        """
        return self.caster.cast_from_anchor(rays, anchor, bodies, hide=frozenset(hide), air=False)

    def collect_volumes(
        self, rays: Rays, anchor: NDArray[np.float64], bodies: Bodies, hide: Iterable[str], *, curved: bool
    ) -> RawCrossings:
        """All faces of volumes that rays cross in one world; arguments as for `remote_hits`."""
        return self.caster.collect_volumes(rays, anchor, bodies, hide=frozenset(hide), curved=curved)

    def remote_hits(
        self,
        rays: Rays,
        clear_m: NDArray[np.float32],
        anchor: NDArray[np.float64],
        bodies: Bodies,
        hide: Iterable[str],
        *,
        coherent: bool,
        curved: bool,
    ) -> LightHits:
        """Nearest surfaces in one world for light that is followed, see `PartitionedCaster.remote_hits`."""
        how = {"hide": frozenset(hide), "coherent": coherent, "curved": curved}
        return self.caster.remote_hits(rays, clear_m, anchor, bodies, **how)

    def close(self) -> None:
        """End the processes."""
        self.caster.close()

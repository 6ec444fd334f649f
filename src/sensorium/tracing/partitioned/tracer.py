"""Shared state of an environment's lidars for a partitioned scene: the caster, and the motion of the bodies."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.runtime import worker_pool
from sensorium.scene.partition.in_parts import SceneInParts
from sensorium.tracing.aim import Aim
from sensorium.tracing.kernels.geometry.ray_errors import RayErrors
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.sweep import SweepOutputs
from sensorium.tracing.light_cast import LightCast, cast_light_in_parts
from sensorium.tracing.partitioned.caster import PartitionedCaster
from sensorium.tracing.partitioned.messages import Bodies
from sensorium.tracing.partitioned.sweep_in_parts import aim_sweep, write_sweep
from sensorium.tracing.placement.motion import MAX_SEGMENTS
from sensorium.tracing.rays import Rays, new_hits, new_rays
from sensorium.worlds.history import History


class PartsTracer:
    """Casts into the parts with the bodies moving as in the history: the `SceneBackend` of a partitioned scene."""

    gives_normals = False

    def __init__(
        self, scene: SceneInParts, body_names: tuple[str, ...], history: History, *, around_index: float = 1.0
    ) -> None:
        """Start a process for each part.

        Args:
            scene: The parts.
            body_names: Bodies of the world.
            history: History of their poses.
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

    def register_hidden(self, bodies: Iterable[str]) -> None:
        """Nothing to prepare: each request lists the bodies to hide."""

    def forget_placement(self) -> None:
        """Nothing to forget: each request includes the poses of the bodies."""

    def placement(self, start_ns: int, end_ns: int, anchor: NDArray[np.float64]) -> "PartsPlacement":
        """Motion of the bodies from start to end, which each request includes."""
        return PartsPlacement(self.caster, self.bodies_during(start_ns, end_ns))

    def bodies_during(self, start_ns: int, end_ns: int) -> list[Bodies]:
        """Motion of the scene's bodies from start to end, in each world; one knot for an instant."""
        times_ns = self._history.knots(start_ns, end_ns, most=MAX_SEGMENTS)
        positions, quaternions = self._history.motion(times_ns)
        return [
            Bodies(self.caster.bodies, positions[:, world, self._columns], quaternions[:, world, self._columns])
            for world in range(positions.shape[1])
        ]

    def close(self) -> None:
        """End the processes."""
        self.caster.close()


class PartsPlacement:
    """Motion of a partitioned scene's bodies over one interval, in each world."""

    def __init__(self, caster: PartitionedCaster, motion: Sequence[Bodies]) -> None:
        self._caster, self._motion = caster, motion

    def cast_sweep(
        self,
        aim: Aim,
        hide: Iterable[str],
        limits: NDArray[np.float32],
        errors: RayErrors | None,
        normals: NDArray[np.float32] | None,
        out: SweepOutputs,
        *,
        in_world: bool,
    ) -> None:
        """Fill in the first surface of each ray, world by world, see `Placement`."""
        assert normals is None, "parts tell no normals"
        total = out.range_m.size
        each = total // len(self._motion)
        rays, found = new_rays(total), new_hits(total)
        worker_pool.run(aim_sweep, aim.blocks, aim.for_kernel, limits[1], errors, rays)
        for world, bodies in enumerate(self._motion):
            here = slice(world * each, (world + 1) * each)
            own = Rays._make(column[here] for column in rays)
            hits = self._caster.cast_from_anchor(own, aim.anchor[world], bodies, hide=frozenset(hide), air=False)
            for column, part in zip(found, hits, strict=True):
                column[here] = part
        worker_pool.run(write_sweep, aim.blocks, aim.for_kernel, limits, in_world, found, errors, out)

    def cast_light(self, aim: Aim, hide: Iterable[str], cast: LightCast) -> None:
        """Fill in the returns of each ray, with light followed, world by world."""
        curved = bool(cast.light.switch[tb.S_CURVED])
        for world, bodies in enumerate(self._motion):
            near = {"anchor": aim.anchor[world], "bodies": bodies, "hide": frozenset(hide), "curved": curved}
            find = partial(self._caster.remote_hits, **near), partial(self._caster.collect_volumes, **near)
            cast_light_in_parts(*find, world, len(self._motion), aim, cast)

    def restored(self) -> AbstractContextManager[None]:
        """Nothing to restore: each request includes the poses of the bodies."""
        return nullcontext()

    def redrawn_worlds(self) -> NDArray[np.bool_]:
        """None: scenes in parts are never redrawn."""
        return np.zeros(len(self._motion), np.bool_)

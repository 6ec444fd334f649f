"""Effects of strong light on the returns of a lidar, after the light kernel: blooming, crosstalk, folding, saturation.

The kernel writes every return along the whole length of each ray; the reported returns are selected here, see
`tracing/kernels/strong_light/strong_light.py`.
"""

import math
from typing import TYPE_CHECKING

import numpy as np

from sensorium.patterns import RayTable
from sensorium.physics.optics.detection.range_ambiguity import unambiguous_range
from sensorium.physics.optics.detection.range_walk import walk_scale_m
from sensorium.runtime import worker_pool
from sensorium.runtime.recycling import Recycler
from sensorium.sensors.common.spec import Rig
from sensorium.sensors.lidar.blooming import Blooming
from sensorium.sensors.lidar.light_tables import white_at
from sensorium.sensors.lidar.other_lidars import OtherLidars
from sensorium.tracing.aim import Aim
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.light.kernel import LightOutputs
from sensorium.tracing.kernels.strong_light import bloom as bm
from sensorium.tracing.kernels.strong_light import strong_light as sl
from sensorium.tracing.light_cast import LightCast

if TYPE_CHECKING:
    from sensorium.sensors.lidar.lidar import Lidar


class StrongLight:
    """Selects the reported returns among all returns of the rays."""

    def __init__(self, spec: "Lidar", rig: Rig, tables: tb.LightTables) -> None:
        """Prepare.

        Args:
            spec: The lidar; at least one of its strong-light options is given.
            rig: Mount of the lidar.
            tables: Tables of the lidar as it reports; the attribute `tables` holds those for the kernel.
        """
        index = float(tables.number[tb.N_CALIBRATED_INDEX])
        number = np.zeros(sl.STRONG_NUMBERS)
        number[sl.X_NEAR], number[sl.X_FAR] = spec.min_range_m, spec.max_range_m
        number[sl.X_SEPARATION] = spec.beam.least_separation_m
        if spec.saturation is not None:
            number[sl.X_LEVEL], number[sl.X_TRIGGER] = spec.saturation.level, spec.saturation.trigger
            number[sl.X_WALK_M] = walk_scale_m(spec.beam.pulse_s, index)
        reported = {"dual": 2, "all": spec.max_returns}.get(spec.returns, 1)
        several = spec.max_depth > 0 or spec.beam.rays > 1 or tables.switch[tb.S_CROSSINGS] > 0
        self.kept = sl.MOST_KEPT if several else 2
        """Number of returns per ray that the kernel writes: without a ray tree one from a surface and one from the
        air."""

        # The kernel writes all returns, up to the length of the rays
        sent = tables.number.copy()
        if spec.repetition is not None:
            number[sl.X_UNAMBIGUOUS] = unambiguous_range(spec.repetition.rate_hz, index=index)
            sent[[tb.N_FAR, tb.N_LATE, tb.N_LATEST, tb.N_MOST]] = spec.repetition.reach_m
        switch = tables.switch.copy()
        switch[tb.S_RETURNS], switch[tb.S_SLOTS] = tb.ALL, self.kept
        self.tables = tables._replace(number=sent, switch=switch)
        self._tables = sl.StrongTables(number, int(tables.switch[tb.S_RETURNS]), reported)
        self._blooming = spec.blooming
        self._others = OtherLidars(spec, rig, self.tables) if spec.crosstalk is not None else None
        self._recycler = Recycler()

    def settle(
        self,
        cast: LightCast,
        aim: Aim,
        table: RayTable,
        start_ns: int,
        end_ns: int,
        out: LightOutputs,
    ) -> LightOutputs:
        """Select and change the reported returns.

        Args:
            cast: The cast, with every return of each ray.
            aim: Rays and mounts.
            table: The rays fired.
            start_ns: Start of the sweep [ns].
            end_ns: Its end [ns].
            out: Arrays to fill; the sunlight in them stays that of the cast.
        """
        found, light, draws = cast.out, cast.light, cast.draws
        stray, kind = self._room(found), 0
        if self._blooming is not None:
            self._bloom(self._blooming, found, aim, light, kind, stray)
            kind += 1
        if self._others is not None:
            self._others.add(found, aim, light, draws.tick, table, start_ns, end_ns, kind, stray)
        out = out._replace(ambient=found.ambient)
        where = (aim.for_kernel, light, draws, self._tables)
        worker_pool.run(sl.settle_strong, aim.blocks, *where, found, stray, out)
        return out

    def _room(self, found: LightOutputs) -> sl.StrayLight:
        """Empty arrays for stray light."""
        heads, _, rays = found.range_m.shape
        kinds = (self._blooming is not None) + (self._others is not None)
        new = self._recycler.array
        room = sl.StrayLight(
            *(
                new((heads, kinds, rays), dtype)
                for dtype in (np.float32, np.float32, np.uint8, np.int32, np.int32, np.int32)
            )
        )
        room.cause.fill(0)
        return room

    def _bloom(
        self,
        blooming: Blooming,
        found: LightOutputs,
        aim: Aim,
        light: tb.LightTables,
        kind: int,
        stray: sl.StrayLight,
    ) -> None:
        """Stray light of the returns that are stronger than that of a white target."""
        seen = (found.cause != tb.NO_CAUSE) & (found.cause != tb.BY_FALSE_ALARM)
        head, slot, ray = np.nonzero(seen & (found.intensity > 0.0))
        at = (head, slot, ray)
        strong = found.intensity[at] > blooming.above * white_at(light, found.range_m[at])
        head, slot, ray = head[strong], slot[strong], ray[strong]
        if not len(head):
            return
        reach_deg = min(10.0 * blooming.radius_deg, 90.0) if blooming.reach_deg is None else blooming.reach_deg
        numbers = np.zeros(bm.BLOOM_NUMBERS)
        numbers[bm.B_STRENGTH], numbers[bm.B_RADIUS] = blooming.strength, math.radians(blooming.radius_deg)
        numbers[bm.B_SLOPE], numbers[bm.B_CHORD] = blooming.slope, 2.0 * math.sin(math.radians(reach_deg) / 2.0)
        key, count = np.zeros(len(head), np.int64), bm.cubes(numbers[bm.B_CHORD])
        bm.cube_keys(aim.rays, head, ray, numbers[bm.B_CHORD], count, key)
        order = np.argsort(key, kind="stable")
        power = found.intensity[head, slot, ray].astype(np.float64)
        sources = bm.Sources(key[order], slot[order], ray[order], power[order], bm.cubes_around(key, count))
        worker_pool.run(bm.add_bloom, aim.blocks, aim.rays, numbers, count, sources, found, kind, stray)

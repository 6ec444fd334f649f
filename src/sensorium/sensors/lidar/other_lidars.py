"""Pulses of the other lidars of an environment that a lidar receives."""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.clock import NS_PER_S, Rate, seconds_to_ns
from sensorium.core.errors import SpecError
from sensorium.patterns import RayTable
from sensorium.random import Stream
from sensorium.runtime import worker_pool
from sensorium.sensors.common.firing import Firing
from sensorium.sensors.common.spec import Rig
from sensorium.sensors.lidar.receiver_tables import optical_efficiency, receiver_area_m2
from sensorium.sensors.lidar.sweep_caster import SweepCaster
from sensorium.tracing.aim import Aim
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.light.kernel import LightOutputs
from sensorium.tracing.kernels.strong_light import crosstalk as ct
from sensorium.tracing.kernels.strong_light import strong_light as sl
from sensorium.tracing.partitioned.sweep_in_parts import aim_sweep
from sensorium.tracing.rays import new_rays

if TYPE_CHECKING:
    from sensorium.sensors.lidar.lidar import Lidar


class _Other(NamedTuple):
    """A lidar whose light is received."""

    spec: "Lidar"
    rig: Rig
    caster: SweepCaster
    firing: Firing
    number: NDArray[np.float64]
    stream: Stream


class OtherLidars:
    """Finds the pulses that other lidars fire during a sweep, and their arrivals."""

    def __init__(self, spec: "Lidar", rig: Rig, tables: tb.LightTables) -> None:
        assert spec.crosstalk is not None
        self._spec, self._rig = spec, rig
        self._spread_s = spec.crosstalk.clock_spread_s
        self._known: dict[str, _Other | None] = {}
        self._fired: dict[tuple[str, int, int], RayTable | None] = {}
        self._radiometric = bool(tables.switch[tb.S_RADIOMETRIC])

    def add(
        self,
        found: LightOutputs,
        aim: Aim,
        light: tb.LightTables,
        tick: int,
        table: RayTable,
        start_ns: int,
        end_ns: int,
        kind: int,
        stray: sl.StrayLight,
    ) -> None:
        """Add their light to a row of stray light, the strongest of all for each ray; arguments as for `settle`."""
        fired_s = table.offset_ns.reshape(-1) / NS_PER_S
        for name, other in self._audible():
            fired = self._pulses(name, other, start_ns, end_ns)
            if fired is None:
                continue
            pulses = self._traced(other, fired, start_ns, end_ns, tick)
            where = (aim.for_kernel, light, fired_s, pulses)
            worker_pool.run(ct.add_crosstalk, aim.blocks, *where, found, kind, stray)

    def _audible(self) -> list[tuple[str, _Other]]:
        """Lidars that are switched on and whose light passes the filter, in the order they were attached."""
        heard = []
        for name, attached in self._rig.attached_sensors.items():
            if name not in self._known:
                self._known[name] = self._looked_at(attached.spec, attached.rig, name)
            other = self._known[name]
            if other is not None and attached.enabled:
                heard.append((name, other))
        return heard

    def _looked_at(self, spec: object, rig: Rig, name: str) -> _Other | None:
        """Constants of an interfering sensor; None if it is not received."""
        from sensorium.sensors.lidar.lidar import Lidar

        is_own = name == self._rig.name
        if not isinstance(spec, Lidar) or spec.mode == "geometric" or spec.motion == "snapshot":
            return None
        apart_m = abs(spec.beam.wavelength_m - self._spec.beam.wavelength_m)
        if apart_m > self._spec.receiver.filter_width_m / 2.0 or (is_own and rig.sensors == 1):
            return None
        if spec.randomize is not None:
            raise SpecError(
                f"{self._rig.name!r} has crosstalk and hears {name!r}, whose placement is drawn; it must be known"
            )
        rig = self._rig if is_own else rig
        far_m = max(spec.max_range_m, self._spec.max_range_m)
        caster = SweepCaster(rig, 0.0, far_m, in_world=True)
        stream = Stream(self._rig.seed, f"{self._rig.name}/crosstalk/{name}")
        return _Other(spec, rig, caster, Firing(rig), self._numbers(spec), stream)

    def _numbers(self, other: "Lidar") -> NDArray[np.float64]:
        """Numbers of the kernel, see `tracing/kernels/strong_light/crosstalk.py`."""
        own, number = self._spec, np.zeros(ct.CROSSTALK_NUMBERS)
        number[ct.C_COS_FIELD] = math.cos(own.receiver.half_field_rad)
        number[ct.C_NEAR], number[ct.C_FAR] = own.min_range_m, own.max_range_m
        number[ct.C_AREA], number[ct.C_EXIT_M] = receiver_area_m2(own), other.beam.exit_radius_m
        number[ct.C_WIDENING] = math.tan(other.beam.widest_rad)
        if self._radiometric:
            # Optics efficiency counts out and back; each lidar contributes half of the path
            number[ct.C_DIRECT] = other.receiver.peak_power_W * math.sqrt(other.receiver.efficiency)
            number[ct.C_DIRECT] *= optical_efficiency(own) / math.sqrt(own.receiver.efficiency)
            number[ct.C_SCATTERED] = other.receiver.peak_power_W / own.receiver.peak_power_W
            number[ct.C_SCATTERED] *= math.sqrt(other.receiver.efficiency / own.receiver.efficiency)
        else:
            # Far out, the beam's captured share 2 R^2 / (z tan)^2 corresponds to pi R^2 / z^2 of the light per sr from
            # a surface
            number[ct.C_SCATTERED], number[ct.C_DIRECT] = 1.0, 2.0 / (math.pi * math.tan(own.beam.widest_rad) ** 2)
        return number

    def _pulses(self, name: str, other: _Other, start_ns: int, end_ns: int) -> RayTable | None:
        """Rays that the other lidar fires in an interval, in order of time; None if there are none."""
        pattern = other.spec.pattern
        rate = Rate(pattern.rate_hz, seconds_to_ns(other.spec.timing.phase_s))
        duration_ns = pattern.rays(0).duration_ns
        ticks = rate.ticks_between(start_ns - duration_ns, end_ns - 1)
        if not len(ticks):
            return None

        # The table of a repeating pattern repeats too, as long as both lidars have the same phase
        key = (name, rate.time_ns(ticks.start) - start_ns, end_ns - start_ns)
        if pattern.cycle == 1 and key in self._fired:
            return self._fired[key]
        time_ns, direction, origin, has_origin = [], [], [], False
        for tick in ticks:
            table = pattern.rays(tick)
            at_ns = rate.time_ns(tick) + table.offset_ns.reshape(-1) - start_ns
            inside = (at_ns >= 0) & (at_ns < end_ns - start_ns)
            time_ns.append(at_ns[inside])
            direction.append(table.direction_S.reshape(-1, 3)[inside])
            has_origin = table.origin_S is not None
            if table.origin_S is not None:
                origin.append(table.origin_S.reshape(-1, 3)[inside])
        times = np.concatenate(time_ns)
        order = np.argsort(times, kind="stable")
        fired = None
        if len(order):
            starts = np.concatenate(origin)[order][None] if has_origin else None
            fired = RayTable(np.concatenate(direction)[order][None], times[order][None], starts, end_ns - start_ns)
        if pattern.cycle == 1:
            self._fired = {key: fired} | {known: each for known, each in self._fired.items() if known[0] != name}
        return fired

    def _traced(self, other: _Other, fired: RayTable, start_ns: int, end_ns: int, tick: int) -> ct.Pulses:
        """Origin and direction of each pulse, and the first surface it hits."""
        rig, count = other.rig, fired.offset_ns.size
        heads = rig.worlds * rig.sensors
        scan = other.caster.cast(fired, start_ns, end_ns)
        aim = other.firing.aim(fired, start_ns, end_ns)
        rays = new_rays(heads * count)
        worker_pool.run(aim_sweep, aim.blocks, aim.for_kernel, np.float32(1.0), None, rays)
        origin = rays.origin.reshape(heads, count, 3) + np.repeat(aim.anchor, rig.sensors, axis=0)[:, None]
        draw = other.stream.uniform(1, 0, tick, elements=rig.sensors, worlds=rig.worlds, first_world=rig.first_world)
        return ct.Pulses(
            number=other.number,
            per_world=rig.sensors,
            is_own=rig is self._rig,
            time_s=fired.offset_ns.reshape(-1) / NS_PER_S,
            late_s=((draw - 0.5) * self._spread_s).reshape(-1),
            origin=origin,
            direction=rays.direction.reshape(heads, count, 3).astype(np.float64),
            range_m=scan.range_m.reshape(heads, count),
            object_id=scan.object_id.reshape(heads, count),
            face_id=scan.face_id.reshape(heads, count),
            label=scan.label.reshape(heads, count),
        )

"""Builds the tables of a beam of several rays that the beam kernel reads."""

import math
from typing import TYPE_CHECKING

import numpy as np

from sensorium.physics.optics.beam_rays import equal_power_rays, patch_reach
from sensorium.tracing.embree.packet import BLOCK
from sensorium.tracing.kernels.beams.gather import AIR_SLOTS
from sensorium.tracing.kernels.bundles import tables as bt
from sensorium.tracing.kernels.bundles.tables import BeamTables
from sensorium.tracing.kernels.light import tables as tb

if TYPE_CHECKING:
    from sensorium.sensors.lidar.lidar import Lidar

# Rays that one thread processes at a time
_RAYS_A_TURN = 8 * BLOCK

# Arrivals kept per ray of a beam where light is followed through interfaces or several media; otherwise there is one
# from a surface and one from the air
_DEEP = 8


def beam_tables(spec: "Lidar", light: tb.LightTables) -> BeamTables:
    """Rays of a beam and the separation of its receiver."""
    beam, rays = spec.beam, equal_power_rays(spec.beam.rays)
    angles = beam.half_divergence_rad
    along, across = angles if isinstance(angles, tuple) else (angles, angles)
    number = np.zeros(bt.BUNDLE_NUMBERS, np.float32)
    number[bt.W_TAN_ALONG], number[bt.W_TAN_ACROSS] = math.tan(along), math.tan(across)
    number[bt.W_EXIT_RADIUS] = beam.exit_radius_m

    switch = np.zeros(bt.BUNDLE_SWITCHES, np.int32)
    together = max(BLOCK // beam.rays, 1)
    switch[bt.V_BATCH] = together
    switch[bt.V_PULSES] = together * max(min(_RAYS_A_TURN // (beam.rays * together), BLOCK // together), 1)
    switch[bt.V_CENTER] = np.argmin(np.square(rays.u) + np.square(rays.v))
    several = spec.max_depth or (light.switch[tb.S_ATMOSPHERE] and light.switch[tb.S_CROSSINGS])
    kept = _DEEP if several else 1 + int(light.switch[tb.S_ATMOSPHERE])
    return BeamTables(
        u=rays.u.astype(np.float32),
        v=rays.v.astype(np.float32),
        weight=rays.weight.astype(np.float32),
        reach=patch_reach(rays).astype(np.float32),
        number=number,
        switch=switch,
        separation=np.float32(beam.least_separation_m * light.number[tb.N_CALIBRATED_INDEX]),
        room=np.int64(kept * beam.rays),
    )


def without_limits(light: tb.LightTables) -> tb.LightTables:
    """The same tables for single rays of a beam: every return counts, at any range and strength."""
    number, switch = light.number.copy(), light.switch.copy()
    number[tb.N_THRESHOLD], number[tb.N_NEAR], number[tb.N_EARLIEST] = 0.0, 0.0, 0.0
    number[tb.N_LATE], number[tb.N_LATEST] = np.inf, np.inf
    switch[tb.S_RETURNS], switch[tb.S_SLOTS] = tb.ALL, AIR_SLOTS
    switch[tb.S_PRIORITY], switch[tb.S_LIMIT] = 0, 0
    return light._replace(number=number, switch=switch)

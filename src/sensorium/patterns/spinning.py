"""A spinning lidar: channels at fixed elevations on a head that turns about z."""

import functools
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from sensorium.core.spec import Spec, checked
from sensorium.patterns import base
from sensorium.patterns.base import AbstractSteadyPattern, Float64, RayTable, SweepRate

Elevation = Annotated[float, Field(ge=-90.0, le=90.0)]


class Fan(Spec):
    """Channels at even steps, from the uppermost to the lowermost."""

    top: Elevation
    """Elevation of the first [deg]."""
    bottom: Elevation
    """Elevation of the last [deg]."""
    channels: int = Field(ge=1, le=4096)
    """Number of channels, evenly spread from top to bottom."""

    def elevation_deg(self) -> tuple[float, ...]:
        """Elevation of each channel [deg]."""
        return tuple(np.linspace(self.top, self.bottom, self.channels).tolist())


def _fanned(given: Any) -> Any:
    """Elevations of channels that are given as a fan; any other value unchanged."""
    fan = checked(Fan, given, "elevation_deg") if isinstance(given, Mapping) else given
    return fan.elevation_deg() if isinstance(fan, Fan) else fan


Elevations = Annotated[
    tuple[Elevation, ...],
    Field(min_length=1),
    BeforeValidator(_fanned, json_schema_input_type=Fan | tuple[Elevation, ...]),
]
"""Elevation of each channel [deg], or a fan of them."""


class Spinning(AbstractSteadyPattern):
    """Rays of a turning head: rows are channels in the given order, columns follow in firing order.

    The head turns at constant speed and keeps turning while the channels of a column fire one after another:
    channel i of column j fires at t = t_j + time_offset_s[i], and its azimuth is the head's angle at that
    time plus azimuth_offset_deg[i]. All azimuths and offsets are right-handed about z: 0 is x forward,
    positive to the left, whichever way the head turns.

    A full turn is endpoint-exclusive, step 360 / columns. A sector fires both of its edges, step
    span / (columns - 1), and a single column its middle; outside of it the head turns blind, so a sweep
    always lasts one revolution.

    >>> pattern = sn.patterns.Spinning(elevation_deg=(15.0, 0.0, -15.0), columns=1024, rate_hz=10)
    >>> pattern.rays().direction_S.shape
    (3, 1024, 3)
    """

    kind: Literal["spinning"] = "spinning"
    elevation_deg: Elevations
    """Elevation of each channel [deg], positive up; or a fan, as {"top": 15, "bottom": -25, "channels": 64}."""
    columns: int = Field(gt=0)
    """Firings of each channel in one sweep."""
    rate_hz: SweepRate
    """Revolutions per second [Hz]; one sweep each."""
    azimuth_offset_deg: tuple[float, ...] | None = None
    """Azimuth of each channel against the head [deg]; None is 0."""
    time_offset_s: tuple[Annotated[float, Field(ge=0.0)], ...] | None = None
    """Delay of each channel inside its column's firing [s], less than the time between columns; None is 0."""
    origin_offset_m: tuple[tuple[float, float, float], ...] | None = None
    """Start points of beams in the rotating head frame [m]: x along the head's angle (without the channel's azimuth
    offset), y left, z up. One triple per channel, or a single one for all: a beam origin at radius r, as Ouster gives
    it, is ((r, 0, 0),). None is the sensor's origin."""
    start_azimuth_deg: float | None = None
    """Head angle at the start of a full turn [deg], None is 0; a sector starts at its own edge."""
    azimuth_min_deg: float | None = None
    """Right edge of a sector [deg]; given together with azimuth_max_deg."""
    azimuth_max_deg: float | None = None
    """Left edge of a sector [deg]."""
    direction: Literal["clockwise", "counterclockwise"] = "clockwise"
    """Turning sense seen from above."""

    @model_validator(mode="after")
    def _check(self) -> "Spinning":
        channels = len(self.elevation_deg)
        base.check_ray_count(channels * self.columns)

        # Tables must have one entry per channel.
        for name in ("azimuth_offset_deg", "time_offset_s"):
            table = getattr(self, name)
            if table is not None and len(table) != channels:
                raise ValueError(f"{name} has {len(table)} entries; it needs one per channel, {channels}")
        if self.origin_offset_m is not None and len(self.origin_offset_m) not in (1, channels):
            count = len(self.origin_offset_m)
            raise ValueError(f"origin_offset_m has {count} entries; it needs 1 or one per channel, {channels}")

        # A sector has two edges, in order, and starts at one of them.
        low, high = self.azimuth_min_deg, self.azimuth_max_deg
        if (low is None) != (high is None):
            raise ValueError(f"azimuth_min_deg is {low} and azimuth_max_deg {high}; give both or neither")
        if low is not None and high is not None:
            if not 0.0 < high - low < 360.0 or base.is_full_turn(high - low):
                raise ValueError(
                    f"azimuth_min_deg is {low} and azimuth_max_deg {high}; the sector must span more than 0 "
                    "and less than 360 degrees (leave both out for a full turn)"
                )
            if self.start_azimuth_deg is not None:
                raise ValueError(f"start_azimuth_deg is {self.start_azimuth_deg}; a sector must start at its own edge")

        # The next column waits for the last channel of this one, and the next sweep for the last column.
        if self.time_offset_s is not None:
            last_s = max(self.time_offset_s)
            if last_s >= self._column_period_s():
                raise ValueError(
                    f"time_offset_s reaches {last_s}; it must be less than the time between columns, "
                    f"{self._column_period_s()} s"
                )
            if self._column_time_s()[-1] + last_s >= 1.0 / self.rate_hz:
                raise ValueError(
                    f"time_offset_s reaches {last_s}; the last column must end inside the sweep of "
                    f"{1.0 / self.rate_hz} s"
                )
        return self

    def _table(self) -> RayTable:
        return _rays(self)

    def _edges_deg(self) -> tuple[float, float]:
        """Head angles between which columns fire [deg], in the order of rotation."""
        clockwise = self.direction == "clockwise"
        if self.azimuth_min_deg is None or self.azimuth_max_deg is None:
            start = self.start_azimuth_deg or 0.0
            return start, start - 360.0 if clockwise else start + 360.0
        low, high = self.azimuth_min_deg, self.azimuth_max_deg
        return (high, low) if clockwise else (low, high)

    def _column_period_s(self) -> float:
        """Time between columns [s]; for a single column, the time over its field."""
        start, end = self._edges_deg()
        return abs(end - start) / 360.0 / self.rate_hz / max(base.intervals(start, end, self.columns), 1)

    def _column_time_s(self) -> Float64:
        """Firing time of each column since the start of the sweep [s]; a single column fires mid-sector."""
        start, end = self._edges_deg()
        if self.columns == 1 and not base.is_full_turn(end - start):
            return np.array([0.5 * self._column_period_s()])
        return self._column_period_s() * np.arange(self.columns, dtype=np.float64)


@functools.lru_cache(maxsize=64)
def _rays(pattern: Spinning) -> RayTable:
    channels = len(pattern.elevation_deg)

    # When: columns at equal steps, channels inside them.
    time_s = pattern._column_time_s()[None, :] + _column_vector(pattern.time_offset_s, channels)

    # Where: the head's angle at that time, then the channel's place on the head.
    start, end = pattern._edges_deg()
    turn_deg = np.copysign(360.0 * pattern.rate_hz, end - start) * time_s
    head_rad = np.radians(start + turn_deg)
    azimuth_rad = head_rad + np.radians(_column_vector(pattern.azimuth_offset_deg, channels))
    elevation_rad = np.radians(_column_vector(pattern.elevation_deg, channels))

    # From where: the offset in the head frame, turned with the head.
    origin_S = None
    if pattern.origin_offset_m is not None:
        x, y, z = np.broadcast_to(np.array(pattern.origin_offset_m), (channels, 3)).T[:, :, None]
        cos, sin = np.cos(head_rad), np.sin(head_rad)
        height = np.broadcast_to(z, head_rad.shape)
        origin_S = np.stack([cos * x - sin * y, sin * x + cos * y, height], axis=-1)
    direction_S = base.directions(azimuth_rad, elevation_rad)
    return base.ray_table(direction_S, time_s, rate_hz=pattern.rate_hz, origin_S=origin_S)


def _column_vector(values: tuple[float, ...] | None, channels: int) -> Float64:
    """One value per channel, shape (channels, 1); zeros for None."""
    return np.zeros((channels, 1)) if values is None else np.array(values)[:, None]

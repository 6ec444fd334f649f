"""Echoes before a frame is received: scattering points, and the share of their power that reaches the radar."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.frames import Pose
from sensorium.core.rotations import cross, dot
from sensorium.physics.radio.antenna import relative_gain
from sensorium.physics.radio.power import cross_section_of_power, of_decibels, received_power
from sensorium.sensors.common.spec import Rig
from sensorium.sensors.radar.spec import Radar
from sensorium.worlds.history import History
from sensorium.worlds.point_motion import PointMotion

Float = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Instant:
    """Sensors and bodies of all worlds at one time; a head is a sensor in a world."""

    time_ns: int
    X_WS: Pose
    """Poses of the sensors, batch shape (heads,)."""
    v_WS: Float
    """Their velocities [m/s], shape (heads, 3)."""
    world: Whole
    """World of each head, shape (heads,)."""
    X_WB: Pose
    """Poses of the bodies, batch shape (worlds, bodies)."""
    v_WB: Float
    """Their velocities [m/s], shape (worlds, bodies, 3)."""
    w_WB: Float
    """Their angular velocities [rad/s], likewise."""

    def velocity_at(self, p_W: Float, world: Whole, body: Whole) -> Float:
        """Velocity of points fixed to bodies [m/s], shape (n, 3); points of body -1 do not move."""
        v_W = np.zeros_like(p_W)
        moving = np.flatnonzero(body >= 0)
        at = world[moving], body[moving]
        if len(moving):
            arm = p_W[moving] - self.X_WB.position[at]
            v_W[moving] = self.v_WB[at] + cross(self.w_WB[at], arm)
        return v_W


class Instants:
    """Provides all poses and velocities at the times that a radar needs."""

    def __init__(self, rig: Rig) -> None:
        self._history: History = rig.history
        self._motion = PointMotion(rig.history, rig.body, rig.X_BS)
        self._world = np.repeat(np.arange(rig.worlds), rig.sensors)

    def at(self, time_ns: int) -> Instant:
        """Poses and velocities at a time within the history [ns]."""
        mount = self._motion.at(time_ns, acceleration=False)
        before, after, fraction = self._history.bracket(time_ns)
        position, quaternion = self._history.motion(np.array([time_ns]))
        v_WB, w_WB = (
            early + fraction * (late - early) for early, late in ((before.v_WB, after.v_WB), (before.w_WB, after.w_WB))
        )
        X_WS = Pose._trusted(mount.position.reshape(-1, 3).copy(), mount.quaternion.reshape(-1, 4).copy())
        v_WS = mount.velocity.reshape(-1, 3).copy()
        X_WB = Pose._trusted(position[0], quaternion[0])
        return Instant(time_ns, X_WS, v_WS, self._world, X_WB, v_WB, w_WB)


@dataclass(frozen=True, eq=False)
class Points:
    """Scatterers: one row a point."""

    head: Whole
    object_id: Whole
    """-1 for the ground."""
    p_W: Float
    v_W: Float
    cross_section_m2: Float

    def kept(self, keep: NDArray[Any]) -> "Points":
        """Those of a mask or an index."""
        return Points(*(getattr(self, name)[keep] for name in self.__dataclass_fields__))

    @classmethod
    def joined(cls, parts: "list[Points]") -> "Points":
        """Several one after the other."""
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__dataclass_fields__))

    def merged(self, group: Whole, count: int, weight: Float) -> "Points":
        """One point for each group, as `Echoes.merged`: places and velocities are means by weight."""
        share, first = _shares(group, count, weight), _first_of(group, count)
        p_W, v_W = (
            np.stack([_sums(group, count, vectors[:, k] * share) for k in range(3)], axis=-1)
            for vectors in (self.p_W, self.v_W)
        )
        sigma = _sums(group, count, self.cross_section_m2)
        return Points(self.head[first], self.object_id[first], p_W, v_W, sigma)


@dataclass(frozen=True, eq=False)
class Echoes:
    """Points as the radar sees them: one row an echo."""

    head: Whole
    object_id: Whole
    range_m: Float
    range_rate_m_s: Float
    azimuth_rad: Float
    elevation_rad: Float
    sine: Float
    """Of the angle to the plane across the row of antennas, which they measure [1]."""
    power_W: Float
    cross_section_m2: Float

    def kept(self, keep: NDArray[Any]) -> "Echoes":
        """Those of a mask or an index."""
        return Echoes(*(getattr(self, name)[keep] for name in self.__dataclass_fields__))

    @classmethod
    def joined(cls, parts: "list[Echoes]") -> "Echoes":
        """Several one after the other."""
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__dataclass_fields__))

    def merged(self, group: Whole, count: int) -> "Echoes":
        """One echo for each group: powers and cross-sections add up, places are means by power.

        Args:
            group: Of each echo, from 0 to count - 1, each with one head and one object.
            count: How many there are.
        """
        share = _shares(group, count, self.power_W)
        means = ("range_m", "range_rate_m_s", "azimuth_rad", "elevation_rad", "sine")
        mean: dict[str, Any] = {name: _sums(group, count, getattr(self, name) * share) for name in means}
        return replace(
            self.kept(_first_of(group, count)),
            **mean,
            power_W=_sums(group, count, self.power_W),
            cross_section_m2=_sums(group, count, self.cross_section_m2),
        )


def _shares(group: Whole, count: int, weight: Float) -> Float:
    """Each one's share of the weight of its group; of a group without any, equal shares."""
    weight = np.where(_sums(group, count, weight)[group] > 0.0, weight, 1.0)
    return weight / _sums(group, count, weight)[group]


def _sums(group: Whole, count: int, values: Float) -> Float:
    """Sum of the values of each group, shape (count,)."""
    return np.bincount(group, values, count).astype(np.float64)


def _first_of(group: Whole, count: int) -> Whole:
    """The first of each group."""
    first = np.zeros(count, np.int64)
    first[group[::-1]] = np.arange(len(group))[::-1]
    return first


def in_order(key: Whole) -> Whole:
    """Number of each among those of its key, in the order they come."""
    order = np.argsort(key, kind="stable")
    in_turn = key[order]
    number = np.empty(len(key), np.int64)
    number[order] = np.arange(len(key)) - np.searchsorted(in_turn, in_turn)
    return number


def grouped(*columns: Whole) -> tuple[Whole, int]:
    """Group number of each row, and the number of groups; rows of a group are equal in every column.

    Groups are numbered in the order of their rows, the first column before the second.
    """
    if not len(columns[0]):
        return np.zeros(0, np.int64), 0
    low, span = zip(*((int(c.min()), int(c.max()) - int(c.min()) + 1) for c in columns), strict=True)
    if math.prod(span) < 2**62:
        key = np.zeros(len(columns[0]), np.int64)
        for column, least, count in zip(columns, low, span, strict=True):
            key = key * count + (column - least)
        found, group = np.unique(key, return_inverse=True)
    else:
        found, group = np.unique(np.column_stack(columns), axis=0, return_inverse=True)
    return group.astype(np.int64), len(found)


def received(points: Points, instant: Instant, spec: Radar) -> Echoes:
    """Power received from points, over the two-way path."""
    away_W = points.p_W - instant.X_WS.position[points.head]
    range_m = np.maximum(np.linalg.norm(away_W, axis=-1), 1e-3)
    d_W = away_W / range_m[:, None]
    d_S = np.einsum("nji,nj->ni", instant.X_WS.rotation[points.head], d_W)
    azimuth, elevation = np.arctan2(d_S[:, 1], d_S[:, 0]), np.arcsin(np.clip(d_S[:, 2], -1.0, 1.0))
    return Echoes(
        head=points.head,
        object_id=points.object_id,
        range_m=range_m,
        range_rate_m_s=dot(points.v_W - instant.v_WS[points.head], d_W),
        azimuth_rad=azimuth,
        elevation_rad=elevation,
        sine=d_S[:, 1],
        power_W=received_power(
            points.cross_section_m2,
            range_m,
            power_W=spec.power_W,
            gain=gain(spec, azimuth, elevation),
            wavelength_m=spec.chirp.wavelength_m,
            loss=of_decibels(spec.loss_dB),
        ),
        cross_section_m2=points.cross_section_m2,
    )


def gain(spec: Radar, azimuth_rad: Float, elevation_rad: Float) -> Float:
    """Gain of the antenna in a direction [1]."""
    return of_decibels(spec.gain_dBi) * relative_gain(
        azimuth_rad,
        elevation_rad,
        horizontal_fov_rad=np.radians(spec.horizontal_fov_deg),
        vertical_fov_rad=np.radians(spec.vertical_fov_deg),
    )


def measured_cross_section(
    spec: Radar, power_W: Float, range_m: Float, azimuth_rad: Float, elevation_rad: Float
) -> Float:
    """Cross-section from measured power, range and angles by the radar equation [m^2]; from the least range on."""
    return cross_section_of_power(
        power_W,
        np.maximum(range_m, spec.min_range_m),
        power_W=spec.power_W,
        gain=gain(spec, azimuth_rad, elevation_rad),
        wavelength_m=spec.chirp.wavelength_m,
        loss=of_decibels(spec.loss_dB),
    )

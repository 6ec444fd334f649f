"""Adaptive cruise control: a car keeps its speed, or its distance to the vehicle that its radar sees ahead."""

import math
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from pydantic import Field

from sensorium.app.controllers.base import ControllerSpec, commanded_world
from sensorium.core.errors import SpecError
from sensorium.environment import Environment
from sensorium.sensors.common.attached import AttachedSensor
from sensorium.sensors.radar.reading import RadarReading
from sensorium.sensors.radar.spec import Radar
from sensorium.worlds import Commanded


class AdaptiveCruise(ControllerSpec):
    """Keeps a set speed, or behind another vehicle a gap of d_0 + h v, from the detections of a radar.

    It tracks one detection in the lane ahead (`Follower`): a track starts with an object that moves over ground, since
    posts and bridges do not, and continues when that object stops. The acceleration is the lesser of k_v (v_set - v)
    and k_d (gap - d_0 - h v) + k_r rate, between the limits of brakes and engine. This is the constant time-gap law;
    with k_d = 0.25 / s^2, k_r = 0.9 / s and h = 1.6 s it attenuates the motion of the car ahead at every frequency,
    since h^2 k_d + 2 h k_r >= 2: rows of such cars are string stable.
    """

    kind: Literal["adaptive_cruise"] = "adaptive_cruise"
    body: str
    """Body of the car, which takes commands; x is ahead."""
    radar: str
    """Name of the radar."""
    set_speed_m_s: float = Field(gt=0.0)
    """Speed to hold on a free road [m/s]."""
    time_gap_s: float = Field(default=1.6, gt=0.0)
    """h."""
    standstill_m: float = Field(default=5.0, ge=0.0)
    """d_0, the gap at standstill."""
    half_lane_m: float = Field(default=1.6, gt=0.0)
    """To the left and right of straight ahead; objects farther aside are in another lane."""
    most_m_s2: float = Field(default=2.0, gt=0.0)
    """Acceleration at most."""
    brake_m_s2: float = Field(default=5.0, gt=0.0)
    """Deceleration at most."""
    speed_gain_per_s: float = Field(default=0.5, gt=0.0)
    """k_v."""
    gap_gain_per_s2: float = Field(default=0.25, gt=0.0)
    """k_d."""
    rate_gain_per_s: float = Field(default=0.9, gt=0.0)
    """k_r."""

    def start(self, env: Environment) -> "AdaptiveCruiseControl":
        """Put it to work."""
        if env.world_axis:
            raise SpecError("the environment has many worlds; adaptive cruise control drives one")
        if self.radar not in env.sensors:
            raise SpecError(f"radar is {self.radar!r}; the sensors are {', '.join(env.sensors) or 'none'}")
        spec = env.sensors[self.radar].spec
        if not isinstance(spec, Radar):
            raise SpecError(f"radar is {self.radar!r}, of kind {type(spec).__name__}; it must be a Radar")
        return AdaptiveCruiseControl(self, commanded_world(env, self.body), env.sensors[self.radar], env)

    def acceleration(self, speed_m_s: float, gap_m: float | None, rate_m_s: float = 0.0) -> float:
        """Acceleration of the control law [m/s^2].

        Args:
            speed_m_s: v of the car [m/s].
            gap_m: To the vehicle ahead [m], None for a free road.
            rate_m_s: How fast the gap grows [m/s].
        """
        wanted = self.speed_gain_per_s * (self.set_speed_m_s - speed_m_s)
        if gap_m is not None:
            room = gap_m - self.standstill_m - self.time_gap_s * speed_m_s
            wanted = min(wanted, self.gap_gain_per_s2 * room + self.rate_gain_per_s * rate_m_s)
        return min(max(wanted, -self.brake_m_s2), self.most_m_s2)


@dataclass
class Follower:
    """Follows one of many detections from reading to reading, by an alpha-beta filter."""

    alpha: float = 0.5
    """Share of a new range that is believed [1]."""
    beta: float = 0.5
    """Share of a new range rate [1]."""
    gate_m: float = 4.0
    """A detection farther from the prediction than this is another object [m]."""
    gate_m_s: float = 4.0
    moving_m_s: float = 3.0
    """Least speed over ground of a new track [m/s]."""
    patience_s: float = 0.6
    """Time that an object is kept without a detection [s]."""

    range_m: float | None = None
    """Of the tracked object; None without one."""
    rate_m_s: float = 0.0
    unseen_s: float = 0.0

    def update(self, range_m: Any, rate_m_s: Any, own_speed_m_s: float, elapsed_s: float) -> None:
        """Take the detections of one reading, in the lane.

        Args:
            range_m: Ranges [m], shape (n,).
            rate_m_s: Range rates [m/s], shape (n,).
            own_speed_m_s: Over ground [m/s].
            elapsed_s: Since the reading before [s].
        """
        ranges, rates = np.asarray(range_m, np.float64), np.asarray(rate_m_s, np.float64)
        if self.range_m is not None:
            expected = self.range_m + self.rate_m_s * elapsed_s
            away = np.hypot((ranges - expected) / self.gate_m, (rates - self.rate_m_s) / self.gate_m_s)
            if away.size and away.min() < 1.0:
                best = int(away.argmin())
                self.range_m = expected + self.alpha * (float(ranges[best]) - expected)
                self.rate_m_s += self.beta * (float(rates[best]) - self.rate_m_s)
                self.unseen_s = 0.0
                return
            self.range_m, self.unseen_s = expected, self.unseen_s + elapsed_s
            if self.unseen_s <= self.patience_s:
                return
        moving = np.flatnonzero(rates + own_speed_m_s > self.moving_m_s)
        self.range_m, self.rate_m_s, self.unseen_s = None, 0.0, 0.0
        if moving.size:
            nearest = moving[ranges[moving].argmin()]
            self.range_m, self.rate_m_s = float(ranges[nearest]), float(rates[nearest])


@dataclass
class CruiseLog:
    """Inputs and outputs of the controller after each step."""

    time_s: list[float] = field(default_factory=list)
    speed_m_s: list[float] = field(default_factory=list)
    acceleration_m_s2: list[float] = field(default_factory=list)
    gap_m: list[float] = field(default_factory=list)
    """Of the tracked object, as filtered; NaN for a free road."""


class AdaptiveCruiseControl:
    """The running adaptive cruise control of one world."""

    def __init__(
        self, spec: AdaptiveCruise, world: Commanded, radar: AttachedSensor[RadarReading], env: Environment
    ) -> None:
        self._spec, self._world, self._radar = spec, world, radar
        self._body = env.world.body_names.index(spec.body)
        self._before_ns = env.time_ns
        self._last_reading_ns: int | None = None
        self.follower = Follower()
        """The track."""
        self.log = CruiseLog()

    def step(self, env: Environment) -> None:
        """Update the track from the radar, and command a speed."""
        state = env.state
        speed = float(np.linalg.norm(state.v_WB[0, self._body]))
        for reading in self._radar.readings():
            self._follow(reading, speed)
        gap = self.follower.range_m
        asked = self._spec.acceleration(speed, gap, self.follower.rate_m_s)
        elapsed_s = (env.time_ns - self._before_ns) * 1e-9
        self._before_ns = env.time_ns
        self._world.command(self._spec.body, velocity=(max(0.0, speed + asked * elapsed_s), 0.0, 0.0))
        self.log.time_s.append(env.time_s)
        self.log.speed_m_s.append(speed)
        self.log.acceleration_m_s2.append(asked)
        self.log.gap_m.append(math.nan if gap is None else gap)

    def _follow(self, reading: RadarReading, speed_m_s: float) -> None:
        found = reading.flat()
        lane = np.abs(found.points[:, 1]) < self._spec.half_lane_m
        before_ns = reading.time_ns if self._last_reading_ns is None else self._last_reading_ns
        elapsed_s = (reading.time_ns - before_ns) * 1e-9
        self._last_reading_ns = reading.time_ns
        self.follower.update(found.range_m[lane], found.range_rate_m_s[lane], speed_m_s, elapsed_s)

"""A rosette scanner: beams bent by rotating wedge prisms (Risley prisms), by exact refraction."""

import functools
import math
from fractions import Fraction
from typing import Literal

import numpy as np
from pydantic import ConfigDict, Field, field_validator, model_validator

from sensorium.core.errors import SpecError
from sensorium.core.spec import Spec
from sensorium.patterns import base
from sensorium.patterns.base import AbstractPattern, Float64, RayTable, SweepRate


class Prism(Spec):
    """A rotating glass wedge: one face square to the axis, the other tilted by the wedge angle."""

    model_config = ConfigDict(frozen=True)

    wedge_deg: float = Field(gt=-90.0, lt=90.0)
    """Wedge angle [deg]: positive if light enters the tilted face first, negative if the square one."""
    refractive_index: float = Field(ge=1.0, le=10.0)
    """Index of the glass [1]; outside is 1."""
    rotor_rpm: float
    """Revolutions per minute, right-handed about x forward: positive turns y left to z up."""
    phase_deg: float = 0.0
    """Azimuth of the thin edge at rotor time 0 [deg]: 0 is y left, 90 is z up. Light bends away from it."""


class Rosette(AbstractPattern):
    """Rays through rotating prisms: one row per beam, columns in firing order, going on from sweep to sweep.

    Shot n fires n / point_rate_hz after the start of the first sweep, when the rotors have turned for
    first_shot_s + n / point_rate_hz. Rotor angles are reduced modulo a turn in exact rational arithmetic on
    the numbers as written, so they do not drift over any length of run.

    Nominal Livox Mid-40: wedges -18 and 18 degrees, index 1.5089, 7294 and -4664 rpm, phases 180, 100 kHz,
    first shot at 1e-5 s.
    """

    kind: Literal["rosette"] = "rosette"
    prisms: tuple[Prism, ...] = Field(min_length=1, max_length=8)
    """In the order of the light path."""
    point_rate_hz: float = Field(gt=0.0, le=1e9)
    """Shots per second of each beam [Hz]; a whole multiple of rate_hz."""
    rate_hz: SweepRate
    """Published sweeps per second [Hz]."""
    first_shot_s: float = 0.0
    """Rotor time of the very first shot [s]."""
    beams_yz: tuple[tuple[float, float], ...] = Field(default=((0.0, 0.0),), min_length=1)
    """Components y (left) and z (up) of each beam's unit direction before the prisms; x completes it. All beams fire
    together."""

    @field_validator("beams_yz")
    @classmethod
    def _check_beams(cls, beams: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
        for y, z in beams:
            if y * y + z * z >= 1.0:
                raise ValueError(f"beam ({y}, {z}) is not shorter than 1; it must leave a forward component")
        return beams

    @model_validator(mode="after")
    def _check(self) -> "Rosette":
        shots = base.exact(self.point_rate_hz) / base.exact(self.rate_hz)
        if shots.denominator != 1:
            raise ValueError(
                f"point_rate_hz is {self.point_rate_hz}, {float(shots)} shots in a sweep at rate_hz "
                f"{self.rate_hz}; it must be a whole number"
            )
        base.check_ray_count(int(shots) * len(self.beams_yz))
        return self

    @property
    def shots(self) -> int:
        """Shots of each beam in one sweep."""
        return int(base.exact(self.point_rate_hz) / base.exact(self.rate_hz))

    @property
    def cycle(self) -> int:
        """Number of sweeps after which every rotor is at its first angle again."""
        return math.lcm(*((_rotor_hz(prism) / base.exact(self.rate_hz)).denominator for prism in self.prisms))

    def rays(self, sweep: int = 0) -> RayTable:
        """Rays of one sweep; a beam that is totally reflected inside a prism raises `SpecError`."""
        return _rays(self, base.checked_sweep(sweep, self.cycle))


# Several readers may request a sweep, but seldom again after the next one.
@functools.lru_cache(maxsize=16)
def _rays(pattern: Rosette, sweep: int) -> RayTable:
    shots = pattern.shots

    # Light leaves the lasers.
    y, z = np.array(pattern.beams_yz).T
    incident = np.stack([np.sqrt(1.0 - y * y - z * z), y, z], axis=-1)
    direction = np.repeat(incident[:, None, :], shots, axis=1)

    # It is bent at two faces of each prism, the tilted one first or second.
    axial = np.array([-1.0, 0.0, 0.0])
    for number, prism in enumerate(pattern.prisms):
        angle = _rotor_angle_rad(pattern, prism, sweep)
        wedge = math.radians(prism.wedge_deg)
        tilted = np.stack(
            [
                np.full(shots, -math.cos(wedge)),
                math.sin(wedge) * np.cos(angle),
                math.sin(wedge) * np.sin(angle),
            ],
            axis=-1,
        )
        first, second = (tilted, axial) if prism.wedge_deg > 0.0 else (axial, tilted)
        inside = _refract(direction, first, 1.0 / prism.refractive_index, prism=number)
        direction = _refract(inside, second, prism.refractive_index, prism=number)

    # Each refraction keeps the length only to rounding.
    direction /= np.linalg.norm(direction, axis=-1, keepdims=True)
    time_s = np.broadcast_to(np.arange(shots) / pattern.point_rate_hz, direction.shape[:2])
    return base.ray_table(direction, time_s, rate_hz=pattern.rate_hz)


def _rotor_hz(prism: Prism) -> Fraction:
    """Revolutions per second, exactly as written."""
    return base.exact(prism.rotor_rpm) / 60


def _rotor_angle_rad(pattern: Rosette, prism: Prism, sweep: int) -> Float64:
    """Rotor angle at each shot of a sweep [rad], shape (shots,).

    The turns at the first shot and the turns per shot are rational; only their fractions become floats. Over
    a sweep of 10^6 shots the rounding stays below 10^-9 rad.
    """
    rotor_hz = _rotor_hz(prism)
    start_s = base.exact(pattern.first_shot_s) + sweep / base.exact(pattern.rate_hz)
    first_turn = (rotor_hz * start_s + base.exact(prism.phase_deg) / 360) % 1
    turn_per_shot = rotor_hz / base.exact(pattern.point_rate_hz)
    turn_per_shot -= round(turn_per_shot)
    shot = np.arange(pattern.shots, dtype=np.float64)
    return 2.0 * np.pi * (float(first_turn) + float(turn_per_shot) * shot)


def _refract(direction: Float64, normal: Float64, ratio: float, *, prism: int) -> Float64:
    """Snell's law in vectors: d' = r d + (r c - sqrt(1 - r^2 (1 - c^2))) N, with c = -d . N.

    Args:
        direction: Unit directions [1], shape (beams, shots, 3).
        normal: Unit face normals against the light [1], shape (shots, 3) or (3,).
        ratio: Index before over index after the face, r [1].
        prism: Place of the prism, for the error.
    """
    cosine = -np.sum(direction * normal, axis=-1, keepdims=True)
    below_root = 1.0 - ratio * ratio * (1.0 - cosine * cosine)
    if (cosine <= 0.0).any() or (below_root < 0.0).any():
        raise SpecError(
            f"prisms[{prism}] reflects part of the scan totally or faces away from it; "
            "the wedges are too steep or the index too high"
        )
    return ratio * direction + (ratio * cosine - np.sqrt(below_root)) * normal

"""A satellite navigation receiver: position and velocity of its antenna, with outages."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator, model_validator

from sensorium.core.errors import SpecError
from sensorium.core.rotations import Float, rotate
from sensorium.corruption import Chain, Corruption, GaussMarkov, Part, Program
from sensorium.corruption.engine.base import AnyCorruption, Layout
from sensorium.physics.fields.earth import earth_fixed_position, east_north_up
from sensorium.physics.fields.geodetic import geodetic_position
from sensorium.sensors.common.error_group import ErrorGroup
from sensorium.sensors.common.occlusion import Occlusion
from sensorium.sensors.common.sampled import (
    XYZ,
    Quantity,
    Sample,
    SampledModel,
    SampledReading,
    StatelessSignal,
    required_rate_hz,
)
from sensorium.sensors.common.spec import Rig, SensorSpec, Timing
from sensorium.worlds.point_motion import PointMotion

# Channels: three of position, three of velocity, and the share of the sky in sight where that is looked at
_FIX, _SKY = 6, 6

# Satellites lower than this are not used, as in common receivers; above it the sky is sampled by this many rays
_LOWEST_ELEVATION_DEG = 10.0
_SKY_RAYS = 64


class GnssReading(SampledReading):
    """Position and velocity of the antenna; where there is no fix they are NaN."""

    __slots__ = ("_spec",)

    def __init__(self, sample: Sample, rig: Rig, spec: "Gnss") -> None:
        super().__init__(sample, rig)
        self._spec = spec

    @property
    def fix(self) -> NDArray[np.bool_]:
        """Whether there is a position and a velocity; shape () or the leading axes."""
        known = np.isfinite(self._sample.x[:, :_FIX]).all(axis=1)
        return self._shaped(known & self._sample.valid)

    @property
    def position(self) -> Float:
        """East, north and up in the world's axes [m], shape (..., 3)."""
        return self._channels(0, 3)

    @property
    def velocity(self) -> Float:
        """East, north and up in the world's axes [m/s], shape (..., 3)."""
        return self._channels(3, 6)

    @property
    def geodetic(self) -> Float:
        """Latitude [deg], longitude [deg] and height above the ellipsoid WGS 84 [m], shape (..., 3)."""
        origin = self._spec.origin
        if origin is None:
            raise SpecError("latitude, longitude or height is asked for; the sensor must be given an origin for them")
        p_E = earth_fixed_position(*origin) + rotate(east_north_up(*origin[:2]), self.position)
        return np.stack(geodetic_position(p_E), axis=-1)

    @property
    def latitude_deg(self) -> Float:
        """Geodetic latitude, positive north [deg]; shape () or the leading axes."""
        return np.asarray(self.geodetic[..., 0])

    @property
    def longitude_deg(self) -> Float:
        """Longitude, positive east, from -180 to 180 [deg]; shape () or the leading axes."""
        return np.asarray(self.geodetic[..., 1])

    @property
    def height_m(self) -> Float:
        """Height above the ellipsoid [m], not above the sea; shape () or the leading axes."""
        return np.asarray(self.geodetic[..., 2])

    @property
    def sky_fraction(self) -> Float:
        """Share of the sky above 10 degrees that the antenna sees [1]; shape () or the leading axes."""
        if self._spec.min_sky_fraction is None:
            raise SpecError("sky_fraction is asked for; the sensor looks at the sky only with min_sky_fraction given")
        return self._channel(_SKY)

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """Its quantities by name, for tables and plots."""
        found = [
            Quantity("fix", "Fix", kind=bool, is_plotted=False),
            Quantity("position", "Position (east, north, up)", "m", XYZ),
            Quantity("velocity", "Velocity (east, north, up)", "m/s", XYZ),
        ]
        if self._spec.origin is not None:
            geodetic = (("latitude_deg", "Latitude", "deg"), ("longitude_deg", "Longitude", "deg"))
            found += [Quantity(*one, is_plotted=False) for one in (*geodetic, ("height_m", "Height", "m"))]
        if self._spec.min_sky_fraction is not None:
            found.append(Quantity("sky_fraction", "Share of the sky", has_truth=False, is_plotted=False))
        return tuple(found)

    def __repr__(self) -> str:
        return f"GnssReading(time_ns={self.time_ns}, position={self.position}, fix={self.fix})"


class Gnss(SensorSpec[GnssReading]):
    """Position and velocity of an antenna, in a world whose x axis points east, y north and z up.

    position = p_WS + wander + white noise, velocity = v_WS + noise. The wander is the residual error of ionosphere,
    troposphere and orbits: a Gauss-Markov process of 1 to 3 m and 100 to 1800 s for a receiver without corrections
    (physics.md 12). It is given as `position.noise.gauss_markov_std` and `.gauss_markov_tau_s`, or by the receiver's
    own figures: the error of one range, `uere_m`, times the dilution of precision, which is the geometry of the
    satellites. Since HDOP covers both horizontal axes,

        sigma_east = sigma_north = HDOP UERE / sqrt(2),    sigma_up = VDOP UERE.

    (Misra and Enge, Global Positioning System, chapter 6; the satellites' geometry is taken to favor neither axis.)

    Outages: a `Dropout` that fills with NaN, in `extra` or as a fault, leaves no fix; and with `min_sky_fraction` there
    is none wherever too much of the sky is hidden, as in a tunnel. This is our own model: 64 rays, evenly spread over
    the sky above 10 degrees, are cast into the scene, and any surface blocks them. Mount the antenna a little above its
    carrier, or hide its body. Errors and faults act after that: a frozen receiver keeps its last fix in a tunnel, and a
    stuck one gives its value there.

    >>> env = sn.Environment(sn.Scene(), sn.worlds.Static({"car": sn.Pose((3.0, 4.0, 0.0))}, step_s=0.1), worlds=2000)
    >>> gnss = env.attach(sn.Gnss(timing=sn.Timing(rate_hz=10.0), hdop=1.2, vdop=2.0, uere_m=2.5), body="car")
    >>> env.step()
    >>> error = gnss.read().position - gnss.truth().position
    >>> bool(abs(np.hypot(*error[:, :2].T).mean() / (1.2 * 2.5 * np.sqrt(np.pi) / 2) - 1) < 0.05)  # Rayleigh's mean
    True
    """

    targets: ClassVar[tuple[str, ...]] = ("fix", "position", "velocity")
    hint_aliases: ClassVar[dict[str, str]] = {"position_noise": "position.noise", "velocity_noise": "velocity.noise"}

    kind: Literal["gnss"] = "gnss"
    timing: Timing = Field(default_factory=lambda: Timing(rate_hz=5.0))
    """Clock; 5 Hz by default."""
    position: ErrorGroup = Field(default_factory=ErrorGroup)
    """Errors of position, east north up [m]."""
    velocity: ErrorGroup = Field(default_factory=ErrorGroup)
    """Errors of velocity, east north up [m/s]."""
    hdop: float | None = Field(default=None, ge=0.0)
    """Horizontal dilution of precision [1]."""
    vdop: float | None = Field(default=None, ge=0.0)
    """Vertical dilution of precision [1]."""
    uere_m: float | None = Field(default=None, ge=0.0)
    """Standard deviation of the error of one range, the user equivalent range error [m]."""
    tau_s: float = Field(default=600.0, gt=0.0)
    """Correlation time of the wander that the three above give [s]."""
    extra: tuple[AnyCorruption, ...] = ()
    """Further corruptions, of position and velocity together: six channels, before faults."""
    origin: tuple[float, float, float] | None = None
    """Latitude [deg], longitude [deg] and height above the ellipsoid [m] of the world's origin; None gives no geodetic
    output. The world's axes are east, north and up there, and so are those of the velocity everywhere."""
    min_sky_fraction: float | None = Field(default=None, ge=0.0, le=1.0)
    """Least share of the sky above 10 degrees that a fix needs [1]; None does not look at the sky."""

    @field_validator("origin")
    @classmethod
    def _on_earth(cls, origin: tuple[float, float, float] | None) -> tuple[float, float, float] | None:
        if origin is not None and not abs(origin[0]) <= 90.0:
            raise ValueError(f"origin has the latitude {origin[0]:g}; it must be between -90 and 90")
        if origin is not None and not abs(origin[1]) <= 360.0:
            raise ValueError(f"origin has the longitude {origin[1]:g}; it must be between -360 and 360")
        return origin

    @model_validator(mode="after")
    def _rules(self) -> "Gnss":
        given = [name for name in ("hdop", "vdop", "uere_m") if getattr(self, name) is not None]
        if given and len(given) < 3:
            raise ValueError(f"{' and '.join(given)} is given; hdop, vdop and uere_m must be given together, or none")
        return self

    @property
    def wander_std_m(self) -> tuple[float, float, float] | None:
        """Standard deviation of the wander by dilution of precision, east north up [m]; None if that is not given."""
        if self.hdop is None or self.vdop is None or self.uere_m is None:
            return None
        horizontal = self.hdop * self.uere_m / math.sqrt(2.0)
        return horizontal, horizontal, self.vdop * self.uere_m

    def start(self, rig: Rig) -> SampledModel[GnssReading]:
        """Put it to work."""
        signal = _AntennaSignal(rig, looks_up=self.min_sky_fraction is not None)
        period_s = 1.0 / required_rate_hz(self.timing)
        return SampledModel(
            rig,
            self.timing,
            signal,
            Program(self._parts(period_s), columns=signal.columns, period_s=period_s),
            lambda sample: GnssReading(sample, rig, self),
            lose=None if self.min_sky_fraction is None else partial(_lose_fix, self.min_sky_fraction),
            looks_back=False,
        )

    def _parts(self, period_s: float) -> list[Part]:
        """Errors of both groups, those of both together, faults in their order, converters of both groups."""
        std_m = self.wander_std_m
        wander: list[Corruption] = [] if std_m is None else [GaussMarkov(std=std_m, tau_s=self.tau_s)]
        first, faults, last, layouts = [], [], [], []
        for number, (target, group, more) in enumerate(
            (("position", self.position, wander), ("velocity", self.velocity, []))
        ):
            before, after = [*more, group.noise, *group.extra], Chain([group.quantization, group.saturation])
            layout = Chain([*before, after]).with_own_limits(Layout(3, period_s))
            layouts.append(layout)
            first.append(Part(Chain(before).operations(layout), 3 * number, 3, number))
            last.append(Part(after.operations(layout), 3 * number, 3, number))

            # A fault of the whole fix would be between one of this group and its converter
            if all(fault.target in self.targets[1:] for fault in self.faults.faults):
                layout = replace(layout, codes_after=after.codes_ahead(layout))
            faults += self.faults.parts(layout, column=3 * number, group=3 + number, target=target, named=True)
        both = Chain(self.extra).with_own_limits(Layout(_FIX, period_s, _together(layouts)))
        faults += self.faults.parts(both, group=2, target="fix")
        extra = Part(Chain(self.extra).operations(both), 0, _FIX, 2)
        return [*first, extra, *sorted(faults, key=lambda part: part.fault), *last]


def _together(layouts: Sequence[Layout]) -> tuple[Float, Float] | None:
    """Limits of position and velocity as those of six channels; None if neither has any."""
    if all(layout.limits is None for layout in layouts):
        return None
    endless = np.full(3, np.inf)
    limits = [layout.limits or (-endless, endless) for layout in layouts]
    return np.concatenate([lo for lo, _ in limits]), np.concatenate([hi for _, hi in limits])


class _AntennaSignal(StatelessSignal):
    """Position and velocity of the antenna, and the share of the sky it sees."""

    def __init__(self, rig: Rig, *, looks_up: bool) -> None:
        self._motion = PointMotion(rig.history, rig.body, rig.X_BS)
        self._sight = Occlusion(rig) if looks_up else None
        self._sky_W = sky_directions(_SKY_RAYS)
        self.columns = _FIX + int(looks_up)

    def sample(self, time_ns: int, out: Float) -> None:
        """The ideal sample at a time, shape (rows, columns)."""
        state = self._motion.at(time_ns, acceleration=False)
        out[:, :3] = state.position.reshape(-1, 3)
        out[:, 3:6] = state.velocity.reshape(-1, 3)
        if self._sight is not None:
            clear = self._sight.clear(time_ns, state.position.reshape(-1, 3), self._sky_W)
            out[:, _SKY] = np.count_nonzero(clear, axis=1) / len(self._sky_W)


def _lose_fix(least: float, x: Float) -> None:
    """Make position and velocity NaN, in place, where less than this share of the sky is in sight."""
    x[x[:, _SKY] < least, :_FIX] = np.nan


def sky_directions(count: int) -> Float:
    """Unit vectors evenly spread over the sky above 10 degrees, shape (count, 3): a Fibonacci lattice, by equal areas.

    Ref: A. Gonzalez, "Measurement of areas on a sphere using Fibonacci and latitude-longitude lattices", Mathematical
    Geosciences 42 (2010).
    """
    number = np.arange(count)
    up = 1.0 - (number + 0.5) / count * (1.0 - math.sin(math.radians(_LOWEST_ELEVATION_DEG)))
    azimuth = number * math.pi * (3.0 - math.sqrt(5.0))
    flat = np.sqrt(1.0 - up * up)
    return np.stack([flat * np.cos(azimuth), flat * np.sin(azimuth), up], axis=-1)

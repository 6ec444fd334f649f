"""A coarse sun sensor: one photocell, and the cosine of the angle of incidence of sunlight."""

import math
from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from sensorium.core.errors import SpecError
from sensorium.core.rotations import Float, dot
from sensorium.corruption import Noise, Program, Quantize, Saturate, Scale
from sensorium.corruption.engine.base import AnyCorruption
from sensorium.physics.fields import Sun
from sensorium.sensors.common.error_group import RENAMED, channel_parts
from sensorium.sensors.common.occlusion import Occlusion
from sensorium.sensors.common.sampled import Quantity, SampledModel, SampledReading, StatelessSignal, required_rate_hz
from sensorium.sensors.common.spec import Rig, SensorSpec, Timing
from sensorium.worlds.point_motion import PointMotion


class SunSensorReading(SampledReading):
    """The cosine, and whether the Sun is in sight."""

    __slots__ = ()

    @property
    def cosine(self) -> Float:
        """Cosine of the angle from boresight to Sun, 0 where it does not shine [1]; shape () or the leading axes."""
        return self._channel(0)

    @property
    def visible(self) -> NDArray[np.bool_]:
        """Whether the Sun is above the horizon, in the field of view and not hidden: the truth, without errors."""
        return np.asarray(self._channel(1) > 0.0)

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """Its quantities by name, for tables and plots."""
        visible = Quantity("visible", "Sun in sight", kind=bool, has_truth=False, is_plotted=False)
        return Quantity("cosine", "Cosine of the Sun's angle"), visible

    def __repr__(self) -> str:
        return f"SunSensorReading(time_ns={self.time_ns}, cosine={self.cosine}, visible={self.visible})"


class SunSensor(SensorSpec[SunSensorReading]):
    """u = max(0, n . s) inside its field, 0 in shadow: n is the sensor's x axis, s points to the environment's Sun.

    Errors in this order: scale, noise, further corruptions, faults, quantization, saturation. Shadow is one ray towards
    the middle of the Sun, so it has no penumbra, and any surface casts it, also glass: mount the cell a little above
    its carrier, or hide its body. A Sun below the horizon does not shine, as everywhere. Light that the ground reflects
    is left out. Ref: physics.md 13; the cosine model of Basilisk's coarse sun sensor without its albedo and Kelly's
    curve.

    >>> sun = sn.fields.Sun(elevation_deg=30.0, azimuth_deg=0.0)
    >>> env = sn.Environment(sn.Scene(), sn.worlds.Static(step_s=0.1), sun=sun)
    >>> up = sn.Pose.from_euler_deg((0, 0, 0), pitch=-90.0)
    >>> sensor = env.attach(sn.SunSensor(timing=sn.Timing(rate_hz=10.0)), pose=up)
    >>> env.step()
    >>> sensor.read().cosine.round(6).item()
    0.5
    """

    targets: ClassVar[tuple[str, ...]] = ("cosine",)

    hint_aliases: ClassVar[Mapping[str, str]] = RENAMED

    kind: Literal["sun_sensor"] = "sun_sensor"
    timing: Timing = Field(default_factory=lambda: Timing(rate_hz=10.0))
    """Clock; 10 Hz by default."""
    half_angle_deg: float = Field(default=90.0, gt=0.0, le=90.0)
    """Half angle of its round field [deg]."""
    scale: Scale = Field(default_factory=Scale)
    """Scale factor, for cells that age or differ."""
    noise: Noise = Field(default_factory=Noise)
    """Bias, walks and white noise [1]."""
    extra: tuple[AnyCorruption, ...] = ()
    """Further corruptions."""
    quantization: Quantize = Field(default_factory=Quantize)
    """Quantization."""
    saturation: Saturate = Field(default_factory=Saturate)
    """Saturation, such as that of a cell whose output cannot be below 0."""

    def start(self, rig: Rig) -> SampledModel[SunSensorReading]:
        """Put it to work."""
        if rig.sun is None:
            raise SpecError(f"sensor {rig.name!r} looks for the Sun; the environment must be given a sun")
        period_s = 1.0 / required_rate_hz(self.timing)
        parts = channel_parts(
            [self.scale, self.noise, *self.extra],
            [self.quantization, self.saturation],
            width=1,
            period_s=period_s,
            faults=self.faults,
            target="cosine",
        )
        signal = _SunSignal(rig, rig.sun, self.half_angle_deg)
        return SampledModel(
            rig,
            self.timing,
            signal,
            Program(parts, columns=signal.columns, period_s=period_s),
            lambda sample: SunSensorReading(sample, rig),
            looks_back=False,
        )


class _SunSignal(StatelessSignal):
    """The cosine, and 1 where the Sun is in sight."""

    columns = 2

    def __init__(self, rig: Rig, sun: Sun, half_angle_deg: float) -> None:
        self._motion = PointMotion(rig.history, rig.body, rig.X_BS)
        self._sight = Occlusion(rig)
        self._sun_W, self._is_up = sun.direction_W, sun.elevation_deg > 0.0

        # The cosine of 90 degrees is not quite 0 in floating point
        self._least = math.cos(math.radians(half_angle_deg)) if half_angle_deg < 90.0 else 0.0

    def sample(self, time_ns: int, out: Float) -> None:
        """The ideal sample at a time, shape (rows, 2)."""
        out[...] = 0.0
        if not self._is_up:
            return
        state = self._motion.at(time_ns, acceleration=False)
        cosine = dot(_boresight(state.quaternion.reshape(-1, 4)), self._sun_W)
        rows = np.flatnonzero((cosine > 0.0) & (cosine >= self._least))

        # Cast rays only for cells that face the Sun
        clear = self._sight.clear(time_ns, state.position.reshape(-1, 3), self._sun_W[None], rows)[:, 0]
        lit = rows[clear]
        out[lit, 0] = np.minimum(cosine[lit], 1.0)
        out[lit, 1] = 1.0


def _boresight(q_WS: Float) -> Float:
    """The sensors' x axes in world axes: the first column of R(q)."""
    w, x, y, z = q_WS[:, 0], q_WS[:, 1], q_WS[:, 2], q_WS[:, 3]
    return np.stack([1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)], axis=-1)

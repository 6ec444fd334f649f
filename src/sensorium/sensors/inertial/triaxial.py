"""Three axes and their errors: the groups `linear`, `angular` and `magnetic` of inertial sensors."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from sensorium.core.frames import Pose
from sensorium.core.spec import Spec
from sensorium.corruption import (
    Corruption,
    FaultSchedule,
    LowPass,
    Noise,
    Nonlinearity,
    Part,
    Quantize,
    Saturate,
    Scale,
    TemperatureDrift,
)
from sensorium.corruption.engine.base import AnyCorruption
from sensorium.corruption.errors.couple import Coupling
from sensorium.sensors.common.error_group import RENAMED, channel_parts

AXES = "xyz"


def _some_axes(axes: str) -> str:
    """Some of x, y and z, each once."""
    if not axes or len(set(axes)) != len(axes) or not set(axes) <= set(AXES):
        raise ValueError(f"axes is {axes!r}; it must be some of x, y and z, each once, such as 'xz'")
    return axes


class Triaxial(Spec):
    """Errors of a sensor with three axes, in the order they act.

    Bandwidth, scale and misalignment, nonlinearity, g-sensitivity (gyroscopes only), temperature, noise with bias and
    walks, further corruptions, faults, quantization, saturation. Each part has a switch `on`. With order "agx" it is
    the AGX paper's: saturation first, then bias, the cross-axis matrix and noise; the output may leave the range
    (physics.md E-18).
    """

    hint_aliases: ClassVar[Mapping[str, str]] = RENAMED

    low_pass: LowPass | None = None
    """Bandwidth of the sensor."""
    scale: Scale = Field(default_factory=Scale)
    """Scale factor, misalignment, cross-axis coupling."""
    nonlinearity: Nonlinearity | None = None
    """Departure from a straight line."""
    temperature: TemperatureDrift | None = None
    """Drift with temperature."""
    noise: Noise = Field(default_factory=Noise)
    """Bias, walks and white noise."""
    extra: tuple[AnyCorruption, ...] = ()
    """Further corruptions."""
    quantization: Quantize = Field(default_factory=Quantize)
    """Quantization."""
    saturation: Saturate = Field(default_factory=Saturate)
    """Saturation."""
    order: Literal["physical", "agx"] = "physical"
    """Which of the two orders."""
    axes: Annotated[str, AfterValidator(_some_axes)] = AXES
    """Axes that are read out, in their order; choosing them is the last step."""
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Position in the frame of its sensor [m]."""
    quaternion: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    """Its attitude there, w x y z."""

    @property
    def pose(self) -> Pose:
        """Place in the frame of its sensor."""
        return Pose(self.position, self.quaternion)

    def parts(
        self,
        *,
        column: int,
        group: int,
        target: str,
        period_s: float,
        faults: FaultSchedule,
        g_sensitivity: Coupling | None = None,
    ) -> list[Part]:
        """Its operations on three channels of a sensor's signal.

        Args:
            column: First of the channels.
            group: Number that keeps its randomness apart from other groups'.
            target: Name that faults call it by.
            period_s: Nominal time between samples [s].
            faults: Of the sensor.
            g_sensitivity: Coupling of the specific force into a gyroscope.
        """
        first, then, last = self._ordered()
        before = [*first, *([] if g_sensitivity is None else [g_sensitivity]), *then]
        return channel_parts(
            before, last, width=3, period_s=period_s, faults=faults, target=target, column=column, group=group
        )

    def _ordered(self) -> tuple[list[Corruption], list[Corruption], list[Corruption]]:
        """Parts before the coupling, after it, and after faults."""
        optional = [self.low_pass, self.nonlinearity, self.temperature]
        low_pass, nonlinearity, temperature = ([one] if one is not None else [] for one in optional)
        if self.order == "agx":
            *slow, white = self.noise.parts() if self.noise.on else (Noise(on=False),)
            within = [white, *nonlinearity, *temperature, *self.extra]
            return [*low_pass, self.saturation, *slow, self.scale], within, [self.quantization]
        within = [*temperature, self.noise, *self.extra]
        return [*low_pass, self.scale, *nonlinearity], within, [self.quantization, self.saturation]


class LinearGroup(Triaxial):
    """Errors of an accelerometer, and how its ideal value is found."""

    source: Literal["velocity", "engine"] = "velocity"
    """Source of the acceleration: the change of the sensor point's velocity over the last step of the world (a mean,
    half a step late), or the world's own acceleration at the instant."""
    gravity_sign: Literal[-1, 1] = -1
    """Specific force is a - g, and -1 is right; the AGX paper prints +1 (physics.md E-17)."""


class AngularGroup(Triaxial):
    """Errors of a gyroscope."""

    g_sensitivity: float | tuple[tuple[float, float, float], ...] = 0.0
    """Error per m/s^2 of specific force [(rad/s)/(m/s^2)]: one number on each axis, or a 3 x 3 matrix."""

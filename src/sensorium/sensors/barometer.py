"""A barometer: air pressure at a height, and the altitude computed from it."""

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field

from sensorium.core.errors import SpecError
from sensorium.core.rotations import Float
from sensorium.corruption import Noise, Program, Quantize, Saturate
from sensorium.corruption.engine.base import AnyCorruption
from sensorium.sensors.common.error_group import RENAMED, channel_parts
from sensorium.sensors.common.sampled import (
    Quantity,
    Sample,
    SampledModel,
    SampledReading,
    StatelessSignal,
    required_rate_hz,
)
from sensorium.sensors.common.spec import Rig, SensorSpec, Timing
from sensorium.worlds.point_motion import PointMotion

STANDARD_SEA_LEVEL_PA = 101325.0

# The standard atmosphere: lapse rate over temperature at sea level, 0.0065 K/m / 288.15 K, and g M / (R 0.0065 K/m)
_LAPSE_PER_M = 2.25577e-5
_EXPONENT = 5.25588

# Heights of linearly falling temperature: from the lowest tabulated height to the tropopause
_LOWEST_M, _HIGHEST_M = -5000.0, 11000.0


def pressure_at(height_m: ArrayLike, sea_level_Pa: float = STANDARD_SEA_LEVEL_PA) -> Float:
    """Pressure of the standard atmosphere in the troposphere, p = p_0 (1 - 2.25577e-5 h)^5.25588 [Pa].

    1000 m give 89874.6 Pa. Ref: physics.md 13; International Standard Atmosphere, ISO 2533, whose heights are
    geopotential ones, 19 m less than geometric ones at 11 km; that difference is left out.

    Args:
        height_m: Height above the sea [m], any shape, from -5000 to 11000.
        sea_level_Pa: Pressure at sea level p_0 [Pa].
    """
    return np.asarray(sea_level_Pa * np.power(1.0 - _LAPSE_PER_M * np.asarray(height_m, np.float64), _EXPONENT))


def altitude_of(pressure_Pa: ArrayLike, sea_level_Pa: float = STANDARD_SEA_LEVEL_PA) -> Float:
    """Height at which the standard atmosphere has a pressure [m], the inverse of `pressure_at`.

    A pressure of zero or less, which only a fault gives, is the formula's own end, 44331 m.

    Args:
        pressure_Pa: Pressure [Pa], any shape.
        sea_level_Pa: Pressure at sea level p_0 [Pa].
    """
    share = np.maximum(np.asarray(pressure_Pa, np.float64) / sea_level_Pa, 0.0)
    return np.asarray((1.0 - np.power(share, 1.0 / _EXPONENT)) / _LAPSE_PER_M)


class BarometerReading(SampledReading):
    """Pressure, and the altitude that goes with it."""

    __slots__ = ("_sea_level_Pa",)

    def __init__(self, sample: Sample, rig: Rig, sea_level_Pa: float) -> None:
        super().__init__(sample, rig)
        self._sea_level_Pa = sea_level_Pa

    @property
    def pressure_Pa(self) -> Float:
        """Air pressure [Pa]; shape () or the leading axes."""
        return self._channel(0)

    @property
    def altitude_m(self) -> Float:
        """Height above the sea that has this pressure [m]; shape () or the leading axes."""
        return altitude_of(self.pressure_Pa, self._sea_level_Pa)

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """Its quantities by name, for tables and plots."""
        altitude = Quantity("altitude_m", "Altitude", "m", is_plotted=False)
        return Quantity("pressure_Pa", "Pressure", "Pa"), altitude

    def __repr__(self) -> str:
        return f"BarometerReading(time_ns={self.time_ns}, pressure_Pa={self.pressure_Pa})"


class Barometer(SensorSpec[BarometerReading]):
    """p = p_0 (1 - 2.25577e-5 h)^5.25588 [Pa] at h = z + `reference_height_m`, in the troposphere.

    Errors act on the pressure, in this order: noise (its Gauss-Markov part is the drift that weather and temperature
    cause), further corruptions, faults, quantization, saturation. Near the ground 12 Pa are one meter. The altitude of
    a reading follows from its pressure, errors and all. A world that leaves -5000 to 11000 m is an error.

    >>> env = sn.Environment(sn.Scene(), sn.worlds.Static({"drone": sn.Pose((0, 0, 100.0))}, step_s=0.1))
    >>> barometer = env.attach(sn.Barometer(timing=sn.Timing(rate_hz=10.0)), body="drone")
    >>> env.step()
    >>> barometer.read().pressure_Pa.round(0).item()
    100129.0
    """

    targets: ClassVar[tuple[str, ...]] = ("pressure",)

    hint_aliases: ClassVar[Mapping[str, str]] = RENAMED

    kind: Literal["barometer"] = "barometer"
    timing: Timing = Field(default_factory=lambda: Timing(rate_hz=50.0))
    """Clock; 50 Hz by default."""
    reference_height_m: float = 0.0
    """Height above the sea of the world's z = 0 [m]."""
    sea_level_Pa: float = Field(default=STANDARD_SEA_LEVEL_PA, gt=0.0)
    """Pressure at sea level [Pa], of the atmosphere and of the altimeter setting."""
    noise: Noise = Field(default_factory=Noise)
    """Bias, drift and white noise [Pa]."""
    extra: tuple[AnyCorruption, ...] = ()
    """Further corruptions."""
    quantization: Quantize = Field(default_factory=Quantize)
    """Quantization."""
    saturation: Saturate = Field(default_factory=Saturate)
    """Saturation."""

    def start(self, rig: Rig) -> SampledModel[BarometerReading]:
        """Put it to work."""
        period_s = 1.0 / required_rate_hz(self.timing)
        parts = channel_parts(
            [self.noise, *self.extra],
            [self.quantization, self.saturation],
            width=1,
            period_s=period_s,
            faults=self.faults,
            target="pressure",
        )
        return SampledModel(
            rig,
            self.timing,
            _PressureSignal(rig, self.reference_height_m, self.sea_level_Pa),
            Program(parts, columns=1, period_s=period_s),
            lambda sample: BarometerReading(sample, rig, self.sea_level_Pa),
            looks_back=False,
        )


class _PressureSignal(StatelessSignal):
    """Pressure where the sensor is."""

    columns = 1

    def __init__(self, rig: Rig, reference_height_m: float, sea_level_Pa: float) -> None:
        self._motion = PointMotion(rig.history, rig.body, rig.X_BS)
        self._name, self._reference_height_m, self._sea_level_Pa = rig.name, reference_height_m, sea_level_Pa

    def sample(self, time_ns: int, out: Float) -> None:
        """The ideal sample at a time, shape (rows, 1)."""
        height_m = self._motion.at(time_ns, acceleration=False).position[..., 2].reshape(-1) + self._reference_height_m
        wrong = (height_m < _LOWEST_M) | (height_m > _HIGHEST_M)
        if wrong.any():
            raise SpecError(
                f"the height of sensor {self._name!r} is {height_m[np.argmax(wrong)]:g} m; "
                f"it must be from {_LOWEST_M:g} to {_HIGHEST_M:g} m, where the barometric formula holds"
            )
        out[:, 0] = pressure_at(height_m, self._sea_level_Pa)

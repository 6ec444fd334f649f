"""Data sheets of inertial measurement units and magnetometers."""

from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

from pydantic import model_validator

from sensorium.devices.sheet import Quantity, Rule, Sheet, Values
from sensorium.devices.units import DENSITY, SPREAD, STABILITY, scaled

# Placeholder for the SI unit of a group's signal
_SIGNAL = "signal"


class Group(Values):
    """Three axes of one signal; a value is one for all axes, or one for each.

    Limits over all devices of a type (tolerance of scale, cross-axis sensitivity, nonlinearity, drift with temperature)
    are not values of one device: they are listed and fill no field.
    """

    signal: ClassVar[str]
    """SI unit of the signal."""

    range: Annotated[Quantity | None, Rule(_SIGNAL, ("saturation",))] = None
    """Largest reading, the same to both sides."""
    lsb: Annotated[Quantity | None, Rule(_SIGNAL, ("quantization.lsb",))] = None
    """Size of a code; its unit may be LSB/g and the like."""
    bandwidth: Annotated[Quantity | None, Rule("Hz", ("low_pass",))] = None
    """Corner of the sensor's own filter; the model takes one pole."""
    density: Annotated[Quantity | None, Rule(f"{_SIGNAL}/sqrt(Hz)", ("noise.density",), DENSITY)] = None
    """Noise density."""
    random_walk: Annotated[Quantity | None, Rule(f"{_SIGNAL}/sqrt(Hz)", ("noise.density",))] = None
    """Angle or velocity random walk, which is the two-sided density; where a density is given too, that counts."""
    noise: Annotated[Quantity | None, Rule(_SIGNAL, ("noise.std",), SPREAD)] = None
    """Noise of a sample, instead of a density."""
    in_run_bias: Annotated[Quantity | None, Rule(_SIGNAL, ("noise.instability",), STABILITY)] = None
    """In-run bias stability."""
    initial_bias: Annotated[Quantity | None, Rule(_SIGNAL, ("noise.bias_std",), SPREAD)] = None
    """Bias when switched on."""
    scale_tolerance: Annotated[Quantity | None, Rule("1")] = None
    cross_axis: Annotated[Quantity | None, Rule("1")] = None
    misalignment: Annotated[Quantity | None, Rule("deg")] = None
    nonlinearity: Annotated[Quantity | None, Rule("1")] = None
    """Share of full scale."""
    bias_per_kelvin: Annotated[Quantity | None, Rule(_SIGNAL)] = None

    @model_validator(mode="after")
    def _one_kind_of_white_noise(self) -> "Group":
        if self.noise is not None and (self.density is not None or self.random_walk is not None):
            raise ValueError("noise is given with a density; white noise has one or the other")
        return self

    @classmethod
    def rules(cls) -> dict[str, Rule]:
        """The rules, for this signal."""
        signal = getattr(cls, "signal", _SIGNAL)
        return {name: replace(rule, unit=rule.unit.replace(_SIGNAL, signal)) for name, rule in super().rules().items()}

    def fields(self) -> dict[str, Any]:
        """The fields of a group of the specification."""
        fields: dict[str, Any] = {}
        if (limit := self.number("range")) is not None:
            fields["saturation"] = {"min": scaled(limit, -1.0), "max": limit}
        if (lsb := self.number("lsb")) is not None:
            fields["quantization"] = {"lsb": lsb}
        if (corner_hz := self.number("bandwidth")) is not None:
            fields["low_pass"] = {"cutoff_hz": corner_hz}

        noise: dict[str, Any] = {}
        for name, field in (("noise", "std"), ("in_run_bias", "instability"), ("initial_bias", "bias_std")):
            if (number := self.number(name)) is not None:
                noise[field] = number
        density = self.number("density")
        if density is None and (walk := self.number("random_walk")) is not None:
            density = scaled(walk, DENSITY["two-sided"])
        if density is not None:
            noise |= {"density": density, "sided": "one"}
        return fields | ({"noise": noise} if noise else {})

    def missing(self) -> tuple[str, ...]:
        """Fields that the model's defaults decide."""
        given = {field for _, _, rule in self.stated() for field in rule.fills}
        if given & {"noise.density", "noise.std"}:
            given |= {"noise.density", "noise.std"}
        wanted = dict.fromkeys(field for rule in self.rules().values() for field in rule.fills)
        return tuple(field for field in wanted if field not in given)


class LinearValues(Group):
    """An accelerometer."""

    signal = "m/s^2"


class AngularValues(Group):
    """A gyroscope."""

    signal = "rad/s"


class MagneticValues(Group):
    """A magnetometer."""

    signal = "T"


class ImuSheet(Sheet):
    """An inertial measurement unit."""

    kind: Literal["imu"] = "imu"
    sample_rate: Annotated[Quantity | None, Rule("Hz", ("timing.rate_hz",))] = None
    linear: LinearValues | None = None
    angular: AngularValues | None = None
    magnetic: MagneticValues | None = None

    @property
    def groups(self) -> dict[str, Group]:
        """The groups that the device has."""
        groups = {"linear": self.linear, "angular": self.angular, "magnetic": self.magnetic}
        return {name: group for name, group in groups.items() if group is not None}

    def specification(self) -> dict[str, Any]:
        """Fields of `Imu`; a group that the sheet does not have is not there."""
        fields: dict[str, Any] = {"kind": "imu", "linear": None, "angular": None, "magnetic": None}
        fields |= {name: group.fields() for name, group in self.groups.items()}
        if (rate_hz := self.number("sample_rate")) is not None:
            fields["timing"] = {"rate_hz": rate_hz}
        return fields

    def defaults(self) -> tuple[str, ...]:
        """Fields that keep the model's default."""
        missing = [] if self.sample_rate is not None else ["timing.rate_hz"]
        return (*missing, *(f"{name}.{field}" for name, group in self.groups.items() for field in group.missing()))


class MagnetometerSheet(MagneticValues, Sheet):
    """A magnetometer by itself."""

    kind: Literal["magnetometer"] = "magnetometer"
    sample_rate: Annotated[Quantity | None, Rule("Hz", ("timing.rate_hz",))] = None

    def specification(self) -> dict[str, Any]:
        """Fields of `Magnetometer`."""
        fields = {"kind": "magnetometer", **self.fields()}
        if (rate_hz := self.number("sample_rate")) is not None:
            fields["timing"] = {"rate_hz": rate_hz}
        return fields

    def defaults(self) -> tuple[str, ...]:
        """Fields that keep the model's default."""
        return self.missing()

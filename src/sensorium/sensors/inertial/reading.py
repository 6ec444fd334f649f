"""Readings of inertial and magnetic sensors."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.core.rotations import multiply, quaternion_exp, quaternion_log
from sensorium.sensors.common.sampled import XYZ, Quantity, Sample, SampledReading
from sensorium.sensors.common.spec import Rig

Float = NDArray[np.float64]

# Outputs; increments belong to the rate that carries their errors
RATES = ("acceleration", "angular_velocity", "magnetic_field")
INTEGRALS = {"delta_velocity": "acceleration", "delta_angle": "angular_velocity"}
OUTPUTS = (*RATES, *INTEGRALS)

# Title and unit of each
_TITLES = {
    "acceleration": ("Specific force", "m/s²"),
    "angular_velocity": ("Angular velocity", "rad/s"),
    "magnetic_field": ("Magnetic field", "T"),
    "delta_velocity": ("Velocity increment", "m/s"),
    "delta_angle": ("Angle increment", "rad"),
}


@dataclass(frozen=True)
class InertialLayout:
    """Channels of a sensor, and the quantities that it reads out.

    Attributes:
        rig: Mount of the sensor, for the axes of its arrays.
        outputs: Names, in the order of `values`.
        columns: First channel of each quantity.
        axes: Which of x, y, z each rate reads out, as indices.
    """

    rig: Rig
    outputs: tuple[str, ...]
    columns: Mapping[str, int]
    axes: Mapping[str, list[int]]


class InertialReading(SampledReading):
    """One reading: specific force, rates and fields in the sensor's own axes.

    Arrays have the shape (axes,), with leading axes of worlds and sensors where the environment has them.
    """

    __slots__ = ("_layout",)

    def __init__(self, sample: Sample, layout: InertialLayout) -> None:
        self._sample, self._rig, self._layout = sample, layout.rig, layout

    @property
    def interval_s(self) -> float:
        """Time since the reading before, over which the increments run [s]."""
        interval_s: float = self._sample.interval_s
        return interval_s

    @property
    def acceleration(self) -> Float:
        """Specific force [m/s^2]: at rest it points up."""
        return self._rate("acceleration")

    @property
    def angular_velocity(self) -> Float:
        """Angular velocity [rad/s]."""
        return self._rate("angular_velocity")

    @property
    def magnetic_field(self) -> Float:
        """Magnetic flux density [T]."""
        return self._rate("magnetic_field")

    @property
    def delta_velocity(self) -> Float:
        """Specific force integrated since the reading before [m/s]: DV = a dt.

        a is the corrupted mean over the interval, so that errors, rounding, saturation and faults of the rate act for
        the whole interval (physics.md 9, R12); the acceleration of such a sensor is that mean.
        """
        self._require("delta_velocity")
        return self._picked("acceleration", self._of(self._sample.x, "acceleration") * self._sample.interval_s)

    @property
    def delta_angle(self) -> Float:
        """Rotation vector since the reading before [rad]: q = log(exp(q_0) exp(e dt)).

        q_0 is the true rotation; the chain corrupts its mean rate q_0 / dt and adds e to it.
        """
        self._require("delta_angle")
        ideal, interval_s = self._of(self._sample.ideal, "angular_velocity"), self._sample.interval_s
        error = self._of(self._sample.x, "angular_velocity") - ideal
        turned = multiply(quaternion_exp(ideal * interval_s), quaternion_exp(error * interval_s))
        return self._picked("angular_velocity", quaternion_log(turned))

    @property
    def values(self) -> Float:
        """All outputs side by side, in the order of the specification."""
        return np.concatenate([getattr(self, name) for name in self._layout.outputs], axis=-1)

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """Its quantities by name, for tables and plots."""
        found = []
        for name in self._layout.outputs:
            axes = tuple(XYZ[axis] for axis in self._layout.axes[INTEGRALS.get(name, name)])
            found.append(Quantity(name, *_TITLES[name], axes, is_inertial=name in RATES))
        return tuple(found)

    def __repr__(self) -> str:
        outputs = ", ".join(f"{name}={getattr(self, name)}" for name in self._layout.outputs)
        return f"InertialReading(time_ns={self.time_ns}, {outputs})"

    def _rate(self, name: str) -> Float:
        self._require(name)
        return self._picked(name, self._of(self._sample.x, name))

    def _require(self, name: str) -> None:
        if name not in self._layout.outputs:
            has = ", ".join(self._layout.outputs)
            raise SpecError(f"{name} is asked for; this sensor's outputs are {has}")

    def _of(self, x: Float, name: str) -> Float:
        column = self._layout.columns[name]
        return x[:, column : column + 3]

    def _picked(self, rate: str, vectors: Float) -> Float:
        axes = self._layout.axes[rate]
        return self._shaped(vectors if len(axes) == 3 and axes == [0, 1, 2] else vectors[:, axes])

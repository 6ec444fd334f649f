"""Errors of a quantity: the fields `noise`, `extra`, `discrete` and `sat` that groups of every sensor have."""

from pydantic import Field

from sensorium.core.spec import Spec
from sensorium.corruption import FaultSchedule, Noise, Part, Quantize, Saturate
from sensorium.corruption.engine.base import AnyCorruption
from sensorium.sensors.common.channel_parts import channel_parts


class ErrorGroup(Spec):
    """Errors of one quantity of a sensor, in the order they act.

    Noise with bias and walks, further corruptions, faults, quantisation, saturation. Each part has a switch `on`.
    """

    noise: Noise = Field(default_factory=Noise)
    """Bias, walks and white noise."""
    extra: tuple[AnyCorruption, ...] = ()
    """Further corruptions."""
    discrete: Quantize = Field(default_factory=Quantize)
    """Quantisation."""
    sat: Saturate = Field(default_factory=Saturate)
    """Saturation."""

    def channel_parts(
        self, *, width: int, period_s: float, faults: FaultSchedule, target: str, column: int, group: int
    ) -> list[Part]:
        """Its operations on some neighbouring channels; see `channel_parts` for the arguments."""
        return channel_parts(
            [self.noise, *self.extra],
            [self.discrete, self.sat],
            width=width,
            period_s=period_s,
            faults=faults,
            target=target,
            column=column,
            group=group,
        )

"""Errors of a quantity: the fields `noise`, `extra`, `quantization` and `saturation` of every sensor's groups."""

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from sensorium.core.spec import Spec
from sensorium.corruption import FaultSchedule, Noise, Part, Quantize, Saturate
from sensorium.corruption.engine.base import AnyCorruption
from sensorium.sensors.common.channel_parts import channel_parts

RENAMED = {"discrete": "quantization", "sat": "saturation"}
"""Names that fields had before 0.1.0, for hints."""


class ErrorGroup(Spec):
    """Errors of one quantity of a sensor, in the order they act.

    Noise with bias and walks, further corruptions, faults, quantization, saturation. Each part has a switch `on`.
    """

    hint_aliases: ClassVar[Mapping[str, str]] = RENAMED

    noise: Noise = Field(default_factory=Noise)
    """Bias, walks and white noise."""
    extra: tuple[AnyCorruption, ...] = ()
    """Further corruptions."""
    quantization: Quantize = Field(default_factory=Quantize)
    """Quantization."""
    saturation: Saturate = Field(default_factory=Saturate)
    """Saturation."""

    def channel_parts(
        self, *, width: int, period_s: float, faults: FaultSchedule, target: str, column: int, group: int
    ) -> list[Part]:
        """Its operations on some neighboring channels; see `channel_parts` for the arguments."""
        return channel_parts(
            [self.noise, *self.extra],
            [self.quantization, self.saturation],
            width=width,
            period_s=period_s,
            faults=faults,
            target=target,
            column=column,
            group=group,
        )

"""Errors of a quantity: the fields `noise`, `extra`, `quantization` and `saturation` of every sensor's groups."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from pydantic import Field

from sensorium.core.spec import Spec
from sensorium.corruption import Chain, Corruption, FaultSchedule, Noise, Part, Quantize, Saturate
from sensorium.corruption.engine.base import AnyCorruption, Layout, layouts_in_row


def channel_parts(
    before: Sequence[Corruption],
    after: Sequence[Corruption] = (),
    *,
    width: int,
    period_s: float,
    faults: FaultSchedule,
    target: str,
    column: int = 0,
    group: int = 0,
    within: Layout | None = None,
) -> list[Part]:
    """Parts for some neighboring channels: corruptions, the sensor's faults, and converters of the signal.

    Args:
        before: Corruptions before faults, in order.
        after: Corruptions after the faults, usually a quantizer and a saturation, which take account of each other.
        width: Number of channels.
        period_s: Nominal time between samples [s].
        faults: Of the sensor.
        target: Name that faults call these channels by.
        column: First of the channels.
        group: Number that keeps their randomness apart from other channels'.
        within: Limits of the sensor itself, for where the chain has none, and codes that come after the chain.
    """
    here = [fault for fault in faults.faults if fault.target in (None, target)]
    first, last = Chain(before), Chain(after)
    layout = Chain([*before, *after]).with_own_limits(within or Layout(width, period_s))
    layouts = layouts_in_row([first, Chain(here), last], layout)
    return [
        Part(first.operations(layouts[0]), column, width, group),
        *faults.parts(layouts[1], column=column, group=group, target=target),
        Part(last.operations(layouts[2]), column, width, group),
    ]


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

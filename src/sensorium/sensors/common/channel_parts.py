"""Corruptions of a sensor's channels, and its faults between them, as parts of one program."""

from collections.abc import Sequence

from sensorium.corruption import Chain, Corruption, FaultSchedule, Part
from sensorium.corruption.engine.base import Layout, layouts_in_row


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

"""Corruptions of a sensor's channels, and its faults between them, as parts of one program."""

from collections.abc import Sequence
from dataclasses import replace

from sensorium.corruption import Chain, Corruption, FaultSchedule, Part
from sensorium.corruption.base import Layout


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
) -> list[Part]:
    """Parts for some neighbouring channels: corruptions, the sensor's faults, and what converts the signal.

    Args:
        before: Corruptions before faults, in order.
        after: Those after them, as a rule a quantiser and a saturation, which are told of each other.
        width: Number of channels.
        period_s: Nominal time between samples [s].
        faults: Of the sensor.
        target: Name that faults call these channels by.
        column: First of the channels.
        group: Number that keeps their randomness apart from other channels'.
    """
    whole = Chain([*before, *after])
    layout = Layout(width, period_s, whole.limits(width))
    layout = replace(layout, grid=whole.grid(layout))
    return [
        Part(Chain(before).operations(layout), column, width, group),
        *faults.parts(layout, column=column, group=group, target=target),
        Part(Chain(after).operations(layout), column, width, group),
    ]

"""Corruptions in order."""

from collections.abc import Sequence
from typing import Any, Literal

from sensorium.corruption.base import AnyCorruption, Corruption, Float, Grid, Layout
from sensorium.corruption.op import Op
from sensorium.spec import Spec, by_place


class Chain(Corruption):
    """Corruptions one after the other, each on what the one before gives.

    What they must know of each other is told here: bits divide the limits of the chain's saturation, and a saturation
    ends on codes of the chain's quantiser, so that the output is always a code and the two may stand in either order.
    """

    kind: Literal["chain"] = "chain"
    parts: tuple[AnyCorruption, ...] = ()
    """In order."""

    @by_place
    def __init__(self, parts: Sequence[Corruption] = (), **fields: Any) -> None:
        Spec.__init__(self, parts=parts, **fields)

    def operations(self, layout: Layout) -> list[Op]:
        """Those of all parts."""
        return [op for part in self.parts for op in part.switched(layout)]

    def limits(self, width: int) -> tuple[Float, Float] | None:
        """Those of the last saturation that is on."""
        found = [part.limits(width) for part in self.parts if part.on]
        return next((limits for limits in reversed(found) if limits is not None), None)

    def grid(self, layout: Layout) -> Grid | None:
        """That of the last quantiser that is on."""
        found = [part.grid(layout) for part in self.parts if part.on]
        return next((grid for grid in reversed(found) if grid is not None), None)

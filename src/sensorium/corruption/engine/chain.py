"""Corruptions in order."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from sensorium.core.spec import Spec, positional_init
from sensorium.corruption.engine.base import AnyCorruption, Corruption, Float, Grid, Layout, layouts_in_row
from sensorium.corruption.engine.op import Op


class Chain(Corruption):
    """Corruptions in sequence, each on the output of the one before.

    The parts depend on each other in two ways: bits divide the limits of the chain's saturation, wherever it
    stands, and a saturation that nothing but quantizers and other saturations separates from a quantizer ends on its
    codes, so that the two may stand in either order.
    """

    kind: Literal["chain"] = "chain"
    parts: tuple[AnyCorruption, ...] = ()
    """In order."""

    @positional_init
    def __init__(self, parts: Sequence[Corruption] = (), **fields: Any) -> None:
        Spec.__init__(self, parts=parts, **fields)

    def operations(self, layout: Layout) -> list[Op]:
        """Operations of all parts."""
        layouts = layouts_in_row(self.parts, layout)
        return [op for part, own in zip(self.parts, layouts, strict=True) for op in part.switched(own)]

    def limits(self, width: int) -> tuple[Float, Float] | None:
        """Limits of the last saturation that is on and has both; else on each side those of the last that has one."""
        given = [part.limits(width) for part in self.parts if part.on]
        found = [limits for limits in reversed(given) if limits is not None]
        if not found:
            return None
        lower = next((lo for lo, _ in found if np.isfinite(lo).all()), found[0][0])
        upper = next((hi for _, hi in found if np.isfinite(hi).all()), found[0][1])
        return next((limits for limits in found if np.isfinite(limits).all()), (lower, upper))

    def has_limits_off(self) -> bool:
        """Whether a saturation in it is off."""
        return any(part.has_limits_off() for part in self.parts)

    def codes_behind(self, layout: Layout) -> Grid | None:
        """Codes behind its last part."""
        for part in self.parts if self.on else ():
            layout = replace(layout, codes_before=part.codes_behind(layout))
        return layout.codes_before

    def codes_ahead(self, layout: Layout) -> Grid | None:
        """Codes ahead of its first part."""
        for part in reversed(self.parts) if self.on else ():
            layout = replace(layout, codes_after=part.codes_ahead(layout))
        return layout.codes_after

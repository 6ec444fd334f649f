"""Number and layout of the rays of a pulse."""

import math
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import ConfigDict, Field

from sensorium.core.spec import Spec
from sensorium.sensors.lidar.beam import Beam

if TYPE_CHECKING:
    from sensorium.physics.optics.beam_rays import BeamRays

# rays per pulse where there are many pulses
_FEW = 19


class Grid(Spec):
    """A square grid clipped to the circle, with the spacing of eq. 8 of the VANE paper.

    The paper found that the shape of a pulse stops changing at about 1 cm between rays at 80 m, for bins of 0.5 ns.
    """

    model_config = ConfigDict(frozen=True)

    kind: Literal["grid"] = "grid"
    spacing_m: float = Field(default=0.01, gt=0.0)
    """Distance between neighbors [m] at `at_range_m`."""
    at_range_m: float = Field(default=80.0, gt=0.0)
    """Range of that spacing [m]."""
    across: int | None = Field(default=None, ge=1, le=2048)
    """Rays across the beam; None is eq. 8."""

    def rays(self, beam: Beam) -> "BeamRays":
        """The rays over a beam."""
        from sensorium.physics.optics.beam_rays import grid_rays

        return grid_rays(self.rays_across(beam))

    def rays_across(self, beam: Beam) -> int:
        """Rays across the wider axis of a beam, eq. 8 of the paper: N = 2 (r + R tan(Theta / 2)) / x, rounded up."""
        if self.across is not None:
            return self.across
        return math.ceil(2.0 * (beam.exit_radius_m + self.at_range_m * math.tan(beam.widest_rad)) / self.spacing_m)


class Spiral(Spec):
    """A golden-angle spiral: the most even layout of a few rays."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["spiral"] = "spiral"
    count: int = Field(default=_FEW, ge=1, le=2**22)
    """Rays per pulse."""

    def rays(self, beam: Beam) -> "BeamRays":
        """The rays over a beam."""
        from sensorium.physics.optics.beam_rays import spiral_rays

        return spiral_rays(self.count)


SubRays = Annotated[Grid | Spiral, Field(discriminator="kind")]
"""Any layout, distinguished by its `kind` when read from a plain dictionary."""

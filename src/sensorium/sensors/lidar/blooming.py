"""Stray light of retroreflectors in the receivers of neighboring rays."""

from pydantic import Field

from sensorium.core.spec import Spec


class Blooming(Spec):
    """Stray light around strong returns: `sn.optics.stray_light`, strength / (1 + (theta / radius)^slope).

    A ray at an angle theta from a strong return gets that share of it, at the same range, cause BLOOM; where several
    strong returns surround a ray, the strongest contribution counts. Off by default: no data sheet at hand states it.
    """

    strength: float = Field(gt=0.0, le=1.0)
    """Share of a strong return that the nearest neighbors receive [1]."""
    radius_deg: float = Field(gt=0.0, le=45.0)
    """Angle at which half of that share is left [deg]."""
    slope: float = Field(default=2.0, gt=0.0, le=8.0)
    """Exponent of the falloff at large angles."""
    reach_deg: float | None = Field(default=None, gt=0.0, le=90.0)
    """Angle beyond which a strong return gives no stray light [deg]; None is ten radii, 90 degrees at most."""
    above: float = Field(default=1.0, gt=0.0)
    """Returns spread light if they are this many times as strong as a white matt target at their range."""

"""Light of a retroreflector in receivers that look past it."""

from pydantic import Field

from sensorium.core.spec import Spec


class Blooming(Spec):
    """Stray light around strong returns: `sn.optics.stray_light`, strength / (1 + (theta / radius)^slope).

    A ray that looks past a strong return by theta gets that share of it, at the same range, cause BLOOM; of several
    strong returns around a ray the one that gives it most counts. Off unless given: no data sheet at hand states it.
    """

    strength: float = Field(gt=0.0, le=1.0)
    """Share of a strong return that the nearest neighbors get [1]."""
    radius_deg: float = Field(gt=0.0, le=45.0)
    """Angle at which half of that is left [deg]."""
    slope: float = Field(default=2.0, gt=0.0, le=8.0)
    """Power by which it falls off far outside."""
    reach_deg: float | None = Field(default=None, gt=0.0, le=90.0)
    """Farther from a strong return there is no stray light of it [deg]; None is ten radii, 90 degrees at most."""
    above: float = Field(default=1.0, gt=0.0)
    """Returns this many times as strong as a white matt target at their range spread light, weaker ones do not."""

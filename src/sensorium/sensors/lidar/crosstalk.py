"""Pulses of other lidars in a lidar's receiver."""

from pydantic import Field

from sensorium.core.spec import Spec


class Crosstalk(Spec):
    """Reception of pulses from other lidars of the environment, and from other sensors of the same rig.

    A lidar interferes if it follows light (any mode but "geometric"), sweeps (motion="rolling"), is switched on, and
    emits within half of `receiver.filter_width_m` of this lidar's wavelength. Its light arrives directly from its
    window or from the first surface that it illuminates, within `receiver.half_field_rad` of a ray, cause CROSSTALK, at
    the range that corresponds to the time of arrival; see `sn.optics.apparent_range`. Off by default; the option
    affects only the lidar that has it.
    """

    clock_spread_s: float = Field(default=1e-4, ge=0.0, le=1.0)
    """Clocks of lidars are not synchronized: in each sweep every other lidar is early or late by a uniform draw within
    plus or minus half of this [s]. 0 synchronizes them: pulses leave at the times of their patterns."""

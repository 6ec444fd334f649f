"""Pulses of other lidars in the receiver of one."""

from pydantic import Field

from sensorium.core.spec import Spec


class Crosstalk(Spec):
    """A lidar that receives the pulses of other lidars of its environment, and of its own kind on the same rig.

    Others count that follow the light (any mode but "geometric"), sweep (motion="rolling"), are switched on, and whose
    wavelength passes the filter: within half of `receiver.filter_width_m`. Their light comes straight from their window
    or by way of the first surface that they light up within `receiver.half_field_rad` of a ray, cause CROSSTALK, at the
    range that its time of arrival is taken for; see `sn.optics.apparent_range`. Off unless given, and on for the lidar
    that has it: others hear nothing.
    """

    clock_spread_s: float = Field(default=1e-4, ge=0.0, le=1.0)
    """Clocks of lidars run free: in each sweep every other is early or late by a uniform draw within plus or minus half
    of this [s]. 0 locks them: pulses leave when their patterns say."""

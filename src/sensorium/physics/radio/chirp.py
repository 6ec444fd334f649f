"""FMCW chirps: resolutions and unambiguous spans of a radar."""

from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike
from pydantic import ConfigDict, Field

from sensorium.core.constants import SPEED_OF_LIGHT_M_S
from sensorium.core.spec import Spec
from sensorium.physics.optics.checks import Array, checked

Positive = Annotated[float, Field(gt=0.0)]


class Chirp(Spec):
    """A frame of equal chirps that rise by `bandwidth_hz`, sampled while they do (complex samples).

    The echo of a surface at range R that recedes at v_r beats with the transmitted signal at

        f_b = 2 S R / c + 2 v_r / lambda,   S = B / T_r

    The second term moves the range by v_r f_0 / S, which is corrected with the measured v_r. From chirp to chirp, T_c
    apart, the phase of the beat turns by 4 pi v_r T_c / lambda. If N_t transmitters send in turn (time-division MIMO)
    each sends every N_t-th chirp: a frame lasts N_t as long and speeds alias N_t as early. Over a frame the range
    changes by v_r N_t N_c T_c, which smears it over as many cells. Ref: physics.md 12.
    """

    model_config = ConfigDict(frozen=True)

    carrier_hz: Positive = 77e9
    """f_0, from which the wavelength follows [Hz]."""
    bandwidth_hz: Positive = 300e6
    """B, swept while sampling [Hz]."""
    ramp_s: Positive = 40e-6
    """T_r, the sampled part of a chirp [s]."""
    samples: int = Field(default=256, ge=8, le=8192)
    """Complex samples of a chirp, as many as range cells."""
    chirps: int = Field(default=128, ge=1, le=4096)
    """N_c of each transmitter in a frame, as many as speed cells."""
    transmitters: int = Field(default=1, ge=1, le=64)
    """N_t that send in turn, chirp by chirp."""
    interval_s: Positive | None = None
    """T_c from chirp to chirp [s]; None lets them follow each other without a pause."""

    @property
    def period_s(self) -> float:
        """T_c [s]."""
        return self.ramp_s if self.interval_s is None else self.interval_s

    @property
    def wavelength_m(self) -> float:
        """Lambda = c / f_0 [m]; 3.89341 mm at 77 GHz."""
        return SPEED_OF_LIGHT_M_S / self.carrier_hz

    @property
    def slope_Hz_s(self) -> float:
        """S = B / T_r [Hz/s]."""
        return self.bandwidth_hz / self.ramp_s

    @property
    def frame_s(self) -> float:
        """N_t N_c T_c, how long a frame lasts [s]."""
        return self.transmitters * self.chirps * self.period_s

    @property
    def age_s(self) -> float:
        """From the mean time of the samples of a frame to its end, N_t N_c T_c / 2 + (T_c - T_r) / 2 [s]."""
        return 0.5 * (self.frame_s + self.period_s - self.ramp_s)

    @property
    def range_resolution_m(self) -> float:
        """Delta R = c / 2 B, the width of a range cell [m]; 0.149896 m for 1 GHz."""
        return SPEED_OF_LIGHT_M_S / (2.0 * self.bandwidth_hz)

    @property
    def unambiguous_range_m(self) -> float:
        """R_max = f_s c / 2 S, as many cells as samples [m]; farther targets alias."""
        return self.samples * self.range_resolution_m

    @property
    def speed_resolution_m_s(self) -> float:
        """Delta v = lambda / 2 N_t N_c T_c, the width of a speed cell [m/s]."""
        return self.wavelength_m / (2.0 * self.frame_s)

    @property
    def unambiguous_speed_m_s(self) -> float:
        """|v|_max = lambda / 4 N_t T_c [m/s]; faster targets alias to the other side."""
        return self.wavelength_m / (4.0 * self.transmitters * self.period_s)

    def beat_hz(self, range_m: ArrayLike, range_rate_m_s: ArrayLike = 0.0) -> Array:
        """Beat frequency f_b [Hz] of a rising chirp.

        Args:
            range_m: R [m], any shape.
            range_rate_m_s: v_r, positive where it recedes [m/s].
        """
        distance, rate = checked("range_m", range_m, at_least=0.0), checked("range_rate_m_s", range_rate_m_s)
        return 2.0 * self.slope_Hz_s * distance / SPEED_OF_LIGHT_M_S + 2.0 * rate / self.wavelength_m

    def coupling_m(self, range_rate_m_s: ArrayLike) -> Array:
        """Apparent additional range of a receding surface, v_r f_0 / S [m]."""
        return checked("range_rate_m_s", range_rate_m_s) * (self.carrier_hz / self.slope_Hz_s)

    def speed_of_phase(self, phase_rad: ArrayLike) -> Array:
        """Speed lambda phi / 4 pi T_c [m/s], from how far the phase turns between chirps [rad]."""
        return checked("phase_rad", phase_rad) * (self.wavelength_m / (4.0 * np.pi * self.period_s))


def folded(value: ArrayLike, period: float, *, low: float) -> Array:
    """A value aliased into [low, low + period): whole periods are lost."""
    span = float(checked("period", period, above=0.0))
    return checked("value", value) - span * np.floor((np.asarray(value, np.float64) - low) / span)

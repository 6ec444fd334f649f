"""Interference of another FMCW radar: its chirps in the beat signal.

While a chirp of the other radar crosses the received band, it beats with the transmitted signal: a burst whose
frequency runs by the difference of the slopes, some 10 dB and more above any echo, since its path is one-way.
Transforms spread a short burst over all ranges and speeds, which raises the noise; a chirp of the same slope and
interval crosses for long, and appears as a false echo. Ref: Brooker 2007, Mutual interference of millimeter-wave radar
systems.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import ConfigDict, Field, PositiveFloat

from sensorium.core.spec import Spec
from sensorium.physics.optics.checks import Array, checked
from sensorium.physics.radio.chirp import Chirp


class Interferer(Spec):
    """Another radar that sends towards this one, without anything in between."""

    model_config = ConfigDict(frozen=True)

    position_m: tuple[float, float, float]
    """Position [m]: in the world, or in the frame of its body."""
    body: str | None = None
    """Body that carries it; None for the world itself."""
    power_W: PositiveFloat = 0.01
    """Sent while a chirp lasts [W]."""
    gain_dBi: float = 20.0
    """Of its antenna towards this radar."""
    chirp: Chirp = Chirp(bandwidth_hz=400e6, ramp_s=30e-6, interval_s=37e-6)
    """Its carrier, bandwidth, ramp and interval; it sends without end."""
    is_falling: bool = False
    """Whether its chirps fall."""
    start_s: float | None = Field(default=None)
    """When one of its chirps starts, from the start of this radar's frame [s]; None is any time, another each frame."""


def one_way_power(range_m: ArrayLike, *, power_W: float, gains: ArrayLike, wavelength_m: float, loss: float) -> Array:
    """P G_t G_r lambda^2 / ((4 pi R)^2 L) [W], Friis 1946.

    Args:
        range_m: R [m], above 0.
        power_W: P [W].
        gains: G_t G_r of both antennas towards each other [1].
        wavelength_m: Lambda [m].
        loss: L of everything else, at least 1 [1].
    """
    spread = (4.0 * np.pi * checked("range_m", range_m, above=0.0)) ** 2 * checked("loss", loss, at_least=1.0)
    return power_W * checked("gains", gains, at_least=0.0) * wavelength_m**2 / spread


def interfering_beat(own: Chirp, other: Chirp, *, start_s: float, is_falling: bool) -> NDArray[np.complex128]:
    """Beat of another's chirps of amplitude 1 with one's own, shape (transmitters x chirps, samples).

    With f(u) = f_0 + S u at the time u from the middle of a ramp, the beat is exp(2 pi i (f_0 u + S u^2 / 2 - f_0' u' -
    S' u'^2 / 2)) if its frequency f(u) - f'(u') is in the band of the samples, 0 to f_s, and 0 elsewhere: the filter
    before the converter is an ideal one.

    Args:
        own: Of the receiver.
        other: Of the other radar; it sends chirps every `period_s`.
        start_s: When one of them starts to arrive, from the start of the frame [s].
        is_falling: Whether they fall.
    """
    chirps = np.arange(own.transmitters * own.chirps)[:, None]
    into = (np.arange(own.samples) + 0.5) * (own.ramp_s / own.samples)
    u = into - 0.5 * own.ramp_s
    since = np.mod(chirps * own.period_s + into - start_s, other.period_s)
    v = since - 0.5 * other.ramp_s
    slope = -other.slope_Hz_s if is_falling else other.slope_Hz_s
    beat_hz = own.carrier_hz + own.slope_Hz_s * u - other.carrier_hz - slope * v
    turns = own.carrier_hz * u + 0.5 * own.slope_Hz_s * u**2 - other.carrier_hz * v - 0.5 * slope * v**2
    in_band = (since < other.ramp_s) & (beat_hz >= 0.0) & (beat_hz < own.samples / own.ramp_s)
    return np.where(in_band, np.exp(2j * np.pi * turns), 0.0)

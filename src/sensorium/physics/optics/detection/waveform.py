"""Received power over time, from the distances of a lidar's rays: VANE's full-waveform model.

A ray that carries the power P_i to a surface of BRDF f_i at the range R_i brings back

    Delta P_i = P_i f_i cos(theta_i) A_r cos(psi_i) / R_i^2 x eta g

with the angle of incidence theta, the receiver's area A_r seen under psi, its spectral response eta and the gain g. It
arrives at 2 R_i / c and falls into the bin floor((2 R_i / c - t_start) / Delta t) of a time histogram, which is then
convolved with the pulse. The sum over rays is that of the whole beam if P_i are shares of its power (`grid_rays`).
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sensorium.core.constants import SPEED_OF_LIGHT_M_S
from sensorium.core.errors import SpecError
from sensorium.physics.optics.beam_rays import grid_cells, grid_rays
from sensorium.physics.optics.checks import Array, checked
from sensorium.physics.optics.detection.pulse import binned_pulse, checked_pulse


def range_of_bin(resolution_s: ArrayLike) -> Array:
    """Range [m] that a bin of the time histogram covers: c Delta t / 2; 0.5 ns are 7.4948 cm."""
    return SPEED_OF_LIGHT_M_S * checked("resolution_s", resolution_s, above=0.0) / 2.0


def ray_return(
    range_m: ArrayLike,
    *,
    power_W: ArrayLike,
    return_per_sr: ArrayLike,
    receiver_area_m2: ArrayLike,
    cos_receiver: ArrayLike = 1.0,
    response: ArrayLike = 1.0,
    gain: ArrayLike = 1.0,
) -> Array:
    """Signal of each ray, power times response and gain.

    Args:
        range_m: Distance R to the hit of the ray [m], above 0; infinite for a ray without a hit.
        power_W: Power P_i the ray carries [W].
        return_per_sr: f cos(theta) of the surface, back to the source [1/sr]; 0.5 / pi for a white half straight on.
        receiver_area_m2: A_r [m^2].
        cos_receiver: Cosine of the angle psi at which the receiver sees the ray.
        response: Spectral response eta at the laser's wavelength.
        gain: g.
    """
    distance = np.asarray(range_m, np.float64)
    if not (distance > 0.0).all():
        raise SpecError(f"range_m is {distance[~(distance > 0.0)].flat[0]:g}; it must be above 0")
    area = checked("receiver_area_m2", receiver_area_m2, above=0.0)
    seen = checked("power_W", power_W, at_least=0.0) * checked("return_per_sr", return_per_sr, at_least=0.0)
    electronics = checked("response", response, at_least=0.0) * checked("gain", gain, at_least=0.0)
    return seen * electronics * area * checked("cos_receiver", cos_receiver, at_least=0.0) / np.square(distance)


def time_histogram(
    range_m: ArrayLike, signal: ArrayLike, *, start_s: float, stop_s: float, resolution_s: float
) -> Array:
    """Signals of rays added up by their time of arrival, in bins of `resolution_s` from `start_s` to `stop_s` [s].

    Returns:
        Shape (bins,); rays that arrive outside of the window do not count.
    """
    bins = bin_count(start_s, stop_s, resolution_s)
    distance, value = np.broadcast_arrays(np.asarray(range_m, np.float64), checked("signal", signal))
    there = np.isfinite(distance)
    number = np.floor((2.0 * distance[there] / SPEED_OF_LIGHT_M_S - start_s) / resolution_s)
    inside = (number >= 0) & (number < bins)
    counted = np.bincount(number[inside].astype(np.int64), weights=value[there][inside], minlength=bins)
    return counted.astype(np.float64)


def arrivals(range_m: ArrayLike, signal: ArrayLike, pulse: tuple[ArrayLike, ArrayLike], **window: Any) -> Array:
    """The waveform of rays that each bring back the pulse at their own time, not at that of a bin.

    The output of `Lidar(mode="waveform")` in float64: the mean over each bin of sum_i signal_i s(t - 2 R_i / c).

    Args:
        range_m: Distance of each ray [m]; infinite for none.
        signal: Of each ray at the pulse's peak.
        pulse: Times from the peak [s] and values, as `gaussian_pulse_table` gives.
        window: `start_s`, `stop_s`, `resolution_s` [s].

    Returns:
        Shape (bins,).
    """
    bins = bin_count(**window)
    distance, value = (np.ravel(a) for a in np.broadcast_arrays(np.asarray(range_m, np.float64), signal))
    begin = window["start_s"] + window["resolution_s"] * np.arange(bins)
    wave = np.zeros(bins)
    for t, s in zip(2.0 * distance / SPEED_OF_LIGHT_M_S, value, strict=True):
        if np.isfinite(t) and s > 0.0:
            low, high = np.searchsorted(
                begin, (t + np.min(pulse[0]) - 2 * window["resolution_s"], t + np.max(pulse[0]))
            )
            wave[low:high] += s * binned_pulse(begin[low:high] - t, window["resolution_s"], *pulse)
    return wave


def convolved(histogram: ArrayLike, pulse: tuple[ArrayLike, ArrayLike], resolution_s: float) -> Array:
    """A time histogram convolved with a pulse of peak 1, in the same bins, as in the paper.

    Args:
        histogram: Signal in each bin, shape (bins,).
        pulse: Times from the peak [s] and values, as `gaussian_pulse_table` gives.
        resolution_s: Width of the bins [s].
    """
    t, _ = checked_pulse(*pulse)
    first, last = int(np.floor(t[0] / resolution_s)) - 1, int(np.ceil(t[-1] / resolution_s)) + 1
    number = np.arange(first, last + 1)
    kernel = binned_pulse((number - 0.5) * resolution_s, resolution_s, *pulse)
    values = checked("histogram", histogram)
    return np.convolve(values, kernel)[-first : -first + len(values)]


def waveform_of_distances(
    distance_m: ArrayLike,
    *,
    power_W: float,
    return_per_sr: ArrayLike,
    receiver_area_m2: float,
    divergence_rad: float,
    pulse: tuple[ArrayLike, ArrayLike],
    start_s: float,
    stop_s: float,
    resolution_s: float,
    response: float = 1.0,
    gain: float = 1.0,
) -> Array:
    """The waveform of one pulse from a square array of distances, as VANE's ray caster hands it over.

    Args:
        distance_m: Distance from the aperture along each ray of a square grid over the beam [m], shape (n, n); infinite
            for a ray without a hit. Rays outside the circle are ignored.
        power_W: Peak power of the pulse [W].
        return_per_sr: f cos(theta) of each ray's hit [1/sr], a number or shape (n, n).
        receiver_area_m2: Length times width of the receiver [m^2].
        divergence_rad: Full divergence of the beam [rad].
        pulse: Times from the peak [s] and values.
        start_s: When the digitizer begins, after the pulse's peak has left [s].
        stop_s: When it ends [s].
        resolution_s: Width of its bins [s].
        response: Spectral response of the receiver.
        gain: Of the electronics.

    Returns:
        Signal in each bin, power times response and gain, shape (bins,).
    """
    distance = np.asarray(distance_m, np.float64)
    if distance.ndim != 2 or distance.shape[0] != distance.shape[1]:
        raise SpecError(f"distance_m has shape {distance.shape}; it must be a square, as many rays down as across")
    middle, inside = grid_cells(len(distance))
    rays = grid_rays(len(distance))
    slope = np.tan(divergence_rad / 2.0) * np.hypot(middle[:, None], middle)[inside]
    signal = ray_return(
        distance[inside],
        power_W=power_W * rays.weight,
        return_per_sr=np.broadcast_to(return_per_sr, distance.shape)[inside],
        receiver_area_m2=receiver_area_m2,
        cos_receiver=1.0 / np.sqrt(1.0 + np.square(slope)),
        response=response,
        gain=gain,
    )
    window = {"start_s": start_s, "stop_s": stop_s, "resolution_s": resolution_s}
    return convolved(time_histogram(distance[inside], signal, **window), pulse, resolution_s)


def bin_count(start_s: float, stop_s: float, resolution_s: float) -> int:
    """Bins of a window, the last one whole; at least one."""
    checked("resolution_s", resolution_s, above=0.0)
    if not (np.isfinite(start_s) and np.isfinite(stop_s) and stop_s > start_s):
        raise SpecError(f"start_s is {start_s:g} and stop_s {stop_s:g}; the window must end after it begins")
    return max(int(np.ceil((stop_s - start_s) / resolution_s - 1e-9)), 1)

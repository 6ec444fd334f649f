"""Receiver tables of the kernel: power over distance, photon-counting constants, sunlight."""

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.core.constants import SPEED_OF_LIGHT_M_S
from sensorium.core.errors import SpecError
from sensorium.physics.fields import Sun
from sensorium.physics.optics.detection.capture_table import CaptureTable
from sensorium.physics.optics.detection.detection import noise_electrons_of_detection
from sensorium.physics.optics.spectra import constant_or_at
from sensorium.sensors.lidar.detection_limit import DetectionLimit
from sensorium.sensors.lidar.limit_tables import limit_numbers
from sensorium.tracing.kernels.light import detect as dt

if TYPE_CHECKING:
    from sensorium.sensors.lidar.lidar import Lidar

PLANCK = 6.62607015e-34

_POINTS = 4097


def receiver_table(spec: "Lidar") -> CaptureTable:
    """The receiver's solid angle over pi, at the path length z: R^2 / (z^2 + R^2), that is A_r / (pi z^2) far out.

    Tabulated like the captured power: over (1 - v)^2 at even v = z / (z + z0), here with z0 = R. A rectangular receiver
    counts as a round one of the same area.
    """
    v = np.linspace(0.0, 1.0, _POINTS)
    radius = math.sqrt(receiver_area_m2(spec) / math.pi)
    return CaptureTable((1.0 / (v**2 + (1.0 - v) ** 2)).astype(np.float32), 1.0 / radius)


def receiver_area_m2(spec: "Lidar") -> float:
    """Area of the receiver [m^2]: rectangular if its sides are given, otherwise round."""
    receiver = spec.receiver
    if receiver.length_m is not None and receiver.width_m is not None:
        return receiver.length_m * receiver.width_m
    return math.pi * spec.beam.detector_radius_m**2


def optical_efficiency(spec: "Lidar") -> float:
    """Share of the light that counts [1]: optics out and back, and the detector's spectral response."""
    response = constant_or_at(spec.receiver.spectral_response, spec.beam.wavelength_m, "receiver.spectral_response")
    return spec.receiver.efficiency * response


def power_W(spec: "Lidar") -> float:
    """Power [W] that a surface of rho = 1/sr would send into a receiver that surrounds it: P_t eta pi."""
    return spec.receiver.peak_power_W * optical_efficiency(spec) * math.pi


def noise_electrons(
    spec: "Lidar", electrons_a_watt: ArrayLike, sigmas: float, *, in_sun: bool, counted: bool = True
) -> float:
    """Noise of the electronics [electrons]: the receiver's own, or that of stated detection ranges.

    Without a sun in the environment it is the noise on the first stated target, in the daylight of the statement. With
    a sun it is the part of that noise that remains in darkness, and the sun adds its own.

    Args:
        spec: A lidar that counts photons.
        electrons_a_watt: Electrons per watt at the receiver, in each sample that may be detected.
        sigmas: Threshold over noise.
        in_sun: Whether the environment has a sun.
        counted: Whether photon counts are random.
    """
    limit = spec.detection
    if not isinstance(limit, DetectionLimit):
        return spec.receiver.noise_electrons
    radius2 = receiver_area_m2(spec) / math.pi
    found = limit_numbers(limit, lambda range_m: radius2 / (range_m**2 + radius2))
    power = power_W(spec) * limit.reflectance / math.pi * radius2 / (limit.range_m**2 + radius2)
    signal, probability = np.asarray(electrons_a_watt) * power, limit.probability
    try:
        noise = noise_electrons_of_detection(signal, probability=probability, sigmas=sigmas, counted=counted)
    except SpecError as error:
        raise SpecError(f"detection states {limit.range_m:g} m for {limit.reflectance:g}: {error}") from None
    return noise * math.sqrt(found.dark) / found.noise(limit.reflectance) if in_sun else noise


def detector_numbers(spec: "Lidar", *, in_sun: bool = False) -> NDArray[np.float32]:
    """Constants of the photon counter, see light/detect.py; detection limits depend on whether there is a sun."""
    from scipy.special import ndtri

    receiver, beam = spec.receiver, spec.beam
    photons_a_joule = beam.wavelength_m / (PLANCK * SPEED_OF_LIGHT_M_S)

    # The window holds this many pulses; each may be the one in which noise crosses the threshold
    gates = max(2.0 * (spec.max_range_m - spec.min_range_m) / (SPEED_OF_LIGHT_M_S * beam.pulse_s), 1.0)
    numbers = np.zeros(dt.DETECTOR_NUMBERS, np.float32)
    numbers[dt.D_ELECTRONS_A_WATT] = beam.pulse_s * receiver.quantum_efficiency * photons_a_joule
    numbers[dt.D_RISE_M] = SPEED_OF_LIGHT_M_S * receiver.rise_time_s / 2.0
    numbers[dt.D_SIGMAS] = -ndtri(receiver.false_alarm_probability / gates)
    numbers[dt.D_NOISE_ELECTRONS] = receiver.noise_electrons
    if spec.mode == "radiometric":
        rate, sigmas = float(numbers[dt.D_ELECTRONS_A_WATT]), float(numbers[dt.D_SIGMAS])
        numbers[dt.D_NOISE_ELECTRONS] = noise_electrons(spec, rate, sigmas, in_sun=in_sun)
    numbers[dt.D_FALSE_ALARM] = receiver.false_alarm_probability
    return numbers


def hopeless_power_W(detector: NDArray[np.float32]) -> float:
    """Power [W] too weak to be a candidate: five standard deviations below the threshold in darkness."""
    noise = float(detector[dt.D_NOISE_ELECTRONS])
    electrons = max((float(detector[dt.D_SIGMAS]) - 5.0) * noise, 0.5)
    return electrons / float(detector[dt.D_ELECTRONS_A_WATT])


def sunlight_numbers(spec: "Lidar", sun: Sun) -> NDArray[np.float32]:
    """Direction to the sun, and the power [W] of sun and sky at the receiver, see strong_light/sunlight.py."""
    receiver, wavelength = spec.receiver, spec.beam.wavelength_m
    gathered = math.pi * receiver.half_field_rad**2 * receiver_area_m2(spec)
    gathered *= optical_efficiency(spec) * receiver.filter_width_m
    power = (sun.spectral_irradiance(wavelength) * gathered, sun.sky_radiance(wavelength) * gathered)
    return np.array([*sun.direction_W, *power], np.float32)

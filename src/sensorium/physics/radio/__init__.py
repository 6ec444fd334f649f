"""Radar physics as plain functions: chirps, powers, cross-sections, ground, thresholds."""

from sensorium.physics.radio.antenna import angle_resolution, least_sine_error, relative_gain, unambiguous_sine
from sensorium.physics.radio.cfar import cell_average_threshold, crossings, threshold_factors
from sensorium.physics.radio.cfar import detection_probability as cfar_detection_probability
from sensorium.physics.radio.chirp import Chirp, folded
from sensorium.physics.radio.clutter import ground_cell_area, ground_reflectivity, weibull_amplitude
from sensorium.physics.radio.correlated_cfar import correlated_factors
from sensorium.physics.radio.cross_sections import box, corner, cylinder, plate, sphere
from sensorium.physics.radio.ground import image_path, reflection_coefficient, roughness_factor, two_ray_factor
from sensorium.physics.radio.interference import Interferer, interfering_beat, one_way_power
from sensorium.physics.radio.ordered_cfar import (
    false_alarm_rate,
    ordered_detection_probability,
    ordered_factors,
    ordered_threshold,
)
from sensorium.physics.radio.permittivity import BUILDING, normal_reflectance, permittivity
from sensorium.physics.radio.power import (
    cross_section_of_power,
    in_decibels,
    of_decibels,
    received_power,
    thermal_noise,
)
from sensorium.physics.radio.reflectors import Box, Corner, CrossSection, Cylinder, Plate, Reflector, Sphere
from sensorium.physics.radio.swerling import detection_probability, fluctuating_amplitude, steady_amplitude
from sensorium.physics.radio.windows import WINDOWS, noise_bandwidth, noise_correlation, point_spread, window_samples

__all__ = [
    "BUILDING",
    "WINDOWS",
    "Box",
    "Chirp",
    "Corner",
    "CrossSection",
    "Cylinder",
    "Interferer",
    "Plate",
    "Reflector",
    "Sphere",
    "angle_resolution",
    "box",
    "cell_average_threshold",
    "cfar_detection_probability",
    "corner",
    "correlated_factors",
    "cross_section_of_power",
    "crossings",
    "cylinder",
    "detection_probability",
    "false_alarm_rate",
    "fluctuating_amplitude",
    "folded",
    "ground_cell_area",
    "ground_reflectivity",
    "image_path",
    "in_decibels",
    "interfering_beat",
    "least_sine_error",
    "noise_bandwidth",
    "noise_correlation",
    "normal_reflectance",
    "of_decibels",
    "one_way_power",
    "ordered_detection_probability",
    "ordered_factors",
    "ordered_threshold",
    "permittivity",
    "plate",
    "point_spread",
    "received_power",
    "reflection_coefficient",
    "relative_gain",
    "roughness_factor",
    "sphere",
    "steady_amplitude",
    "thermal_noise",
    "threshold_factors",
    "two_ray_factor",
    "unambiguous_sine",
    "weibull_amplitude",
    "window_samples",
]

"""Errors of real depth cameras: one device principle a file, each a function of arrays.

A distance that a device cannot measure is 0, as in the images of real ones. Every error draws its numbers by counters
(pixel, stage, frame, world), so that they do not depend on threads, batches or other sensors.
"""

from sensorium.physics.imaging.depth_errors.flying_pixels import (
    FlyingPixels,
    mixed_pixels,
    power_of_pixels,
    returned_power,
)
from sensorium.physics.imaging.depth_errors.frame import Frames
from sensorium.physics.imaging.depth_errors.quadratic import QuadraticError, quadratic_error, quadratic_std
from sensorium.physics.imaging.depth_errors.stereo import (
    StereoError,
    depth_of_disparity,
    disparity_of_depth,
    match_loss,
    stereo_depth,
    stereo_std,
)
from sensorium.physics.imaging.depth_errors.time_of_flight import (
    TimeOfFlightError,
    ambiguity_range,
    phase_range,
    phase_std,
    signal_electrons,
)

__all__ = [
    "FlyingPixels",
    "Frames",
    "QuadraticError",
    "StereoError",
    "TimeOfFlightError",
    "ambiguity_range",
    "depth_of_disparity",
    "disparity_of_depth",
    "match_loss",
    "mixed_pixels",
    "phase_range",
    "phase_std",
    "power_of_pixels",
    "quadratic_error",
    "quadratic_std",
    "returned_power",
    "signal_electrons",
    "stereo_depth",
    "stereo_std",
]

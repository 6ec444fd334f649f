"""Pure numeric optics: NumPy functions here; kernels import the scalars of the same models from the modules.

A scalar works in the float type of its arguments, float32 in kernels and float64 here, from one text.
"""

from sensorium.physics.optics.beam import beam_radius, captured_fraction
from sensorium.physics.optics.beam_rays import BeamRays, equal_power_rays, grid_rays, patch_reach, spiral_rays
from sensorium.physics.optics.detection.capture_table import CaptureTable, capture_table
from sensorium.physics.optics.detection.crosstalk import apparent_range, direct_share
from sensorium.physics.optics.detection.detection import (
    detection_probability,
    noise_electrons_of_detection,
    noise_of_detection,
    ratio_of_detections,
    sunlit_noise,
)
from sensorium.physics.optics.detection.emva import gray_value_noise, photons, signal_to_noise
from sensorium.physics.optics.detection.merged_returns import merged_returns
from sensorium.physics.optics.detection.pulse import binned_pulse, gaussian_pulse, gaussian_pulse_table, pulse_width
from sensorium.physics.optics.detection.range_ambiguity import folded_range, unambiguous_range
from sensorium.physics.optics.detection.range_walk import range_walk
from sensorium.physics.optics.detection.return_thresholds import (
    cfar_factor_exponential,
    cfar_factor_normal,
    noise_threshold,
)
from sensorium.physics.optics.detection.waveform import (
    arrivals,
    convolved,
    range_of_bin,
    ray_return,
    time_histogram,
    waveform_of_distances,
)
from sensorium.physics.optics.gaussian_beam import (
    gaussian_irradiance,
    gaussian_radius,
    rayleigh_range,
    rays_across,
    share_beyond_edge,
    spot_diameter,
    virtual_focus,
    waist_radius,
)
from sensorium.physics.optics.lenses.brown import brown_distorted, brown_ideal, check_brown_field
from sensorium.physics.optics.lenses.kannala_brandt import fisheye_angle, fisheye_radius, turning_angle
from sensorium.physics.optics.lenses.seidel import Seidel, blur_radius, defocus, deviation, in_focus_distance, wavefront
from sensorium.physics.optics.lenses.stray_light import stray_light
from sensorium.physics.optics.lenses.vignetting import vignetting
from sensorium.physics.optics.surfaces.diffuse import oren_nayar, oren_nayar_coefficients, oren_nayar_monostatic
from sensorium.physics.optics.surfaces.fresnel import (
    fresnel,
    fresnel_polarized,
    fresnel_transmittance,
    internal_diffuse_reflectance,
)
from sensorium.physics.optics.surfaces.layers import two_layer, two_layer_monostatic
from sensorium.physics.optics.surfaces.microfacet import (
    ggx,
    ggx_distribution,
    ggx_monostatic,
    smith_lambda,
    smith_masking,
    squared_alpha,
)
from sensorium.physics.optics.surfaces.mirror_glint import mirror_glint
from sensorium.physics.optics.surfaces.mirror_spread import mirrored_distance
from sensorium.physics.optics.surfaces.mirror_transfer import mirror_transfer
from sensorium.physics.optics.surfaces.pane import pane, pane_path
from sensorium.physics.optics.surfaces.refraction import reflect, refract
from sensorium.physics.optics.surfaces.retroreflection import retroreflection
from sensorium.physics.optics.surfaces.transmittance import transmittance, two_way_transmittance

__all__ = [
    "BeamRays",
    "CaptureTable",
    "Seidel",
    "apparent_range",
    "arrivals",
    "beam_radius",
    "binned_pulse",
    "blur_radius",
    "brown_distorted",
    "brown_ideal",
    "capture_table",
    "captured_fraction",
    "cfar_factor_exponential",
    "cfar_factor_normal",
    "check_brown_field",
    "convolved",
    "defocus",
    "detection_probability",
    "deviation",
    "direct_share",
    "equal_power_rays",
    "fisheye_angle",
    "fisheye_radius",
    "folded_range",
    "fresnel",
    "fresnel_polarized",
    "fresnel_transmittance",
    "gaussian_irradiance",
    "gaussian_pulse",
    "gaussian_pulse_table",
    "gaussian_radius",
    "ggx",
    "ggx_distribution",
    "ggx_monostatic",
    "gray_value_noise",
    "grid_rays",
    "in_focus_distance",
    "internal_diffuse_reflectance",
    "merged_returns",
    "mirror_glint",
    "mirror_transfer",
    "mirrored_distance",
    "noise_electrons_of_detection",
    "noise_of_detection",
    "noise_threshold",
    "oren_nayar",
    "oren_nayar_coefficients",
    "oren_nayar_monostatic",
    "pane",
    "pane_path",
    "patch_reach",
    "photons",
    "pulse_width",
    "range_of_bin",
    "range_walk",
    "ratio_of_detections",
    "ray_return",
    "rayleigh_range",
    "rays_across",
    "reflect",
    "refract",
    "retroreflection",
    "share_beyond_edge",
    "signal_to_noise",
    "smith_lambda",
    "smith_masking",
    "spiral_rays",
    "spot_diameter",
    "squared_alpha",
    "stray_light",
    "sunlit_noise",
    "time_histogram",
    "transmittance",
    "turning_angle",
    "two_layer",
    "two_layer_monostatic",
    "two_way_transmittance",
    "unambiguous_range",
    "vignetting",
    "virtual_focus",
    "waist_radius",
    "waveform_of_distances",
    "wavefront",
]

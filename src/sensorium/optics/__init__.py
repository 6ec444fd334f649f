"""Pure numeric optics: NumPy functions here; kernels import the scalars of the same models from the modules.

A scalar works in the float type of its arguments, float32 in kernels and float64 here, from one text.
"""

from sensorium.optics.beam import beam_radius, captured_fraction
from sensorium.optics.beam_rays import BeamRays, equal_power_rays, grid_rays, patch_reach, spiral_rays
from sensorium.optics.brown import brown_distorted, brown_ideal, check_brown_field
from sensorium.optics.capture_table import CaptureTable, capture_table
from sensorium.optics.crosstalk import apparent_range, direct_share
from sensorium.optics.detection import (
    detection_probability,
    noise_electrons_of_detection,
    noise_of_detection,
    ratio_of_detections,
    sunlit_noise,
)
from sensorium.optics.diffuse import oren_nayar, oren_nayar_coefficients, oren_nayar_monostatic
from sensorium.optics.emva import grey_value_noise, photons, signal_to_noise
from sensorium.optics.fresnel import (
    fresnel,
    fresnel_polarized,
    fresnel_transmittance,
    internal_diffuse_reflectance,
)
from sensorium.optics.gaussian_beam import (
    gaussian_irradiance,
    gaussian_radius,
    rayleigh_range,
    rays_across,
    share_beyond_edge,
    spot_diameter,
    virtual_focus,
    waist_radius,
)
from sensorium.optics.kannala_brandt import fisheye_angle, fisheye_radius, turning_angle
from sensorium.optics.layers import two_layer, two_layer_monostatic
from sensorium.optics.merged_returns import merged_returns
from sensorium.optics.microfacet import (
    ggx,
    ggx_distribution,
    ggx_monostatic,
    smith_lambda,
    smith_masking,
    squared_alpha,
)
from sensorium.optics.mirror_glint import mirror_glint
from sensorium.optics.mirror_spread import mirrored_distance
from sensorium.optics.mirror_transfer import mirror_transfer
from sensorium.optics.pane import pane, pane_path
from sensorium.optics.pulse import binned_pulse, gaussian_pulse, gaussian_pulse_table, pulse_width
from sensorium.optics.range_ambiguity import folded_range, unambiguous_range
from sensorium.optics.range_walk import range_walk
from sensorium.optics.refraction import reflect, refract
from sensorium.optics.retroreflection import retroreflection
from sensorium.optics.return_thresholds import cfar_factor_exponential, cfar_factor_normal, noise_threshold
from sensorium.optics.seidel import Seidel, blur_radius, defocus, deviation, in_focus_distance, wavefront
from sensorium.optics.stray_light import stray_light
from sensorium.optics.transmittance import transmittance, two_way_transmittance
from sensorium.optics.vignetting import vignetting
from sensorium.optics.waveform import (
    arrivals,
    convolved,
    range_of_bin,
    ray_return,
    time_histogram,
    waveform_of_distances,
)

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
    "grey_value_noise",
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

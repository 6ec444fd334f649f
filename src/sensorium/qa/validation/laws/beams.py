"""Beams: the power on a detector, and the spread with distance."""

import numpy as np

import sensorium as sn
from sensorium.physics.optics.quadrature import gauss_legendre
from sensorium.qa.validation.check import Axis, Comparison, Family

BEAMS = Family("Beams")

# Detector radius R, its offset r_D, exit radius E, half divergence [rad], distance x, and the captured share
_TABLE = (
    (0.01, 0.0, 0.01, 1.5e-3, 0.0, 0.864665),
    (0.01, 0.0, 0.01, 1.5e-3, 5.0, 0.479550),
    (0.01, 0.0, 0.01, 1.5e-3, 50.0, 2.73020e-2),
    (0.01, 0.0, 0.01, 1.5e-3, 200.0, 2.07900e-3),
    (0.02, 0.0, 0.01, 1.5e-3, 0.0, 0.999665),
    (0.01, 0.02, 0.005, 1.5e-3, 1.0, 7.09763e-4),
    (0.01, 0.02, 0.005, 1.5e-3, 10.0, 8.18924e-2),
    (0.01, 0.02, 0.005, 1.5e-3, 50.0, 2.72043e-2),
    (0.01, 0.005, 0.01, 3e-3, 10.0, 0.114105),
    (0.0042, 0.03, 0.0042, 2.25e-3, 100.0, 6.48748e-4),
)


@BEAMS.check(
    "captured-table",
    "Power of a Gaussian beam on a round detector, on the axis and beside it, has the digits of the table.",
    reference="physics.md 5, E-14 to E-16: closed form by the noncentral chi-square law",
    relative=4e-6,
)
def _captured(quick: bool) -> Comparison:
    found = [
        sn.optics.captured_fraction(
            x, detector_radius_m=R, detector_offset_m=offset, exit_radius_m=E, half_divergence_rad=half
        )
        for R, offset, E, half, x, _ in _TABLE
    ]
    return Comparison(found, [row[-1] for row in _TABLE], x=Axis("row of the table"), y=Axis("share", log=True))


@BEAMS.check(
    "captured-scipy",
    "The same over offsets up to five beam radii is SciPy's noncentral chi-square distribution.",
    reference="scipy.stats.ncx2.cdf(4 R^2 / w^2, 2, 4 r_D^2 / w^2)",
    absolute=1e-9,
    relative=1e-6,
)
def _captured_scipy(quick: bool) -> Comparison:
    from scipy.stats import ncx2

    offset = np.linspace(0.0, 0.2, 41)
    w = 0.01 + 20.0 * np.tan(1.5e-3)
    expected = ncx2.cdf(4 * 0.01**2 / w**2, 2, 4 * offset**2 / w**2)
    found = sn.optics.captured_fraction(
        20.0, detector_radius_m=0.01, detector_offset_m=offset, exit_radius_m=0.01, half_divergence_rad=1.5e-3
    )
    return Comparison(found, expected, at=offset, x=Axis("offset of the detector [m]"), y=Axis("share", log=True))


@BEAMS.check(
    "vane-beam",
    "VANE's beam of 10 mrad: virtual focus, spots at 6 and 86 m, waist, Rayleigh range, 83 rays across.",
    reference="physics.md 10, E-38 and E-39 (VANE eqs. 7 to 11)",
    relative=3e-4,
)
def _vane(quick: bool) -> Comparison:
    optics = sn.optics
    beam = {"aperture_radius_m": 0.0125, "divergence_rad": 0.010}
    focus = float(optics.virtual_focus(0.0125, divergence_rad=0.010))
    waist = float(optics.waist_radius(905e-9, divergence_rad=0.010))
    found = [
        focus,
        float(optics.spot_diameter(6.0, **beam)),
        float(optics.spot_diameter(86.0, **beam)),
        1e6 * waist,
        1e3 * float(optics.rayleigh_range(905e-9, waist_radius_m=waist)),
        100 * float(optics.gaussian_radius(6.0 + focus, wavelength_m=905e-9, waist_radius_m=waist)),
        float(optics.rays_across(0.01, range_m=80.0, **beam)),
    ]
    expected = [2.49998, 0.0850, 0.8850, 57.61, 11.52, 4.2500, 83.0]
    return Comparison(found, expected, y=Axis("", log=True), note="focus and spots [m], waist [um], z_r [mm], w [cm]")


@BEAMS.check(
    "beam-power",
    "A Gaussian beam carries its power through every cross-section.",
    reference="physics.md 10: the integral of I 2 pi rho over rho is P at every z",
    relative=1e-9,
)
def _power(quick: bool) -> Comparison:
    z = np.array([0.0, 0.01, 0.1, 1.0, 10.0, 100.0])
    node, weight = gauss_legendre(200)
    found = []
    for distance in z:
        w = float(sn.optics.gaussian_radius(distance, wavelength_m=905e-9, waist_radius_m=5e-5))
        rho = 4 * w * (node + 1) / 2
        irradiance = sn.optics.gaussian_irradiance(
            rho, distance, power_W=70.0, wavelength_m=905e-9, waist_radius_m=5e-5
        )
        found.append(np.sum(irradiance * 2 * np.pi * rho * weight) * 2 * w)
    return Comparison(found, 70.0, x=Axis("cross-section"), y=Axis("power [W]"))

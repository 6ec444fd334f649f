"""Air with something in it: extinction, and returns from within it."""

import numpy as np

import sensorium as sn
from sensorium.qa.validation.check import Axis, Comparison, Family
from sensorium.qa.validation.laws.shots import along_x, wall

AIR = Family("Air, fog, rain and snow")

_LASER_M = 905e-9


@AIR.check(
    "extinction",
    "Extinction of fog, haze, rain, snow and dust is that of the published fits.",
    reference="physics.md 4 and 13: Koschmieder at 5 %, Kim 2001, Marshall-Palmer, Carbonneau, ITU-R P.1817",
    relative=2e-4,
)
def _extinction(quick: bool) -> Comparison:
    media = sn.media
    dust = media.dust(concentration_kg_m3=1e-4, grain_density_kg_m3=2650.0, grain_radius_m=2e-5)
    found = [
        medium.at(wavelength_m).extinction_per_m
        for medium, wavelength_m in (
            (media.fog(visibility_m=200.0), 550e-9),
            (media.fog(visibility_m=200.0), _LASER_M),  # droplets of dense fog scatter all wavelengths equally
            (media.fog(visibility_m=2000.0), _LASER_M),
            (media.fog(visibility_m=7447.03), 550e-9),
            (media.rain(rate_mm_h=10.0), _LASER_M),
            (media.rain(rate_mm_h=10.0, law="carbonneau"), _LASER_M),
            (media.snow(rate_mm_h=5.0), _LASER_M),
            (media.snow(rate_mm_h=5.0, wet=True), _LASER_M),
            (dust, _LASER_M),
        )
    ]
    expected = [
        0.0149787,
        0.0149787,
        2.9957323 / 2000.0 * (905 / 550) ** -0.66,
        4.02272e-4,
        1.557e-3,
        2.478e-4 * 10**0.67,
        (5.42e-5 * 905 + 5.4958776) * 5.0**1.38 / 4342.94,
        (1.023e-4 * 905 + 3.7855466) * 5.0**0.72 / 4342.94,
        3 * 2 * 1e-4 / (4 * 2650 * 2e-5),
    ]
    return Comparison(found, expected, x=Axis("medium"), y=Axis("extinction [1/m]", log=True))


@AIR.check(
    "beer-lambert",
    "A wall in fog returns its open value times exp(-2 alpha d): 0.2236 at 50 m in 200 m of visibility.",
    reference="physics.md 4, E-01: per geometric meter, both ways",
    relative=2e-4,
)
def _beer_lambert(quick: bool) -> Comparison:
    fog = sn.media.fog(visibility_m=200.0)
    distances = np.array([5.0, 50.0, 100.0])
    found = []
    for distance_m in distances:
        clear = along_x(wall(distance_m), rays=1).intensity[0, 0]
        dim = along_x(wall(distance_m), rays=1, atmosphere=fog, atmospheric_returns="off").intensity[0, 0]
        found.append(float(dim) / float(clear))
    expected = np.exp(-2.0 * 0.0149787 * distances)
    return Comparison(found, expected, at=distances, x=Axis("distance [m]"), y=Axis("share of the return"))


@AIR.check(
    "gamma-returns",
    "Rays that return from fog lie at distances of the gamma law, cut off at the wall (Kolmogorov-Smirnov).",
    reference="physics.md 4, U-02; scipy.stats.gamma. p below 1e-4 would mean another law",
    absolute=0.0,
    side="at least",
)
def _gamma(quick: bool) -> Comparison:
    from scipy import stats

    fog = sn.media.fog(visibility_m=100.0, refractive_index=1.0, gamma_probability=0.7)
    rays = 40_000 if quick else 400_000
    scan = along_x(wall(5.0), rays=rays, atmosphere=fog, atmospheric_returns="priority", seed=3)
    air = scan.cause == sn.Cause.ATMOSPHERE
    law = stats.gamma(9.5, scale=0.52)
    distances = scan.range_m[air].astype(np.float64)
    p_law = stats.kstest(distances, lambda x: law.cdf(x) / law.cdf(5.0)).pvalue
    p_share = stats.binomtest(int(air.sum()), air.size, 0.7 * 0.557876).pvalue
    note = f"{air.mean():.4f} of {air.size} rays return from the air; p F(5 m) = {0.7 * 0.557876:.4f}"
    return Comparison([float(p_law), float(p_share)], 1e-4, y=Axis("p-value", log=True), note=note)

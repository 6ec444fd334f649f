import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics import optics


@pytest.mark.parametrize("rays", [optics.grid_rays(83), optics.grid_rays(5), optics.spiral_rays(19)])
def test_rays_lie_in_the_circle_and_share_the_power(rays):
    assert np.hypot(rays.u, rays.v).max() <= 1.0
    assert rays.weight.sum() == pytest.approx(1.0, rel=1e-12)
    # twice as bright where the Gaussian is
    a, b = 0, len(rays.u) // 2
    profile = np.exp(-2.0 * (rays.u**2 + rays.v**2))
    assert rays.weight[a] / rays.weight[b] == pytest.approx(profile[a] / profile[b], rel=1e-12)


def test_eq_8_at_80_m_is_about_5400_rays():
    assert len(optics.grid_rays(83).u) == 5417


def test_both_layouts_know_how_much_power_lies_within_a_radius():
    """1 - exp(-2 rho^2) of the Gaussian, over what the disk holds of it."""
    for radius in (0.3, 0.6, 0.9):
        expected = np.expm1(-2.0 * radius**2) / np.expm1(-2.0)
        for rays, close in ((optics.grid_rays(83), 0.01), (optics.spiral_rays(2000), 0.01)):
            within = rays.weight[np.hypot(rays.u, rays.v) <= radius].sum()
            assert within == pytest.approx(expected, abs=close)


def test_power_is_conserved_so_a_large_wall_falls_with_the_receivers_solid_angle_alone(printed):
    """E-40: 205.4 between 6 m and 86 m, 220.7 for a bush of 0.4 m radius, 22,271 without the rays' areas."""
    rays = optics.grid_rays(401)
    signal = {}
    for distance in (6.0, 86.0):
        radius = optics.spot_diameter(distance, aperture_radius_m=0.0125, divergence_rad=0.01) / 2
        at = optics.ray_return(distance, power_W=rays.weight, return_per_sr=0.5 / np.pi, receiver_area_m2=0.01)
        signal[distance] = at.sum(), at[np.hypot(rays.u, rays.v) * radius <= 0.4].sum()
    assert signal[6.0][0] / signal[86.0][0] == printed("205.4")
    assert signal[6.0][1] / signal[86.0][1] == pytest.approx(220.7, rel=2e-3)

    # by irradiance alone, every ray counted for the same area
    light = {"wavelength_m": 905e-9, "waist_radius_m": optics.waist_radius(905e-9, divergence_rad=0.01)}
    focus = optics.virtual_focus(0.0125, divergence_rad=0.01)
    irradiance = [optics.gaussian_irradiance(0.0, d + focus, power_W=1.0, **light) for d in (6.0, 86.0)]
    without = signal[6.0][0] * irradiance[0] / (signal[86.0][0] * irradiance[1])
    assert without == pytest.approx(22_271, rel=1e-4)


def test_cutting_at_the_radius_would_lose_13_53_percent(printed):
    assert np.exp(-2.0) * 100 == printed("13.53")
    rays = optics.grid_rays(201)
    cell = (2.0 / 201) ** 2
    inside = np.sum(2.0 / np.pi * np.exp(-2.0 * (rays.u**2 + rays.v**2))) * cell
    assert inside == pytest.approx(1.0 - np.exp(-2.0), rel=2e-3)


def test_one_ray_is_the_axis():
    for rays in (optics.grid_rays(1), optics.spiral_rays(1)):
        assert (rays.u[0], rays.v[0], rays.weight[0]) == (0.0, 0.0, 1.0)


def test_bad_input():
    with pytest.raises(SpecError, match="across is 0; a grid of rays must have 1 to 2048 across"):
        optics.grid_rays(0)
    with pytest.raises(SpecError, match="count is 0; a spiral must have 1 to"):
        optics.spiral_rays(0)
    with pytest.raises(SpecError, match="count is 2; rays of equal power must be 1, or 3 to"):
        optics.equal_power_rays(2)


COUNTS = [*range(3, 65), 127, 255, 512, 1024]


def test_rays_of_equal_power_have_the_gaussians_mean_and_variance():
    for count in COUNTS:
        rays = optics.equal_power_rays(count)
        places = np.stack([rays.u, rays.v])
        np.testing.assert_allclose(places @ rays.weight, 0.0, atol=1e-12)
        np.testing.assert_allclose((places * rays.weight) @ places.T, 0.25 * np.eye(2), atol=1e-12)
        assert rays.weight.sum() == pytest.approx(1.0, rel=1e-12)
    assert optics.equal_power_rays(1).u.tolist() == [0.0]


def test_rays_of_equal_power_converge_to_the_share_beyond_an_edge():
    """Root mean square over random edges: 3.2 % with 19 rays, and down by the power -0.75 of their number."""
    rng = np.random.default_rng(0)
    angle, distance = rng.uniform(0.0, 2.0 * np.pi, 4000), rng.uniform(-1.0, 1.0, 4000)
    expected = optics.share_beyond_edge(distance, radius_m=1.0)
    error = {}
    for count in (19, 61, 1000):
        rays = optics.equal_power_rays(count)
        place = np.outer(np.cos(angle), rays.u) + np.outer(np.sin(angle), rays.v)
        error[count] = np.sqrt(np.mean(((place > distance[:, None]) @ rays.weight - expected) ** 2))
    assert error[19] < 0.035
    assert error[61] < 0.016
    assert error[1000] < 0.0025


def test_patches_reach_each_other_along_every_direction():
    """So that no gap is seen in a plane, however it is tilted: rays sorted along a direction touch their neighbors."""
    angle = np.linspace(0.0, np.pi, 181)
    for count in COUNTS:
        rays = optics.equal_power_rays(count)
        reach = optics.patch_reach(rays)
        place = np.outer(np.cos(angle), rays.u) + np.outer(np.sin(angle), rays.v)
        order = np.argsort(place, axis=1)
        gaps = np.diff(np.take_along_axis(place, order, axis=1), axis=1)
        assert (gaps < reach[order][:, 1:] + reach[order][:, :-1]).all(), count


def test_patches_share_the_area_of_the_beam():
    """Sides squared are the areas: the patches within a radius cover its disk."""
    rays = optics.equal_power_rays(4000)
    side = optics.patch_reach(rays) / 0.6
    within = np.hypot(rays.u, rays.v) < 0.8
    assert np.sum(side[within] ** 2) == pytest.approx(np.pi * 0.8**2, rel=0.01)

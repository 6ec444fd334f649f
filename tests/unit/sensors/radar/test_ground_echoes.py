"""Ground: clutter at its own speeds with the power of sigma_0 A, and the second way of echoes."""

import numpy as np
import pytest

import sensorium as sn

QUIET = {"z_m": -1.0, "reflectivity_dB": None, "multipath": True, "material": 4.0}


def test_clutter_has_the_power_of_its_area_and_the_speed_of_the_ground(balls, make_radar, read):
    """Mean over 200 worlds of the cells at 12 m: sigma_0 R dR dphi, at -v cos(azimuth)."""
    spec = make_radar(
        cross_sections={},
        ground={"z_m": -1.0, "reflectivity_dB": -10.0},
        range_doppler=True,
        antennas=1,
        horizontal_fov_deg=20.0,
    )
    found, _ = read(balls(ground=True, velocity=(8.0, 0.0, 0.0), worlds=200), spec)
    speeds = found.map_range_rate_m_s
    power = found.map_W[:, :, 12].mean(axis=0)
    assert speeds[power.argmax()] == pytest.approx(-8.0, abs=1.02)
    assert power[np.abs(speeds) < 3.0].max() < 1e-2 * power.max()

    # Hann spreads an echo's power over 1.5 cells of speed, and a cell of range has 1.5 cells of ground
    field = np.radians(20.0)
    azimuth = (np.arange(4000) + 0.5) / 4000 * field - 0.5 * field
    lobe = sn.radar.relative_gain(
        azimuth, -np.arcsin(1 / 12.0), horizontal_fov_rad=field, vertical_fov_rad=np.radians(10)
    )
    sigma = 0.1 * sn.radar.ground_cell_area(12.0, range_resolution_m=1.0, beam_rad=field) * np.mean(lobe**2)
    wave = spec.chirp.wavelength_m
    mean_W = sn.radar.received_power(sigma, 12.0, power_W=0.01, gain=10**2.5, wavelength_m=wave)
    near = np.abs(speeds + 8.0) < 4.0
    assert power[near].sum() / 1.5**2 == pytest.approx(mean_W, rel=0.25)


def test_clutter_detections_have_no_object(balls, make_radar, read):
    spec = make_radar(
        cross_sections={}, ground={"z_m": -1.0, "reflectivity_dB": 0.0, "shape": 0.6}, cfar={"false_alarm": 1e-3}
    )
    found, truth = read(balls(ground=True), spec)
    assert (found.cause == sn.EchoCause.CLUTTER).sum() > 1
    assert set(found.cause.tolist()) <= {sn.EchoCause.CLUTTER, sn.EchoCause.FALSE_ALARM}
    assert (found.object_id == -1).all()
    assert truth.valid.sum() == 0


def test_unresolved_ways_give_the_two_ray_factor(balls, make_radar, read):
    """A steady reflector 1 m above the ground at 28 to 32 m: fades where both ways cancel."""
    spec = make_radar(ground=QUIET, vertical_fov_deg=90.0)
    wave, factors, expected = spec.chirp.wavelength_m, [], []
    for x in np.arange(28.0, 30.0, 0.13):
        found, truth = read(balls((x, 0.0, 0.0), ground=True), spec)
        straight, bent, grazing = sn.radar.image_path(x, 1.0, 1.0)
        reflection = sn.radar.reflection_coefficient(grazing, relative_permittivity=4.0)
        expected.append(float(sn.radar.two_ray_factor(reflection, bent - straight, wavelength_m=wave)))
        factors.append(found.power_W.max(initial=0.0) / truth.power_W[0])
        assert truth.range_m[0] == pytest.approx(x, abs=0.01)
    assert np.ptp(expected) > 3.0
    np.testing.assert_allclose(factors, expected, rtol=0.15, atol=0.1)


def test_resolved_ways_give_ghosts_farther_out(balls, make_radar, read):
    """4 m above the ground, 8 m off: the ways are 8 m, the mean of 8 and 11.3 m, and 11.3 m."""
    ground = {**QUIET, "z_m": -4.0, "polarization": "horizontal"}
    fine = sn.radar.Chirp(bandwidth_hz=600e6, ramp_s=60e-6, samples=256, chirps=32)
    cfar = {"over": "rank", "training": 16, "guard": 4, "false_alarm": 1e-8}
    found, truth = read(
        balls((8.0, 0.0, 0.0)), make_radar(ground=ground, vertical_fov_deg=150.0, chirp=fine, cfar=cfar)
    )
    np.testing.assert_allclose(found.range_m[:2], [8.0, 0.5 * (8.0 + np.hypot(8.0, 8.0))], atol=0.15)
    assert found.cause.tolist() == [sn.EchoCause.OBJECT] + [sn.EchoCause.MULTIPATH] * (found.valid.sum() - 1)
    assert (found.object_id == 0).all()
    assert truth.valid.sum() == 1


def test_rough_ground_has_no_second_way(balls, make_radar, read):
    spec = make_radar(ground={**QUIET, "roughness_m": 0.1}, vertical_fov_deg=90.0)
    found, truth = read(balls((12.0, 0.0, 0.0), ground=True), spec)
    assert found.power_W[0] == pytest.approx(truth.power_W[0], rel=0.05)


def test_a_radar_that_is_not_above_its_ground_says_so_once(balls, make_radar, read):
    spec = make_radar(ground={"z_m": 0.0, "reflectivity_dB": 0.0}, cfar={"false_alarm": 1e-7})
    with pytest.warns(UserWarning, match="'radar' is at z = 0 m and its ground.z_m is 0; it must be above") as told:
        found, _ = read(balls((20.0, 0.0, 0.0)), spec, steps=3)
    assert len(told) == 1
    assert set(found.cause[found.valid].tolist()) == {sn.EchoCause.OBJECT}

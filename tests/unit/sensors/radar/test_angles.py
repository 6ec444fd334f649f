"""Angles through the public interface: all round the field, for any array, window and side."""

import numpy as np
import pytest

import sensorium as sn

CHIRP = sn.radar.Chirp(bandwidth_hz=149.896229e6, ramp_s=60e-6, samples=32, chirps=8)
ANGLES_DEG = np.arange(-60.0, 60.01, 0.5)


def turned(angles_deg, *, pitch_deg=0.0, seed=3, **fields):
    """A radar in every direction from which a reflector 12.3 m ahead is seen at these azimuths: reading and truth."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(1e-4, 1e-4, 1e-4), pose=sn.Pose((12.3, 0.0, 0.0)), name="reflector")
    env = sn.Environment(scene, sn.worlds.Static(step_s=0.05), seed=seed)
    usual = {
        "chirp": CHIRP,
        "source": "cone",
        "fluctuation": "steady",
        "horizontal_fov_deg": 150.0,
        "vertical_fov_deg": 90.0,
        "cross_sections": {"reflector": 100.0},
        "cfar": {"false_alarm": 1e-8, "training": 8},
    }
    poses = [sn.Pose.from_euler_deg(yaw=-float(a), pitch=pitch_deg) for a in angles_deg]
    radar = env.attach(sn.Radar(**(usual | fields)), pose=poses)
    env.step()
    return radar.read(), radar.truth()


@pytest.mark.parametrize("window", sn.radar.WINDOWS)
@pytest.mark.parametrize("antennas", [2, 3, 4, 8, 12, 16])
def test_angles_have_no_bias_anywhere(window, antennas):
    """-60 to 60 degrees by 0.5: one detection each, within a hundredth of a cell of angle, range and speed."""
    found, truth = turned(ANGLES_DEG, antennas=antennas, window=window, angle_window=window)
    assert (found.valid.sum(axis=1) == 1).all()
    cells = (np.sin(found.azimuth_rad[:, 0]) - np.sin(np.radians(ANGLES_DEG))) * 0.5 * antennas
    assert np.abs(cells).max() < 0.01
    assert np.abs(found.range_m[:, 0] - truth.range_m[:, 0]).max() < 0.01 * CHIRP.range_resolution_m
    assert np.abs(found.range_rate_m_s[:, 0]).max() < 0.01 * CHIRP.speed_resolution_m_s


@pytest.mark.parametrize("antennas", [4, 8])
def test_left_and_right_are_alike(antennas):
    """From 39 degrees on the left the strongest beam was the first or the last, which are neighbors."""
    left, _ = turned(np.arange(38.0, 46.0, 0.5), antennas=antennas, horizontal_fov_deg=100.0)
    right, _ = turned(-np.arange(38.0, 46.0, 0.5), antennas=antennas, horizontal_fov_deg=100.0)
    assert (left.valid.sum(axis=1) == 1).all()
    np.testing.assert_allclose(left.azimuth_rad[:, 0], -right.azimuth_rad[:, 0], atol=2e-3)
    assert (np.diff(left.azimuth_rad[:, 0]) > 0.0).all()


@pytest.mark.parametrize("rows", [2, 4])
@pytest.mark.parametrize("pitch_deg", [-25.0, -4.0, 11.0, 30.0])
def test_rows_of_antennas_measure_the_elevation(rows, pitch_deg):
    angles = np.arange(-40.0, 41.0, 8.0)
    found, truth = turned(angles, pitch_deg=pitch_deg, antennas=6, elevation_antennas=rows)
    assert (found.valid.sum(axis=1) == 1).all()
    assert np.ptp(truth.elevation_rad[:, 0]) < 1e-6 or np.abs(truth.elevation_rad[:, 0]).max() > 0.05
    np.testing.assert_allclose(
        np.sin(found.elevation_rad[:, 0]), np.sin(truth.elevation_rad[:, 0]), atol=0.01 * 2.0 / rows
    )
    np.testing.assert_allclose(found.azimuth_rad[:, 0], truth.azimuth_rad[:, 0], atol=0.005)


def test_one_row_measures_none():
    found, truth = turned([0.0, 20.0], pitch_deg=10.0)
    assert np.abs(truth.elevation_rad).min() > 0.1
    assert (found.elevation_rad == 0.0).all()


@pytest.mark.parametrize("transmitters", [2, 3])
def test_transmitters_in_turn_make_a_longer_row(balls, make_radar, read, transmitters):
    """As 4 x N antennas, at any speed up to the fold, which comes N times as early."""
    chirp = sn.radar.Chirp(bandwidth_hz=149.896229e6, ramp_s=60e-6, samples=64, chirps=32, transmitters=transmitters)
    assert chirp.unambiguous_speed_m_s == pytest.approx(16.2225 / transmitters, rel=1e-4)
    spec = make_radar(chirp=chirp, antennas=4)
    for speed in np.linspace(-0.85, 0.85, 12) * chirp.unambiguous_speed_m_s:
        direction = np.array([30.0, 9.0]) / np.hypot(30.0, 9.0)
        found, truth = read(balls((30.0, 9.0, 0.0, *(speed * direction), 0.0)), spec)
        assert found.valid.sum() == 1
        cells = (np.sin(found.azimuth_rad[0]) - np.sin(truth.azimuth_rad[0])) * 0.5 * 4 * transmitters
        assert abs(cells) < 0.02
        assert found.range_rate_m_s[0] == pytest.approx(speed, abs=0.02 * chirp.speed_resolution_m_s)
        assert found.range_m[0] == pytest.approx(truth.range_m[0], abs=0.03)
    fast, truth = read(balls((30.0, 9.0, 0.0, *(1.4 * chirp.unambiguous_speed_m_s * direction), 0.0)), spec)
    assert (fast.object_id == 0).all()
    assert fast.range_rate_m_s[0] == pytest.approx(-0.6 * chirp.unambiguous_speed_m_s, abs=0.1)
    assert abs(fast.azimuth_rad[0] - truth.azimuth_rad[0]) > 0.05  # the motion is taken out with the wrong speed


def test_transmitters_add_to_the_signal(balls, make_radar, read):
    """Three send as long as one each: three times the energy."""
    one, three = (
        read(balls((30.0, 0.0, 0.0)), make_radar(antennas=4, angle_window="rectangular", chirp=chirp))[1]
        for chirp in (
            sn.radar.Chirp(samples=64, chirps=32, bandwidth_hz=149.896229e6),
            sn.radar.Chirp(samples=64, chirps=32, bandwidth_hz=149.896229e6, transmitters=3),
        )
    )
    assert three.snr_dB[0] - one.snr_dB[0] == pytest.approx(10 * np.log10(3.0), abs=1e-6)


def test_what_moves_through_cells_is_smeared_and_stays_one(balls, make_radar, read):
    """50 m/s in a frame of 4 ms and cells of 0.15 m: 1.3 cells. Weaker than at rest, found where it is at the end."""
    chirp = sn.radar.Chirp(bandwidth_hz=1e9, ramp_s=16e-6, samples=512, chirps=256)
    spec = make_radar(chirp=chirp, antennas=4)
    found, truth = read(balls((40.0, 3.0, 0.0, -50.0, 0.0, 0.0)), spec)
    assert found.valid.sum() == truth.valid.sum() == 1
    assert found.range_m[0] == pytest.approx(truth.range_m[0], abs=0.02)
    assert found.range_rate_m_s[0] == pytest.approx(truth.range_rate_m_s[0], abs=0.02)
    loss_dB = truth.snr_dB[0] - found.snr_dB[0]
    moved = abs(truth.range_rate_m_s[0]) * chirp.frame_s / chirp.range_resolution_m
    weights = sn.radar.window_samples("hann", count=256)
    at = moved * (np.arange(256) - 127.5) / 256
    kept = np.sum(weights * sn.radar.point_spread("hann", at, count=512)) / weights.sum()
    assert -0.1 < loss_dB + 20 * np.log10(kept) < 0.8  # the fit knows echoes of one place only
    assert loss_dB > 0.3

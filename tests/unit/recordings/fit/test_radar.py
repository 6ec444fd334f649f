"""Sheet of a radar: noise of Doppler and azimuth of random lists come back."""

import math
from pathlib import Path

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.constants import SPEED_OF_LIGHT_M_S
from sensorium.recordings.fit.radar import fit_radar, halves
from sensorium.recordings.readers.radar_lists import DetectionList


def listed(rng, *, speed_noise, azimuth_noise, quantum=0.0, count=1500, speed=12.0):
    """Detections by NumPy at true angles, with errors of range rate and of azimuth; a tenth moves."""
    azimuth, elevation = rng.uniform(-1.0, 1.0, count), rng.uniform(-0.2, 0.2, count)
    rate = -speed * np.cos(azimuth) * np.cos(elevation) + speed_noise * rng.normal(size=count)
    rate = np.where(rng.random(count) < 0.1, rng.uniform(-30.0, 30.0, count), rate)
    rate = np.rint(rate / quantum) * quantum if quantum else rate
    fields = {
        "range": rng.uniform(3.0, 180.0, count), "azimuth_angle": azimuth + azimuth_noise * rng.normal(size=count),
        "elevation_angle": elevation, "range_rate": rate, "rcs": rng.uniform(-5.0, 15.0, count),
    }  # fmt: skip
    return DetectionList(Path("list.yaml"), "ARS548", fields, {"ambiguity_free_velocity_max": 20.0})


def test_random_radars_come_back(tmp_path):
    rng = np.random.default_rng(3)
    for number in range(4):
        truth = {"speed_noise": rng.uniform(0.01, 0.04), "azimuth_noise": rng.uniform(0.004, 0.012)}
        fitted = fit_radar(listed(rng, **truth), hold_out=False)
        path = tmp_path / f"radar{number}.toml"
        path.write_text(fitted.text)
        radar = sn.Radar.from_device(path)
        assert radar.speed.noise.std == pytest.approx(truth["speed_noise"], rel=0.25)
        assert radar.azimuth.noise.std == pytest.approx(truth["azimuth_noise"], rel=0.25)
        assert radar.chirp.unambiguous_speed_m_s == pytest.approx(20.0)
        assert radar.chirp.unambiguous_range_m > radar.max_range_m > 170.0
        assert math.radians(radar.horizontal_fov_deg) == pytest.approx(2.0, abs=0.1)
        assert (radar.elevation_antennas, radar.max_detections) == (4, 1500)


def test_steps_are_taken_out_of_the_noise(tmp_path):
    fitted = fit_radar(listed(np.random.default_rng(4), speed_noise=0.02, azimuth_noise=0.0, quantum=0.05))
    (tmp_path / "radar.toml").write_text(fitted.text)
    radar = sn.Radar.from_device(tmp_path / "radar.toml")
    assert radar.speed.quantization.lsb == pytest.approx(0.05, rel=1e-4)
    assert radar.speed.noise.std == pytest.approx(0.02, rel=0.4)


def test_a_list_without_elevations_has_one_row_of_antennas():
    detections = listed(np.random.default_rng(5), speed_noise=0.02, azimuth_noise=0.005)
    del detections.fields["elevation_angle"]
    fitted = fit_radar(detections._replace(head={}))
    assert fitted.sheet.elevation_antennas is fitted.sheet.ramp is None
    assert fitted.sheet.frequency.estimate
    assert SPEED_OF_LIGHT_M_S / fitted.sheet.number("frequency") == pytest.approx(3.919e-3, rel=1e-3)


def test_detections_are_split_and_few_are_not():
    detections = listed(np.random.default_rng(6), speed_noise=0.02, azimuth_noise=0.0, count=49)
    first, second = halves(detections)
    assert (len(first.fields["range"]), len(second.fields["range"])) == (25, 24)
    few = detections._replace(fields={name: values[:40] for name, values in detections.fields.items()})
    assert halves(few) == (few, None)

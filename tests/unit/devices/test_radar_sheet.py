"""Data sheets of radars."""

import pytest

import sensorium as sn
from sensorium.devices import RadarSheet

HEAD = {"maker": "Nobody", "model": "X", "description": "for a test", "sources": {"DS": "data sheet"}}


def value(number, unit="1", **fields):
    return {"value": number, "unit": unit, "grade": "A", "source": "DS", **fields}


def sheet(**values):
    return RadarSheet.model_validate({**HEAD, "frequency": value(76.5, "GHz"), **values})


def test_chirp_clock_and_limits_are_those_of_the_specification():
    fields = sheet(
        bandwidth=value(250.0, "MHz"),
        ramp=value(40.0, "us"),
        samples=value(256),
        chirps=value(128),
        cycle=value(50.0, "ms"),
        max_range=value(174.0, "m"),
        horizontal_fov=value(20.0, "deg"),
        tracks=value(64),
    ).specification()
    radar = sn.Radar.model_validate(fields)
    assert (radar.chirp.carrier_hz, radar.chirp.bandwidth_hz) == (76.5e9, 250e6)
    assert radar.chirp.ramp_s == pytest.approx(40e-6)
    assert (radar.chirp.samples, radar.chirp.chirps) == (256, 128)
    assert radar.timing.rate_hz == pytest.approx(20.0)
    assert (radar.max_range_m, radar.horizontal_fov_deg, radar.max_detections) == (174.0, 20.0, 64)


def test_two_gains_become_one_with_the_same_product_and_one_stands_for_both():
    both = sheet(transmit_gain=value(20.0, "dBi"), receive_gain=value(26.0, "dBi")).specification()
    assert both["gain_dBi"] == 23.0
    assert sheet(receive_gain=value(26.0, "dBi")).specification()["gain_dBi"] == 26.0
    assert "gain_dBi" not in sheet().specification()


def test_what_is_not_told_is_named_and_accuracy_fills_nothing():
    stated = sheet(max_range=value(174.0, "m"), range_accuracy=value(0.5, "m"))
    missing = stated.defaults()
    assert "max_range_m" not in missing
    assert "chirp.carrier_hz" not in missing
    assert {"chirp.bandwidth_hz", "antennas", "power_W", "noise_figure_dB"} <= set(missing)
    assert set(stated.specification()) == {"kind", "chirp", "max_range_m"}


def test_noise_and_steps_of_detections_act():
    radar = sn.Radar.model_validate(
        sheet(
            speed_noise=value(3.0, "m/s", means="3 sigma"),
            speed_quantum=value(0.02, "m/s"),
            azimuth_noise=value(5.0, "mrad", means="1 sigma"),
            elevation_antennas=value(4),
        ).specification()
    )
    assert (radar.speed.noise.std, radar.speed.quantization.lsb) == pytest.approx((1.0, 0.02))
    assert radar.azimuth.noise.std == pytest.approx(5e-3)
    assert radar.elevation_antennas == 4
    assert sheet().specification().keys() == {"kind", "chirp"}

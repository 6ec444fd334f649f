"""Data sheets of lidars."""

import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.devices import LidarSheet
from sensorium.devices.library import merged

HEAD = {"maker": "Nobody", "model": "X", "description": "for a test", "sources": {"DS": "data sheet"}}


def value(number, unit="1", **fields):
    return {"value": number, "unit": unit, "grade": "A", "source": "DS", **fields}


def lidar(**values):
    needed = {"elevation": value([1.0, -1.0], "deg"), "rotation_rate": value(10.0, "Hz"), "columns": value(100)}
    return LidarSheet.model_validate({**HEAD, "scan": "spinning", **needed, **values})


def test_accuracy_is_no_noise_of_a_shot():
    accuracy = value(3.0, "cm", means="limits")
    stated = lidar(range_accuracy=accuracy)
    assert "noise" not in stated.specification()
    assert "noise.base_m" in stated.defaults()
    both = lidar(range_accuracy=accuracy, range_noise_slope=value(0.5, "mm/m", means="1 sigma"))
    assert both.specification()["noise"] == {"slope": 5e-4}


def test_columns_follow_from_a_firing_period_or_a_step():
    by_time = lidar(columns=None, firing_period=value(55.296, "us")).specification()["pattern"]
    assert by_time["columns"] == 1808  # 0.1 s / 55.296 us = 1808.4
    by_step = lidar(columns=None, step=value(0.2, "deg")).specification()["pattern"]
    assert by_step["columns"] == 1800
    sector = lidar(columns=None, step=value(0.25, "deg"), horizontal_fov=value(270.0, "deg")).specification()["pattern"]
    assert sector["columns"] == 1081
    assert (sector["azimuth_min_deg"], sector["azimuth_max_deg"]) == (-135.0, 135.0)


def test_times_count_from_the_first_channel():
    pattern = lidar(channel_time=value([-5.0, -12.0], "us")).specification()["pattern"]
    assert pattern["time_offset_s"] == pytest.approx((7e-6, 0.0))


def test_offsets_of_beams():
    up = value([1.0, 2.0], "mm", means="along z")
    assert lidar(vertical_offset=up).specification()["pattern"]["origin_offset_m"] == ((0, 0, 1e-3), (0, 0, 2e-3))

    # Square to a beam that looks 30 degrees up: half of it goes back. Turned by 90 degrees, left becomes back
    elevation = value([30.0, 0.0], "deg")
    across = value([0.2, 0.0], "m", means="across the beam")
    origin = lidar(elevation=elevation, vertical_offset=across).specification()["pattern"]["origin_offset_m"]
    assert origin[0] == pytest.approx((-0.1, 0.0, 0.1732051), abs=1e-6)
    turned = lidar(
        azimuth_offset=value([90.0, 0.0], "deg", means="counterclockwise"), horizontal_offset=value([0.03, 0.03], "m")
    ).specification()["pattern"]["origin_offset_m"]
    assert turned[0] == pytest.approx((-0.03, 0.0, 0.0), abs=1e-9)
    assert turned[1] == pytest.approx((0.0, 0.03, 0.0), abs=1e-9)


def rosette(**values):
    needed = {
        "prism_wedge": value([18.0, -18.0], "deg"),
        "prism_index": value(1.51),
        "prism_speed": value([7294.0, -4664.0], "rpm"),
        "laser_rate": value(100.0, "kHz"),
        "frame_rate": value(10.0, "Hz"),
    }
    return LidarSheet.model_validate({**HEAD, "scan": "rosette", **needed, **values})


def test_prisms_turn_by_the_number_as_written():
    pattern = rosette(laser_tilt=value([0.01, -0.01])).specification()["pattern"]
    assert [prism["rotor_rpm"] for prism in pattern["prisms"]] == [7294.0, -4664.0]
    assert [prism["refractive_index"] for prism in pattern["prisms"]] == [1.51, 1.51]
    assert pattern["beams_yz"] == ((0.0, 0.01), (0.0, -0.01))
    assert (pattern["point_rate_hz"], pattern["rate_hz"]) == (100_000.0, 10.0)


def test_prisms_need_their_speeds():
    with pytest.raises(SpecError, match="prism_speed is missing; scan 'rosette' cannot do without"):
        rosette(prism_speed=None)


def test_defaults_are_those_of_its_own_kind_of_scan():
    assert not any(name.startswith("pattern.prism") for name in lidar().defaults())
    assert "pattern.time_offset_s" not in rosette().defaults()


def test_detection_takes_the_darkest_and_the_brightest_stated_range():
    assert "detection" not in lidar().specification()
    assert "detection" in lidar().defaults()
    one = lidar(range_10_percent=value(80.0, "m"))
    assert one.specification()["detection"] == {"reflectance": 0.1, "range_m": 80.0}
    assert "detection" not in one.defaults()
    assert "detection.probability" in one.defaults()
    ranges = {
        "range_10_percent": value(80.0, "m"),
        "range_5_percent": value(60.0, "m"),
        "range_80_percent": value(0.2e6, "mm"),
    }
    both = lidar(**ranges, detection_probability=value(75.0, "%")).specification()["detection"]
    assert both == {
        "reflectance": 0.05,
        "range_m": 60.0,
        "probability": 0.75,
        "second": {"reflectance": 0.8, "range_m": 200.0, "probability": 0.75},
    }


def test_the_size_of_the_beam_stays_where_it_acts():
    sheet = lidar(exit_size=value(10.0, "mm", means="diameter"))
    fields = sheet.specification()
    assert "exit_radius_m" in fields["beam"]
    for overrides, kept in (({}, True), ({"mode": "waveform"}, True), ({"mode": "radiometric"}, False)):
        assert ("exit_radius_m" in sheet.suited(fields, overrides)["beam"]) is kept
    several = {"mode": "radiometric", "beam": {"rays": 7}}
    assert sheet.suited(fields, several) == fields


def test_a_geometric_lidar_has_no_use_for_detection():
    sheet = lidar(range_10_percent=value(80.0, "m"))
    fields = sheet.specification()
    assert "detection" in fields
    assert "detection" not in sheet.suited(fields, {"mode": "geometric"})
    assert sheet.suited(fields, {"mode": "waveform"}) == sheet.suited(fields, {}) == fields


MEASURED = {
    "range_noise": value(3.0, "mm", means="1 sigma"),
    "range_noise_square": value(1e-6, "1/m", means="1 sigma"),
    "noise_reflectances": value([5.0, 50.0], "%"),
    "noise_by_reflectance": value([2.0, 1.0]),
    "noise_ranges": value([1.0, 4.0], "m"),
    "noise_by_range": value([1.5, 0.8]),
    "signal_noise": value(8.0, "mm", means="1 sigma"),
    "signal_reflectance": value(10.0, "%"),
    "signal_range": value(20.0, "m"),
    "excess_kurtosis": value(1.3),
    "channel_bias_spread": value(4.0, "mm", means="1 sigma"),
    "column_jitter": value(1.9, "us", means="1 sigma"),
    "return_separation": value(0.8, "m"),
}


def test_what_recordings_show_becomes_noise_timing_and_beam():
    fields = lidar(**MEASURED).specification()
    assert fields["noise"] == {
        "base_m": pytest.approx(0.003),
        "square_per_m": pytest.approx(1e-6),
        "by_reflectance": (pytest.approx((0.05, 2.0)), pytest.approx((0.5, 1.0))),
        "by_range": ((1.0, 1.5), (4.0, 0.8)),
        "by_signal": {"std_m": pytest.approx(0.008), "reflectance": pytest.approx(0.1), "range_m": 20.0},
        "excess_kurtosis": 1.3,
        "channel_bias_std_m": pytest.approx(0.004),
    }
    assert fields["timing"] == {"jitter_s": pytest.approx(1.9e-6)}
    assert fields["beam"] == {"separation_m": 0.8}
    table = lidar(channel_bias=value([1.0, -2.0], "mm")).specification()["noise"]
    assert table["channel_bias_m"] == pytest.approx((1e-3, -2e-3))


@pytest.mark.parametrize("mode", ["geometric", "relative", "radiometric", "waveform"])
@pytest.mark.parametrize(
    "options", [{}, {"publish": "slices"}, {"motion": "snapshot"}, {"beam": {"rays": 7}, "returns": "dual"}]
)
def test_every_mode_takes_what_acts_in_it(mode, options):
    sheet = lidar(**MEASURED)
    if mode in ("geometric", "waveform") and "beam" in options:
        options = {}
    overrides = {"mode": mode, **options}
    fields = merged(sheet.suited(sheet.specification(), overrides), overrides)
    spec = sn.Lidar(**fields)
    assert (spec.noise.by_signal is not None) == (mode == "relative")
    assert spec.noise.excess_kurtosis == 1.3
    assert bool(spec.timing.jitter_s) == (options.get("motion") != "snapshot")
    assert (spec.noise.channel_bias_std_m > 0.0) == (options.get("publish") != "slices")
    assert (spec.beam.separation_m is not None) == ("beam" in options)


def test_values_that_belong_together():
    with pytest.raises(SpecError, match="noise_by_reflectance is missing; noise_by_reflectance, noise_refl"):
        lidar(noise_reflectances=value([0.1, 0.5]))
    with pytest.raises(SpecError, match="noise_by_reflectance has 3 entries; it needs one per entry of noise_ref"):
        lidar(noise_reflectances=value([0.1, 0.5]), noise_by_reflectance=value([1.0, 2.0, 3.0]))


def test_a_pulse_of_one_beam_makes_whole_waveforms():
    shape = {"pulse_times": value([-2.0, 0.0, 3.0], "ns"), "pulse_shape": value([0.0, 1.0, 0.0])}
    sheet = {**HEAD, "scan": "single", "frame_rate": value(20.0, "Hz"), "sample_spacing": value(1.0, "ns"), **shape}
    one = LidarSheet.model_validate(sheet)
    made = sn.Lidar.model_validate(one.suited(one.specification(), {}))
    assert made.mode == "waveform"
    assert made.pattern.rays(0).direction_S.tolist() == [[[1.0, 0.0, 0.0]]]
    assert made.waveform.pulse.time_s == pytest.approx((-2e-9, 0.0, 3e-9))
    assert made.waveform.resolution_s == pytest.approx(1e-9)
    assert not {"pattern.rate_hz", "pattern.columns", "waveform.pulse"} & set(one.defaults())
    assert "waveform" not in one.suited(one.specification(), {"mode": "relative"})
    for wrong, says in (
        ({"pulse_times": None}, "pulse_times is missing; pulse_times, pulse_shape must be given together"),
        ({"pulse_shape": value([0.0, 1.0])}, "pulse_shape has 2 entries; it needs one per entry of pulse_times, 3"),
        ({"frame_rate": None}, "frame_rate is missing; scan 'single' cannot do without"),
    ):
        with pytest.raises(SpecError, match=says):
            LidarSheet.model_validate(sheet | wrong)

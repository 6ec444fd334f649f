"""An option of a lidar acts in its mode, or is refused in one sentence."""

import re

import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.sensors.lidar.options import ACTS_BESIDE, ACTS_IN

PATTERN = sn.patterns.Spinning(elevation_deg=(0.0,), columns=4, rate_hz=10)
MODES = ("geometric", "relative", "radiometric", "waveform")

# Something else than the default for each option of light
SET = {
    "normals": True,
    "noise.by_signal": {"std_m": 0.01},
    "noise.by_reflectance": ((0.1, 2.0), (0.5, 1.0)),
    "beam": {"pulse_s": 1e-9},
    "beam.rays": 7,
    "beam.separation_m": 0.5,
    "beam.exit_radius_m": 0.02,
    "beam.detector_offset_m": 0.02,
    "intensity": {"kind": "reflectivity"},
    "receiver": {"peak_power_W": 10.0},
    "receiver.rise_time_s": 2e-9,
    "receiver.filter_width_m": 5e-9,
    "receiver.half_field_rad": 1e-3,
    "waveform": {"keep": True},
    "max_depth": 2,
    "floor": 1e-3,
    "detection": {"range_m": 50.0},
    "threshold": 1e-3,
    "returns": "last",
    "max_returns": 2,
    "round_trip": False,
    "divergence": "agx",
    "atmospheric_returns": "off",
    "atmospheric_law": (9.5, 0.5, 0.1),
    "calibrated_index": 1.3,
    "saturation": {"level": 0.5, "trigger": 0.01},
    "blooming": {"strength": 1e-3, "radius_deg": 0.5},
    "repetition": {"rate_hz": 1e5, "reach_m": 3000.0},
    "crosstalk": {},
}

# What an option is refused without, in whatever mode
NEEDS = {"max_returns": {"returns": "all"}, "beam.separation_m": {"beam": {"rays": 7}}}


def fields_of(*paths):
    fields = {}
    for path in paths:
        fields |= NEEDS.get(path, {})
        name, _, part = path.partition(".")
        fields[name] = fields.get(name, {}) | {part: SET[path]} if part else SET[path]
    return fields


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("path", ACTS_IN)
def test_options_are_accepted_where_they_act_and_refused_elsewhere(path, mode):
    if mode in ACTS_IN[path]:
        sn.Lidar(pattern=PATTERN, mode=mode, **fields_of(path))
        return
    with pytest.raises(SpecError, match=rf"with mode '{mode}'; it acts in mode .* alone") as told:
        sn.Lidar(pattern=PATTERN, mode=mode, **fields_of(path))
    assert str(told.value).startswith((path, *NEEDS.get(path, {})))
    assert str(told.value).count(";") == 1


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("path", ACTS_BESIDE)
def test_some_act_beside_another_where_that_one_acts(path, mode):
    other, table = ACTS_BESIDE[path], path.partition(".")[0]
    if mode in ACTS_IN[other]:
        sn.Lidar(pattern=PATTERN, mode=mode, **fields_of(other, path))
    if mode not in ACTS_IN.get(path, ACTS_IN[table]):
        with pytest.raises(SpecError, match=rf"{path} is .* with mode '{mode}'; it acts in .* or with {other} alone"):
            sn.Lidar(pattern=PATTERN, mode=mode, **fields_of(path))


def test_what_acts_beside_another_leaves_its_table_as_it_is():
    fields = fields_of("crosstalk", "receiver.half_field_rad")
    fields["receiver"]["peak_power_W"] = 10.0
    with pytest.raises(SpecError, match=r"receiver\.peak_power_W is 10\.0 with mode 'relative'; it acts in"):
        sn.Lidar(pattern=PATTERN, mode="relative", **fields)


def test_what_is_not_listed_acts_in_every_mode():
    unlisted = {name for name in sn.Lidar.model_fields if name not in ACTS_IN}
    everywhere = {"pattern", "timing", "min_range_m", "max_range_m", "motion", "publish", "frame", "noise", "errors"}
    for_learning = {"normalize", "near_value_m", "far_value_m", "randomize"}
    assert unlisted == everywhere | for_learning | {"kind", "mode", "faults"}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"mode": "geometric", "max_depth": 2}, "max_depth is 2 with mode 'geometric'; it acts in mode 'relative', "),
        ({"mode": "geometric", "beam": {"pulse_s": 1e-9}}, "beam.pulse_s is 1e-09 with mode 'geometric'"),
        (
            {"mode": "relative", "waveform": {"detector": {"kind": "centroid"}}},
            "waveform.detector is a Centroid with mode 'relative'; it acts in mode 'waveform' alone",
        ),
        (
            {"mode": "relative", "max_returns": 2},
            "max_returns is 2 with returns 'strongest'; it acts with returns 'all'",
        ),
        (
            {"mode": "waveform", "atmospheric_returns": "priority"},
            "atmospheric_returns is 'priority' with mode 'waveform'",
        ),
        (
            {"mode": "waveform", "beam": {"detector_radius_m": 0.1}, "receiver": {"length_m": 0.1, "width_m": 0.1}},
            "beam.detector_radius_m is 0.1 with receiver.length_m 0.1; a receiver is round or has corners",
        ),
        (
            {
                "mode": "waveform",
                "waveform": {"detector": {"kind": "cfar"}},
                "receiver": {"false_alarm_probability": 1e-5},
            },
            "receiver.false_alarm_probability is 1e-05 with a Cfar detector; that one has a false_alarm of its own",
        ),
        ({"mode": "relative", "intensity": {"bits": 16}}, "bits is 16 with kind 'raw'"),
        (
            {"mode": "relative", "intensity": {"kind": "reflectivity", "full_scale": 2.0}},
            "full_scale is 2.0 with kind 'reflectivity'; it acts with 'counts' alone",
        ),
    ],
)
def test_refusals_name_option_value_and_rule(fields, message):
    with pytest.raises(SpecError, match=re.escape(message)):
        sn.Lidar(pattern=PATTERN, **fields)


def test_a_default_that_is_written_down_is_no_option_that_is_set():
    lidar = sn.Lidar(pattern=PATTERN, beam=sn.Beam(), max_depth=0, returns="strongest", waveform=sn.waveform.Waveform())
    assert lidar.mode == "geometric"
    with pytest.raises(SpecError, match="max_depth is 1 with mode 'geometric'"):
        lidar.max_depth = 1


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", sn.devices.names("lidar"))
def test_a_device_in_any_mode_has_what_acts_there(name, mode):
    sheet, lidar = sn.Lidar.from_device(name), sn.Lidar.from_device(name, mode=mode)
    by_light = {} if mode == "relative" else {"by_signal": None, "by_reflectance": ()}
    assert lidar.noise == sheet.noise.model_copy(update=by_light)
    assert lidar.timing == sheet.timing
    assert lidar.errors == sheet.errors
    assert lidar.pattern == sheet.pattern
    if mode == "geometric":
        assert lidar.beam == sn.Beam()
        with pytest.raises(SpecError, match=r"beam\.pulse_s is 1e-08 with mode 'geometric'"):
            sn.Lidar.from_device(name, mode=mode, beam={"pulse_s": 1e-8})
    else:
        assert lidar.beam.wavelength_m == sheet.beam.wavelength_m
        assert lidar.intensity == sheet.intensity

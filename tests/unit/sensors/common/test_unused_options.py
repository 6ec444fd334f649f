"""Options without effect beside others are refused in a sentence, in Python and in scenario files."""

import pytest
from pydantic import BaseModel

import sensorium as sn
from sensorium.app.scenario import Scenario
from sensorium.core.errors import SpecError
from sensorium.corruption import Noise, Quantize, Saturate
from sensorium.sensors.common.unused_options import refuse_set, set_option

PINHOLE = sn.patterns.Pinhole(width=8, height=6, focal_px=(8.0, 8.0), rate_hz=10.0)
UNMEASURED = "range, depth or points must be among them for it to act"
SENSORS = [
    (
        sn.DepthCamera,
        {"pattern": PINHOLE, "outputs": {"segmentation"}},
        {"errors": [{"kind": "flying_pixels"}]},
        UNMEASURED,
    ),
    (sn.DepthCamera, {"pattern": PINHOLE, "outputs": {"normals"}}, {"noise": {"multiplier": 0.1}}, UNMEASURED),
    (sn.Radar, {"source": "cone"}, {"ray_spacing_deg": 1.0}, "it acts with source 'rays' alone"),
    (sn.radar.Cfar, {"over": "mean"}, {"rank": 0.5}, "it acts with over 'rank' alone"),
    (sn.radar.Ground, {"reflectivity_dB": None}, {"law": "gamma"}, "it acts on clutter alone"),
    (sn.radar.Ground, {"reflectivity_dB": None}, {"shape": 2.0}, "it acts on clutter alone"),
    (sn.radar.Ground, {}, {"material": 4.0}, "it acts on echoes by way of the ground alone"),
    (sn.radar.Ground, {}, {"roughness_m": 0.01}, "it acts on echoes by way of the ground alone"),
    (sn.radar.Ground, {}, {"polarization": "horizontal"}, "it acts on echoes by way of the ground alone"),
    (sn.Odometer, {"radius_m": 0.3}, {"axis": (1.0, 0.0, 0.0)}, "it is for a radius that is taken from objects"),
]


@pytest.mark.parametrize(("spec", "fields", "option", "rule"), SENSORS)
def test_an_option_of_a_sensor_that_cannot_act_is_refused(spec, fields, option, rule):
    spec(**fields)
    (name,) = option
    with pytest.raises(SpecError, match=f"{name}.*{rule}"):
        spec(**fields, **option)


PARTS = [
    (Noise(sided="two"), "Noise.sided is 'two' without density"),
    (Noise(std=0.1, sided="two"), "Noise.sided is 'two' without density"),
    (Noise(type="laplace"), "Noise.type is 'laplace' without std or density"),
    (Noise(walk=0.1, bound_method="exp_pull"), "Noise.bound_method is 'exp_pull' without bound or soft_bound"),
    (Noise(instability_tau_min_s=2.0), "Noise.instability_tau_min_s is 2.0 without instability"),
    (Noise(instability_tau_max_s=2e4), "Noise.instability_tau_max_s is 20000.0 without instability"),
    (Quantize(rounding="floor"), "Quantize.rounding is 'floor' without lsb or bits"),
    (Quantize(carry_error=True), "Quantize.carry_error is True without lsb or bits"),
    (Quantize(lsb=0.1, code="twos_complement"), "Quantize.code is 'twos_complement' without bits"),
    (Saturate(check="average"), "Saturate.check is 'average' without min or max"),
]


@pytest.mark.parametrize(("part", "sentence"), PARTS)
def test_so_is_what_says_how_an_error_acts_that_is_not_there(part, sentence):
    with pytest.raises(SpecError, match=sentence):
        part.init((3,), seed=1)


@pytest.mark.parametrize("line", ["errors: [{kind: flying_pixels}]", "noise: {multiplier: 0.1}"])
def test_a_scenario_says_it_with_its_line(tmp_path, line):
    file = tmp_path / "run.yaml"
    file.write_text(
        "duration_s: 1\n"
        "world: {kind: static, step_s: 0.1}\n"
        "sensors:\n"
        "  eye:\n"
        "    kind: depth_camera\n"
        "    pattern: {kind: pinhole, width: 8, height: 6, focal_px: [8, 8], rate_hz: 10}\n"
        f"    outputs: [segmentation]\n    {line}\n"
    )
    with pytest.raises(SpecError, match=f"run.yaml:.*{UNMEASURED}"):
        Scenario.load(file)


class Inner(BaseModel):
    a: int = 1
    b: float = 2.0


class Outer(BaseModel):
    x: int = 0
    inner: Inner = Inner()


def test_what_is_set_is_found_within_tables():
    assert set_option(Outer(), "inner") is None
    assert set_option(Outer(x=3), "inner") is None
    assert set_option(Outer(inner=Inner(b=3.0)), "inner") == ("inner.b", 3.0)
    assert set_option(Outer(inner=Inner(b=3.0)), "inner", {"inner.b"}) is None
    with pytest.raises(ValueError, match=r"inner\.a is 5 with something"):
        refuse_set(Outer(inner=Inner(a=5)), "inner", "with something")

"""Specifications: whatever is wrong with one is said on one line with the field, the value and the rule."""

import copy
import inspect
import pickle

import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.core.spec import Spec, checked
from sensorium.patterns import Pattern
from sensorium.physics.imaging.depth_errors import FlyingPixels
from sensorium.physics.materials.library import Material
from sensorium.physics.media import Medium

SPINNING = {"kind": "spinning", "elevation_deg": (0.0,), "columns": 8, "rate_hz": 10}

LENS = sn.patterns.Pinhole.from_fov(8, 8, 80.0, rate_hz=10.0)

FOG = sn.media.fog(visibility_m=100.0)


def all_specifications(kind=Spec):
    for below in kind.__subclasses__():
        yield below
        yield from all_specifications(below)


def message_of(make) -> str:
    with pytest.raises(SpecError) as refused:
        make()
    text = str(refused.value)
    assert "\n" not in text
    assert "pydantic" not in text
    return text


@pytest.mark.parametrize(
    "kind",
    [
        *(
            sn.Beam,
            sn.Lidar,
            sn.RangeNoise,
            sn.Receiver,
            sn.IntensityScale,
            sn.DetectionLimit,
            sn.StatedRange,
            sn.Timing,
        ),
        *(sn.patterns.Spinning, sn.patterns.Raster, sn.patterns.Rosette, sn.patterns.Prism, sn.patterns.Table),
        *(sn.materials.Lambertian, sn.materials.TwoLayer, sn.materials.Dielectric, sn.materials.ThinGlass),
        *(sn.materials.Mirror, sn.materials.Retroreflector, sn.materials.Bands, sn.materials.Spectrum),
        *(sn.media.Air, sn.media.Fog, sn.media.Rain, sn.media.Snow, sn.media.Dust, sn.media.Water, sn.media.Uniform),
        sn.fields.Sun,
    ],
)
def test_everything_a_user_writes_is_a_specification(kind):
    assert kind in set(all_specifications())
    assert "no_such_name is 1; there is no such field" in message_of(lambda: kind(no_such_name=1))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        # A field of the thing itself
        (lambda: sn.Beam(pulse_s=-1.0), "Beam.pulse_s is -1.0; it must be greater than 0"),
        (lambda: sn.Beam(pulse_s=float("nan")), "Beam.pulse_s is nan; it must be a finite number"),
        (lambda: sn.Beam(puls_s=1e-9), "Beam.puls_s is 1e-09; did you mean pulse_s?"),
        # One that belongs into a part of it, or two levels down; and no guess where nothing is alike
        (lambda: sn.Imu(rate_hz=100), "Imu.rate_hz is 100; did you mean timing.rate_hz?"),
        (lambda: sn.Imu(linear={"std": 1.0}), "Imu.linear.std is 1.0; did you mean noise.std?"),
        (
            lambda: sn.Imu(std=1.0),
            "Imu.std is 1.0; did you mean linear.noise.std or angular.noise.std or magnetic.noise.std?",
        ),
        (lambda: sn.Magnetometer(orientation=1), "Magnetometer.orientation is 1; there is no such field"),
        (lambda: sn.Magnetometer(psoition=1), "Magnetometer.psoition is 1; did you mean position?"),
        (lambda: sn.media.fog(), "Fog.visibility_m is missing; it must be given"),
        (
            lambda: sn.Lidar(pattern=SPINNING, motion="fast"),
            "Lidar.motion is 'fast'; it must be 'rolling' or 'snapshot'",
        ),
        # Parts of a whole, told apart by their kind: the path is as it was written
        (
            lambda: sn.Lidar(pattern={**SPINNING, "columns": 0}),
            "Lidar.pattern.columns is 0; it must be greater than 0",
        ),
        (lambda: sn.Lidar(pattern=SPINNING, beam={"pulse_s": 0}), "Lidar.beam.pulse_s is 0; it must be greater than 0"),
        (
            lambda: sn.Lidar(pattern={**SPINNING, "kind": "spining"}),
            "Lidar.pattern.kind is 'spining'; did you mean 'spinning'?",
        ),
        (
            lambda: sn.Lidar(pattern={"rate_hz": 10}),
            "Lidar.pattern.kind is missing; it must be one of "
            "'spinning', 'raster', 'rosette', 'table', 'pinhole', 'fisheye'",
        ),
        (
            lambda: sn.Lidar(pattern={"type": "spinning", "columns": 8}),
            "Lidar.pattern.type is 'spinning'; did you mean kind?",
        ),
        (
            lambda: sn.Lidar(pattern="spinning"),
            "Lidar.pattern is 'spinning'; it must be a mapping of keys to values, such as {kind: spinning}",
        ),
        # What stands too deep; what others call by another name; one of a plural
        (
            lambda: sn.Lidar(pattern={**SPINNING, "motion": "snapshot"}),
            "Lidar.pattern.motion is 'snapshot'; did you mean Lidar.motion?",
        ),
        (
            lambda: sn.DepthCamera(pattern=LENS, outputs={"colour"}),
            "DepthCamera.outputs is 'colour'; did you mean 'color'?",
        ),
        (lambda: sn.DepthCamera(pattern=LENS, frame="wordl"), "DepthCamera.frame is 'wordl'; did you mean 'world'?"),
        (
            lambda: sn.DepthCamera(pattern=LENS, frame="map"),
            "DepthCamera.frame is 'map'; it must be 'sensor' or 'world'",
        ),
        (
            lambda: sn.DepthCamera(pattern=LENS, errors=FlyingPixels(rays=2)),
            "DepthCamera.errors is a single FlyingPixels; it must be a list of errors",
        ),
        (lambda: sn.Lidar(pattern=SPINNING, beams={}), "Lidar.beams is {}; did you mean beam?"),
        (lambda: setattr(sn.Beam(), "puls_s", 1.0), "Beam.puls_s is 1.0; did you mean pulse_s?"),
        (lambda: setattr(sn.Beam(), "color", 1.0), "Beam.color is 1.0; there is no such field"),
        # Without names
        (
            lambda: sn.Mirror(0.9),
            "Mirror is given 0.9 without a name; fields must be given by name, such as reflectance=0.9",
        ),
        (
            lambda: sn.materials.Dielectric(medium={"kind": "fog", "visibility_m": 0.0}),
            "Dielectric.medium.visibility_m is 0.0; it must be greater than 0",
        ),
        # One of several ways to write a value
        (
            lambda: sn.Beam(half_divergence_rad="wide"),
            "Beam.half_divergence_rad is 'wide'; it must be a valid number, unable to parse string as a number "
            "or be a list of values",
        ),
        (
            lambda: sn.Beam(half_divergence_rad=(1e-3, "wide")),
            "Beam.half_divergence_rad[1] is 'wide'; it must be a valid number, unable to parse string as a number",
        ),
        (
            lambda: sn.materials.Lambertian(reflectance={"limits_m": ((4e-7, 5e-7),), "value": (1.1,)}),
            "Lambertian.reflectance.value[0] is 1.1; it must be less than or equal to 1",
        ),
        # Our own rules name themselves
        (lambda: sn.Beam(half_divergence_rad=3), "Beam.half_divergence_rad is 3.0; it must be above 0 and below 0.5"),
        (
            lambda: sn.Lidar(pattern=SPINNING, publish="slices", motion="snapshot"),
            "publish is 'slices' with motion 'snapshot'; a snapshot has no slices",
        ),
        # Data that is none
        (lambda: sn.Beam.model_validate(7), "Beam is 7; it must be a mapping of keys to values"),
    ],
)
def test_a_refusal_names_field_value_and_rule(make, message):
    assert message_of(make) == message


def test_every_wrong_field_is_named():
    text = message_of(lambda: sn.Beam(pulse_s=-1.0, exit_radius_m=-2.0))
    assert "pulse_s is -1.0" in text
    assert "exit_radius_m is -2.0" in text


def test_assignment_is_checked_and_leaves_what_was():
    beam = sn.Beam()
    before = beam.pulse_s
    assert message_of(lambda: setattr(beam, "pulse_s", 0.0)) == "Beam.pulse_s is 0.0; it must be greater than 0"
    assert beam.pulse_s == before
    beam.pulse_s = 2e-9
    assert beam.pulse_s == 2e-9


def test_what_is_frozen_says_so():
    text = message_of(lambda: setattr(FOG, "visibility_m", 5.0))
    assert text == "Fog.visibility_m cannot become 5.0; Fog does not change once made, make another"
    assert hash(FOG) == hash(sn.media.fog(visibility_m=100.0))


@pytest.mark.parametrize(
    ("union", "data", "message"),
    [
        (Medium, {"kind": "fog", "visibility_m": -1.0}, "air.visibility_m is -1.0; it must be greater than 0"),
        (Medium, {"kind": "mist"}, "air.kind is 'mist'; it must be one of 'air', 'fog', "),
        (Medium, {"visibility_m": 1.0}, "air.kind is missing; it must be one of 'air', 'fog', "),
        (
            Material,
            {"kind": "mirror", "reflectance": 2.0},
            "air.reflectance is 2.0; it must be less than or equal to 1",
        ),
        (Pattern, {**SPINNING, "rate_hz": -1}, "air.rate_hz is -1; it must be greater than or equal to 0.000001"),
        (Pattern, 3.0, "air is 3.0; it must be a mapping of keys to values"),
    ],
)
def test_one_of_several_is_refused_in_the_same_words(union, data, message):
    assert message_of(lambda: checked(union, data, "air")).startswith(message)


def test_one_of_several_is_read_by_its_kind_and_passes_as_it_is():
    assert checked(Medium, {"kind": "fog", "visibility_m": 100.0}, "air") == FOG
    assert checked(Medium, FOG, "air") is FOG


def test_text_that_is_read_is_checked_alike():
    lidar = sn.Lidar(pattern=SPINNING, mode="relative", beam=sn.Beam(pulse_s=1e-9))
    assert sn.Lidar.model_validate_json(lidar.model_dump_json()) == lidar
    text = lidar.model_dump_json().replace('"columns":8', '"columns":0')
    assert message_of(lambda: sn.Lidar.model_validate_json(text)).startswith("Lidar.pattern.columns is 0; it must")
    assert message_of(lambda: sn.Lidar.model_validate_json("{")).startswith(
        "Lidar cannot be read; the text is not JSON"
    )


def test_a_key_does_not_break_the_line():
    text = message_of(lambda: sn.Timing.model_validate({"late\ncy_s": 0.0, "\x1b[2J": 1}))
    assert text.startswith(r"Timing.'late\ncy_s' is 0.0; did you mean latency_s?")
    assert r"Timing.'\x1b[2J' is 1" in text
    assert text.isprintable()


def test_a_long_value_is_cut_short():
    text = message_of(lambda: sn.patterns.Table(azimuth_deg=[["x"] * 50] * 1000, elevation_deg=0, time_s=0, rate_hz=1))
    assert "elevation_deg is 0; it must be a list of values" in text
    assert len(max(text.split("; "), key=len)) < 200


def test_specifications_are_copied_and_pickled_whole():
    lidar = sn.Lidar(pattern=SPINNING)
    assert copy.deepcopy(lidar) == lidar
    assert pickle.loads(pickle.dumps(lidar)) == lidar


def test_a_refused_assignment_changes_nothing():
    noise = sn.corruption.Noise(std=1.0)
    before = noise.model_dump()
    with pytest.raises(SpecError, match="only one of them"):
        noise.density = 3.0
    assert noise.model_dump() == before


def test_names_of_fields_are_what_a_signature_shows():
    parameters = inspect.signature(sn.Mirror).parameters
    assert [*parameters] == ["kind", "reflectance", "roughness"]

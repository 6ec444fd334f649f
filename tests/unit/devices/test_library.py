"""Devices by name, from the library and from the user's own files."""

import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.devices import describe, merged, names, specification

OWN = """
kind = "imu"
maker = "Me"
model = "One"
description = "made at home"
[sources]
BENCH = "my own bench"
[angular.density]
value = 0.02
unit = "deg/s/sqrt(Hz)"
means = "one-sided"
source = "BENCH: a night of rest"
grade = "A"
"""

KINDS = {
    "lidar": sn.Lidar,
    "imu": sn.Imu,
    "magnetometer": sn.Magnetometer,
    "encoder": sn.Encoder,
    "camera": sn.Camera,
    "depth_camera": sn.DepthCamera,
    "radar": sn.Radar,
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "my-imu.toml").write_text(OWN)
    return tmp_path


@pytest.mark.parametrize("name", names())
def test_every_sheet_makes_its_sensor(name):
    device = describe(name)
    sensor = KINDS[device.kind].from_device(name)
    assert sensor.kind == device.kind == specification(name)["kind"]
    for _, quantity, _ in device.sheet.everything():
        assert (quantity.source is None) == quantity.estimate


@pytest.mark.parametrize("name", names())
def test_every_sheet_reads_as_text_with_its_sources(name):
    device = describe(name)
    text = str(device)
    assert text.startswith(f"{name}: {device.sheet.maker}")
    assert "the model's defaults stand in: " in text
    for key, source in device.sheet.sources.items():
        assert f"{key} = {source}" in text
    used = {quantity.source.partition(":")[0] for _, quantity, _ in device.sheet.everything() if quantity.source}
    assert used == set(device.sheet.sources), "a source that nothing refers to"


@pytest.mark.parametrize("name", names("lidar"))
def test_defaults_that_are_named_are_those_of_the_model(name):
    sensor, pattern = sn.Lidar.from_device(name), sn.Lidar.from_device(name).pattern
    for path in describe(name).sheet.defaults():
        part, _, field = path.rpartition(".")
        owner = pattern if part == "pattern" else getattr(sensor, part) if part else sensor
        assert getattr(owner, field) == type(owner).model_fields[field].get_default(call_default_factory=True), path


def test_names_by_kind_are_all_names():
    assert sorted(name for kind in KINDS for name in names(kind)) == list(names())
    assert {"velodyne-vlp16", "ouster-os1-128", "livox-mid40"} <= set(names("lidar"))
    with pytest.raises(SpecError, match="kind is 'sonar'; it must be one of"):
        names("sonar")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("ouster-os1", "did you mean ouster-os1-128 or ouster-os1-64"),
        ("velodyne-vpl16", "did you mean velodyne-vlp16"),
        ("vn100", "did you mean vectornav-vn100"),
        ("zzzz", "there are ams-as5047p, ams-as5600"),
    ],
)
def test_a_wrong_name_suggests_the_nearest(name, hint):
    with pytest.raises(SpecError, match=f"device is '{name}'; the library has no such name; {hint}"):
        describe(name)


def test_overrides_change_only_what_they_name():
    lidar = sn.Lidar.from_device("ouster-os1-128", pattern={"columns": 2048}, noise={"slope": 0.0}, max_range_m=50.0)
    assert lidar.pattern.rays().shape == (128, 2048)
    assert (lidar.noise.base_m, lidar.noise.slope, lidar.max_range_m) == (3e-3, 0.0, 50.0)
    own = sn.patterns.Raster(height=2, width=3, horizontal_fov_deg=(-1, 1), vertical_fov_deg=(-1, 1), rate_hz=5.0)
    assert sn.Lidar.from_device("ouster-os1-128", pattern=own).pattern == own
    assert sn.Lidar.from_device("ouster-os1-128", pattern=own.model_dump()).pattern == own
    with pytest.raises(SpecError, match=r"Lidar\.patern is"):
        sn.Lidar.from_device("ouster-os1-128", patern={})


def test_merging_leaves_what_was_given():
    fields, overrides = {"a": {"b": 1, "c": 2}}, {"a": {"b": 3}}
    assert merged(fields, overrides) == {"a": {"b": 3, "c": 2}}
    assert fields == {"a": {"b": 1, "c": 2}}
    assert merged({"a": {"kind": "x", "b": 1}}, {"a": {"kind": "y"}}) == {"a": {"kind": "y"}}


def test_a_device_of_another_kind_is_refused():
    with pytest.raises(
        SpecError, match="device 'bosch-bmi088' is of kind 'imu'; of kind 'lidar' there are hesai-pandar64"
    ):
        sn.Lidar.from_device("bosch-bmi088")
    with pytest.raises(SpecError, match="of kind 'gnss' there are none"):
        sn.Gnss.from_device("bosch-bmi088")


def test_one_group_of_an_imu_is_a_sensor():
    gyroscope = sn.Gyroscope.from_device("vectornav-vn100", axes="z")
    imu = sn.Imu.from_device("vectornav-vn100")
    assert gyroscope.noise == imu.angular.noise
    assert gyroscope.timing.rate_hz == 800.0
    assert gyroscope.axes == "z"
    with pytest.raises(SpecError, match="device 'bosch-bmi088' is of kind 'imu'; of kind 'magnetometer' there are"):
        sn.Magnetometer.from_device("bosch-bmi088")


def test_own_files_work_the_same_way(folder, monkeypatch):
    expected = pytest.approx(3.490659e-4, rel=1e-6)
    assert sn.Imu.from_device(folder / "my-imu.toml").angular.noise.density == expected
    assert sn.Imu.from_device(str(folder / "my-imu.toml")).linear is None
    assert sn.Imu.from_device("my-imu", folder=folder).angular.noise.density == expected
    assert "my-imu" in names("imu", folder=folder)
    assert "my-imu" not in names()
    monkeypatch.setenv("SENSORIUM_DEVICES", str(folder))
    assert sn.Imu.from_device("my-imu").angular.noise.density == expected
    assert "my-imu" in names("imu")


def test_an_own_sheet_comes_before_the_library_and_is_read_again_when_it_changes(folder):
    path = folder / "bosch-bmi088.toml"
    path.write_text(OWN)
    assert describe("bosch-bmi088", folder=folder).sheet.maker == "Me"
    assert describe("bosch-bmi088").sheet.maker == "Bosch"
    path.write_text(OWN.replace("Me", "She"))
    assert describe("bosch-bmi088", folder=folder).sheet.maker == "She"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind = ", "the file is not TOML"),
        ('kind = "sonar"', "kind is 'sonar'; it must be one of"),
        (OWN.replace("0.02", '"much"'), "density.value is 'much'; it must be a number"),
        (OWN.replace("deg/s/sqrt(Hz)", "deg"), "unit is 'deg'; it must be one of rad/s/sqrt\\(Hz\\)"),
        (OWN.replace('model = "One"', ""), "ImuSheet.model is missing"),
    ],
)
def test_a_broken_file_says_which_and_why(tmp_path, text, message):
    path = tmp_path / "broken.toml"
    path.write_text(text)
    with pytest.raises(SpecError, match=f"broken.toml: .*{message}"):
        describe(path)


def test_folders_that_are_none_are_refused(tmp_path, monkeypatch):
    with pytest.raises(SpecError, match=r"folder is '.*nowhere'; it must be a folder of data sheets"):
        names(folder=tmp_path / "nowhere")
    with pytest.raises(SpecError, match="there is no such file"):
        describe(tmp_path / "none.toml")
    monkeypatch.setenv("SENSORIUM_DEVICES", str(tmp_path / "nowhere"))
    with pytest.raises(SpecError, match=r"SENSORIUM_DEVICES is '.*nowhere'"):
        names()

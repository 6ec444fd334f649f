"""Data sheets and files of parameters: parameters that come back."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz.promise import check
from fuzz.readers import READERS, sheets
from fuzz.strategies import attempts
from sensorium import devices
from sensorium.core.errors import SpecError
from sensorium.sensors.camera.camera import Camera
from sensorium.sensors.lidar.waveform.parameters import Parameters

positive = st.floats(1e-9, 1e3)


@attempts()
@given(power=positive, divergence=st.floats(1e-9, 0.9), start_s=positive, bins=st.floats(2.0, 1e5), gain=positive)
def test_the_twelve_come_back(folder, power, divergence, start_s, bins, gain):
    given_ = Parameters(
        **{"peak_power_W": power, "aperture_radius_m": 0.0, "wavelength_m": 905e-9, "pulse_duration_s": 1e-9},
        **{"divergence_rad": divergence, "receiver_length_m": 0.1, "receiver_width_m": 0.2, "gain": gain},
        **{"start_s": start_s, "stop_s": 2.0 * start_s + 1.0, "time_resolution_s": (start_s + 1.0) / bins},
        spectral_response=((8e-7, 0.5), (1e-6, 0.25)),
    )
    path = folder / "vane.toml"
    data = given_.model_dump() | {"spectral_response": "[[8e-7, 0.5], [1e-6, 0.25]]"}
    path.write_text("\n".join(f"{name} = {value}" for name, value in data.items()))
    assert Parameters.load(path) == given_


@attempts()
@given(gains=st.lists(positive, min_size=3, max_size=3), coma=st.floats(-1e9, 1e9), bits=st.integers(1, 16))
def test_the_sixteen_come_back(folder, gains, coma, bits):
    path = folder / "camera.toml"
    path.write_text(sheets.CAMERA)
    camera = Camera.from_file(path).model_copy(update={"gain": tuple(gains), "coma": coma, "bits": bits})
    path = folder / "camera.json"
    path.write_text(camera.model_dump_json())
    assert Camera.from_file(path) == camera


def refused(folder, name, text, says):
    assert not check(READERS[name], text.encode(), folder)
    path = folder / f"input{READERS[name].suffix}"
    read = {"device": devices.specification, "waveform": Parameters.load}.get(name, Camera.from_file)
    with pytest.raises(SpecError, match=says):
        read(path)


@pytest.mark.parametrize("name", [reader.name for reader in sheets.READERS])
def test_nests_end(folder, name):
    opening = {"camera-json": "["}.get(name, "x = [")
    refused(folder, name, opening + "[" * 100_000, "nested too deep")


@pytest.mark.parametrize("name", ["device", "camera", "waveform"])
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = " + "9" * 5000, "Exceeds the limit"),
        ("x = 0x" + "f" * 5000, "an integer of 20000 bits; TOML has 64"),
        ("x = inf", "the number inf; every number must be finite"),
        ("x = 1e400", "the number 1e400; every number must be finite"),
        ("a." * 20_000 + "a = 1", "a key of more than 32 parts"),
        ('"\\"".' * 20_000 + "a = 1", "a key of more than 32 parts"),
        ("x = 1\n" * 200_000, "has 1200000 bytes; as TOML it may have 1048576"),
    ],
)
def test_what_no_sheet_holds_is_refused(folder, name, text, says):
    refused(folder, name, text, says)


def test_thousands_of_unknown_values_are_told_in_short(folder):
    refused(folder, "device", 'kind = "lidar"\n' + "".join(f"k{n} = 1\n" for n in range(5000)), "more mistakes")


def test_values_that_do_not_go_together_are_told(folder):
    """Tables of other lengths, and numbers that divide by zero."""
    sheet = devices.describe("velodyne-hdl64e").path.read_text("utf-8")
    table = dict(tables_of(sheet))["vertical_offset"]
    refused(folder, "device", sheet.replace(table, table.replace("[", "[0.0, ", 1)), "its values make no specification")


def tables_of(text):
    """Name and value of each quantity of a sheet."""
    return re.findall(r"^\[(\w+)\]\nvalue = (\[[^]]*\]|\S+)", text, re.MULTILINE)


def test_kinds_that_are_no_words_are_told(folder):
    refused(folder, "device", "kind = [1]", "kind is")

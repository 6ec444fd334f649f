"""OSF files that the test writes itself, broken ones, and a recorded one."""

import random

import numpy as np
import pytest

from fuzz.osf_files import osf, png, zpng
from sensorium.core.errors import SpecError
from sensorium.recordings.opening import measure_recording, open_recording
from sensorium.recordings.readers.osf import read_osf
from tests.unit.recordings.real import real

COLUMNS, CHANNELS = 64, 4


def metadata(**changes) -> dict:
    form = {"columns_per_frame": COLUMNS, "columns_per_packet": 16, "pixels_per_column": CHANNELS}
    form |= {"udp_profile_lidar": "RNG19_RFL8_SIG16_NIR16_DUAL", "pixel_shift_by_row": [3, 1, 0, 60]}
    made = {"prod_line": "OS-0-4", "data_format": form | changes}
    return made | {"beam_altitude_angles": [10, 3, -3, -10], "beam_azimuth_angles": [3, 1, -1, -3]}


def scans(count: int, seed=1) -> list[dict]:
    rng = np.random.default_rng(seed)
    made = []
    for k in range(count):
        fields = {
            1: rng.integers(0, 1 << 19, (CHANNELS, COLUMNS)).astype(np.uint32),
            2: rng.integers(0, 1 << 19, (CHANNELS, COLUMNS)).astype(np.uint32),
            3: rng.integers(0, 1 << 16, (CHANNELS, COLUMNS)).astype(np.uint16),
            5: rng.integers(0, 256, (CHANNELS, COLUMNS)).astype(np.uint8),
            7: rng.integers(0, 1 << 16, (CHANNELS, COLUMNS)).astype(np.uint16),
        }
        time_ns = 10**9 + 1000 * (np.arange(COLUMNS) + k * COLUMNS)
        status = np.ones(COLUMNS)
        status[7] = 0
        made.append({"fields": fields, "time_ns": time_ns, "column": np.arange(COLUMNS), "status": status})
    return made


@pytest.mark.parametrize("packed", [png, zpng])
def test_scans_are_those_that_were_written(tmp_path, packed):
    given = scans(3)
    (tmp_path / "a.osf").write_bytes(osf(metadata(), given, packed=packed))
    found = open_recording(tmp_path / "a.osf")
    valid = np.delete(np.arange(COLUMNS), 7)
    assert (found.device, found.returns, found.columns_per_turn) == ("OS-0-4", ("strongest", "second"), COLUMNS)
    np.testing.assert_array_equal(found.turn, np.repeat(np.arange(3), COLUMNS - 1))
    for kind, values in ((1, found.range_m[..., 0]), (2, found.range_m[..., 1])):
        expected = np.concatenate([scan["fields"][kind].T[valid] for scan in given])
        np.testing.assert_allclose(values, 1e-3 * expected, rtol=1e-6)
    for kind, values in ((3, found.signal[..., 0]), (5, found.reflectivity[..., 0]), (7, found.background)):
        np.testing.assert_array_equal(values, np.concatenate([scan["fields"][kind].T[valid] for scan in given]))
    np.testing.assert_array_equal(found.time_ns, np.concatenate([scan["time_ns"][valid] for scan in given]))


def test_options_that_an_osf_file_does_not_take_are_refused(tmp_path):
    (tmp_path / "a.osf").write_bytes(osf(metadata(), scans(1)))
    with pytest.raises(SpecError, match="stream is '7502'; an OSF file has its own metadata"):
        open_recording(tmp_path / "a.osf", stream="7502")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "is no OSF file"),
        (osf(metadata(), []), "has no scans of OS-0-4"),
        (osf(metadata(), scans(1), sensors=2), "has 2 sensors"),
        (osf(metadata(), scans(1), packed=lambda image: b"\x28\xb5\x2f\xfd" + bytes(50)), "neither as PNG nor as ZPNG"),
        (osf(metadata(columns_per_frame=128), scans(1)), r"an image of \(64, 4\) pixels"),
        (osf(metadata(columns_per_frame=128), scans(1), packed=zpng), r"an image of \(64, 4\) pixels of 4 bytes"),
        (osf(metadata(), scans(1), packed=lambda image: zpng(image)[:-9]), "an image"),
        (osf(metadata(pixels_per_column=8), scans(1)), "are given for 8 pixels"),
    ],
    ids=[
        "nothing",
        "no scans",
        "two sensors",
        "packed otherwise",
        "other columns",
        "other columns of zpng",
        "cut zpng",
        "other rows",
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(tmp_path, data, sentence):
    (tmp_path / "a.osf").write_bytes(data)
    with pytest.raises(SpecError, match=sentence) as refused:
        read_osf(tmp_path / "a.osf")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("packed", [png, zpng])
def test_broken_bytes_raise_no_other_error(tmp_path, packed):
    data, rng = osf(metadata(), scans(2), packed=packed), random.Random(28)
    sentences = []
    for _ in range(400):
        broken = bytearray(data)
        for _ in range(rng.randint(1, 6)):
            broken[rng.randrange(12, len(broken))] = rng.choice([0, 1, 127, 255, rng.randrange(256)])
        (tmp_path / "a.osf").write_bytes(broken[: rng.randrange(len(broken))] if rng.random() < 0.2 else broken)
        try:
            read_osf(tmp_path / "a.osf")
        except SpecError as error:
            sentences.append(str(error))
    assert len(sentences) > 100
    assert not any("\n" in each for each in sentences)


def test_a_recorded_file_is_still_and_limited_by_photons():
    path = real("lidar_ouster/OS-0-128_v3.0.1_1024x10_20241017_141645.osf")
    found = measure_recording(path)
    assert "still" in found.remarks[-1]
    assert 3.0 < 1e3 * found.figure("noise.by_range", "range 2 to 3 m").value < 4.5
    curve = found.curve("noise.by_signal")
    law_mm = 1e3 * curve.y * np.sqrt(curve.x)
    assert ((law_mm > 160.0) & (law_mm < 240.0))[curve.x > 400].all()
    assert 1e6 * found.figure("column_jitter").value == pytest.approx(7.3, abs=0.3)


def test_a_recorded_dual_scan_has_its_noise_and_separation():
    found = measure_recording(real("lidar_ouster/single_scan_016.osf"))
    assert found.figure("separation.least").value == pytest.approx(0.757, rel=0.01)
    assert 1e3 * found.figure("noise.by_range", "range 8 to 50 m").value == pytest.approx(6.0, rel=0.1)
    assert "no two whole turns" in found.remarks[-1]

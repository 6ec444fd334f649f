"""A simulated image set: measured again, its figures are those of the camera within 2 %."""

import pytest

from sensorium.core.errors import SpecError
from sensorium.physics.imaging import PixelNoise
from sensorium.recordings.opening import measure_recording
from sensorium.recordings.simulate.emva1288 import saturation_e, simulate_emva1288
from sensorium.sensors.camera.camera import Adc, Camera

NOISE = PixelNoise(read_noise_e=11.0, dark_current_e_s=30.0, prnu=0.0043, dsnu_e=4.0)


def ccd(**changes):
    fields = {"columns": 320, "rows": 240, "full_well_e": 14_000.0, "noise": NOISE}
    return Camera.from_device(
        "sony-imx900", **(fields | {"adc": Adc(bits=12, gain_dn_e=0.2786, black_dn=20.0)} | changes)
    )


def test_figures_come_back_within_two_percent(tmp_path):
    camera = ccd()
    simulate_emva1288(tmp_path / "set", camera, quantum_efficiency=0.455, exposures=24, uniformity_images=8)
    found = measure_recording(tmp_path / "set")
    for quantity, value in (
        ("system_gain", 0.2786),
        ("quantum_efficiency", 0.455),
        ("dark_noise", 11.0),
        ("full_well", 14_000.0),
        ("prnu", 0.0043),
        ("dsnu", 4.0),
    ):
        assert found.figure(quantity).value == pytest.approx(value, rel=0.02), quantity
    saturation = found.figure("saturation_capacity")
    assert saturation.low <= 14_000.0 <= saturation.high
    assert found.figure("linearity_error").value < 1e-3


def test_darkness_is_raised_so_that_its_noise_is_whole(tmp_path):
    camera = ccd(columns=160, rows=120, adc=Adc(bits=12, gain_dn_e=0.2786, black_dn=0.0))
    simulate_emva1288(tmp_path / "set", camera, quantum_efficiency=0.455, exposures=12, uniformity_images=2)
    found = measure_recording(tmp_path / "set")
    assert found.figure("dark_noise").value == pytest.approx(11.0, rel=0.02)
    assert found.figure("system_gain").value == pytest.approx(0.2786, rel=0.02)


def test_saturation_is_that_of_the_converter_where_it_is_lower():
    assert saturation_e(ccd()) == 14_000.0
    assert saturation_e(ccd(full_well_e=50_000.0)) == pytest.approx((4095 - 20) / 0.2786)
    assert saturation_e(ccd(adc=None)) == 14_000.0


def test_the_same_seed_gives_the_same_bytes(tmp_path):
    camera = ccd(columns=24, rows=16)
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        simulate_emva1288(tmp_path / name, camera, quantum_efficiency=0.5, exposures=8, uniformity_images=2, seed=seed)
    image = "images/b_003_snap_001.png"
    a, b, c = ((tmp_path / name / image).read_bytes() for name in "abc")
    assert a == b != c


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"quantum_efficiency": 0.0}, "quantum_efficiency is 0.0"),
        ({"exposures": 3}, "exposures is 3"),
        ({"camera": ccd(noise=None)}, "noise of the camera is None"),
    ],
)
def test_what_cannot_be_simulated_is_refused(tmp_path, changes, says):
    arguments = {"camera": ccd(), "quantum_efficiency": 0.5} | changes
    with pytest.raises(SpecError, match=says):
        simulate_emva1288(tmp_path / "set", arguments.pop("camera"), **arguments)


def test_a_folder_with_a_set_is_kept(tmp_path):
    (tmp_path / "EMVA1288_Data.txt").write_text("mine")
    with pytest.raises(SpecError, match="has a set already"):
        simulate_emva1288(tmp_path, ccd(), quantum_efficiency=0.5)
    assert (tmp_path / "EMVA1288_Data.txt").read_text() == "mine"

import re

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError

FILE = """
peak_power_W = 70.0
aperture_radius_m = 0.0125
wavelength_m = 905e-9
pulse_duration_s = 4e-9
divergence_rad = 0.010
receiver_length_m = 0.05
receiver_width_m = 0.04
spectral_response = [[800e-9, 0.5], [1000e-9, 0.7]]
start_s = 0.0
stop_s = 650e-9
time_resolution_s = 0.5e-9
gain = 2.0
"""


@pytest.fixture
def parameters(tmp_path):
    path = tmp_path / "vane.toml"
    path.write_text(FILE)
    return sn.waveform.Parameters.load(path)


def test_there_are_twelve():
    assert len(sn.waveform.Parameters.model_fields) == 12


def test_one_file_makes_the_lidar(parameters):
    pattern = sn.patterns.Table(azimuth_deg=(0.0,), elevation_deg=(0.0,), time_s=(0.0,), rate_hz=10)
    lidar = parameters.lidar(pattern=pattern, waveform={"keep": True}, max_depth=2)
    assert lidar.mode == "waveform"
    assert lidar.max_depth == 2
    assert (lidar.receiver.peak_power_W, lidar.receiver.length_m, lidar.receiver.width_m) == (70.0, 0.05, 0.04)
    assert (lidar.beam.exit_radius_m, lidar.beam.half_divergence_rad, lidar.beam.pulse_s) == (0.0125, 0.005, 4e-9)
    assert (lidar.waveform.gain, lidar.waveform.stop_s, lidar.waveform.keep) == (2.0, 650e-9, True)
    assert lidar.receiver.noise_electrons == 0.0


def test_a_distance_array_gives_the_waveform(parameters):
    """The spectral response at 905 nm is 0.605; the gain is 2."""
    wave = parameters.waveform(np.full((41, 41), 30.0), return_per_sr=0.5 / np.pi)
    assert wave.shape == (1300,)
    assert wave.max() == pytest.approx(70.0 * 0.5 / np.pi * 0.002 / 900.0 * 0.605 * 2.0, rel=0.01)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("stop_s = 650e-9", "stop_s = 3e-9", "the window must be no shorter than the pulse, 4e-09 s"),
        ("resolution_s = 0.5e-9", "resolution_s = 1e-6", "time_resolution_s is 1e-06; a bin must be no longer than"),
        ("resolution_s = 0.5e-9", "resolution_s = 1e-18", "the window must have at most 131072 bins, and has 65"),
        ("gain = 2.0", "gian = 2.0", "gian is 2.0; did you mean gain?"),
        ("gain = 2.0", "gain = 0.0", "gain is 0.0; it must be greater than 0"),
        ("wavelength_m = 905e-9", "wavelength_m = 1550e-9", "spectral_response is asked for at 1550 nm"),
        ("gain = 2.0", "gain =", "the file is not TOML"),
    ],
)
def test_bad_files(tmp_path, old, new, message):
    path = tmp_path / "vane.toml"
    path.write_text(FILE.replace(old, new))
    with pytest.raises(SpecError, match=rf"^{re.escape(str(path))}: .*{message}"):
        sn.waveform.Parameters.load(path)
    with pytest.raises(SpecError, match="cannot be read"):
        sn.waveform.Parameters.load(tmp_path / "none.toml")

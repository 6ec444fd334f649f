"""Data sheets of devices, and files of parameters: the camera's sixteen, the waveform lidar's twelve."""

import tomllib
from pathlib import Path

from fuzz.reader import Reader, must_be_finite
from sensorium import devices
from sensorium.app.scenario.sensors import specifications
from sensorium.core.errors import SpecError
from sensorium.core.spec import checked
from sensorium.sensors.camera.camera import Camera
from sensorium.sensors.lidar.waveform.parameters import Parameters

_WORDS = (
    *(
        b"[",
        b"[[",
        b"]]",
        b"value = ",
        b"unit = ",
        b'"deg/h"',
        b'"mg/sqrt(Hz)"',
        b"means = ",
        b"grade = ",
        b"estimate = true",
    ),
    *(
        b"kind = ",
        b'"lidar"',
        b'"imu"',
        b'"camera"',
        b"1979-05-27T07:32:00Z",
        b'"""',
        b"'''",
        b"{",
        b"a.b.c = 1\n",
        b"_",
    ),
)


def _read_device(path: Path) -> None:
    device = devices.describe(path)
    str(device)
    specification = devices.specification(path)
    checked(specifications()[device.kind], specification, device.name)


def _sheets(folder: Path) -> list[bytes]:
    return [devices.describe(name).path.read_bytes() for name in devices.names()]


CAMERA = """
pupil_distance_m = 0.0081
width_m = 0.0064
height_m = 0.0048
columns = 64
rows = 48
focal_length_m = 0.008
pupil_radius_m = 0.002
exposure_s = 0.01
gamma = 0.5
vignetting_per_m = 10.0
spherical = 1.0
astigmatism = -2.0
curvature = 0.5
distortion = 1e-3
coma = 0.25
gain = 1.5
bits = 12

[timing]
rate_hz = 30.0

[noise]
read_noise_e = 2.0
"""


def _read_camera(path: Path) -> None:
    camera = Camera.from_file(path)
    must_be_finite(pitch_m=camera.pitch_m)


def _cameras(folder: Path) -> list[bytes]:
    return [CAMERA.encode()]


def _cameras_as_json(folder: Path) -> list[bytes]:
    return [Camera(**tomllib.loads(CAMERA)).model_dump_json().encode()]


WAVEFORM = """
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


def _read_waveform(path: Path) -> None:
    parameters = Parameters.load(path)
    must_be_finite(**{name: getattr(parameters, name) for name in ("peak_power_W", "stop_s", "gain", "wavelength_m")})
    pattern = {"kind": "table", "azimuth_deg": [0.0], "elevation_deg": [0.0], "time_s": [0.0], "rate_hz": 10.0}
    parameters.lidar(pattern=pattern)


READERS = (
    Reader(
        "device",
        ".toml",
        _read_device,
        (SpecError,),
        _sheets,
        (
            *("sensorium.devices.library", "sensorium.devices.sheet", "sensorium.devices.units", "sensorium.core.spec"),
            *("sensorium.devices.lidar_sheet", "sensorium.devices.inertial_sheet", "sensorium.devices.camera_sheet"),
            *(
                "sensorium.devices.encoder_sheet",
                "sensorium.devices.depth_camera_sheet",
                "sensorium.devices.radar_sheet",
            ),
        ),
        words=_WORDS,
    ),
    Reader(
        "camera",
        ".toml",
        _read_camera,
        (SpecError,),
        _cameras,
        ("sensorium.sensors.camera.camera", "sensorium.core.spec"),
        words=_WORDS,
    ),
    Reader(
        "camera-json",
        ".json",
        _read_camera,
        (SpecError,),
        _cameras_as_json,
        ("sensorium.sensors.camera.camera", "sensorium.core.spec"),
    ),
    Reader(
        "waveform",
        ".toml",
        _read_waveform,
        (SpecError,),
        lambda folder: [WAVEFORM.encode()],
        ("sensorium.sensors.lidar.waveform.parameters", "sensorium.core.spec", "sensorium.physics.optics.spectra"),
        words=_WORDS,
    ),
)

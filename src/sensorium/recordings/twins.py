"""From a recording to a data sheet, and from a sheet to a comparison: one table, an entry a kind of recording."""

from importlib import import_module
from typing import Any, NamedTuple

from sensorium.core.errors import SpecError
from sensorium.devices import Device
from sensorium.recordings.compare.comparison import Comparison
from sensorium.recordings.fit.fitted import Fitted


class Twin(NamedTuple):
    """How recordings of one kind become a simulated sensor; functions are named by module, and imported when used.

    Attributes:
        sensor: Name of the sensor whose `from_device` loads the sheet.
        fit: Fits a sheet.
        compare: Compares with a device.
        prepare: Takes what both need from the recording; "" takes it as it is.
    """

    sensor: str
    fit: str
    compare: str
    prepare: str = ""


TWINS: dict[str, Twin | str] = {
    "LidarRecording": Twin("Lidar", "fit.lidar.fit_lidar", "compare.comparison.compare_lidar"),
    "ImageSet": Twin("Camera", "fit.camera.fit_camera", "compare.camera.compare_camera"),
    "DepthRecording": Twin(
        "DepthCamera", "fit.depth_camera.fit_depth_camera", "compare.depth_camera.compare_depth_camera"
    ),
    "WaveformRecording": Twin("Lidar", "fit.waveform.fit_waveform", "compare.waveform.compare_waveform"),
    "DetectionList": Twin("Radar", "fit.radar.fit_radar", "compare.radar.compare_radar"),
    "InertialRecording": Twin("Imu", "fit.imu.fit_imu", "compare.imu.compare_imu", "measure.imu.imu_rest"),
    "TruthRecording": Twin("Imu", "fit.imu.fit_imu", "compare.imu.compare_imu", "measure.imu_truth.imu_truth_rest"),
    "Observations": "a simulated GNSS receiver reports positions, and has no code noise of its own",
    "RadarCube": "raw samples have no scale in watts, which a sheet of a radar needs",
}
"""By type of recording, or why there is none."""


def twin_of(recording: Any) -> Twin:
    """The entry of a recording; one without raises SpecError."""
    found = TWINS[type(recording).__name__]
    if isinstance(found, str):
        raise SpecError(f"{recording.path.name!r} can be measured, not fitted or compared: {found}")
    return found


def fit_recording(recording: Any, *, hold_out: bool = True) -> Fitted:
    """Fit a data sheet to a recording, as `open_recording` gives it.

    Args:
        recording: Of a real device.
        hold_out: Whether half of the samples are left out of the fit, and held against it.
    """
    twin = twin_of(recording)
    fitted: Fitted = _named(twin.fit)(_prepared(twin, recording), hold_out=hold_out)
    return fitted


def compare_recording(recording: Any, device: Device) -> Comparison:
    """Compare a recording, as `open_recording` gives it, with a simulated device in the same scene."""
    twin = twin_of(recording)
    compared: Comparison = _named(twin.compare)(_prepared(twin, recording), device)
    return compared


def _prepared(twin: Twin, recording: Any) -> Any:
    return _named(twin.prepare)(recording) if twin.prepare else recording


def _named(name: str) -> Any:
    module, _, function = name.rpartition(".")
    return getattr(import_module(f"sensorium.recordings.{module}"), function)

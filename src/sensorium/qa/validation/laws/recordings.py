"""Recordings of real devices: their twins, fitted to half of the turns, and the sheets of the library beside them."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from sensorium.devices import describe
from sensorium.qa.validation.check import Axis, CannotMeasureError, Comparison, Family
from sensorium.recordings.compare import comparison
from sensorium.recordings.fit.fitted import HeldOut
from sensorium.recordings.fit.units import between_units
from sensorium.recordings.opening import open_recording, recordings_folder
from sensorium.recordings.twins import compare_recording, fit_recording

RECORDINGS = Family("Recordings of real devices")

LIDARS = {
    "vlp16": ("lidar_nebula/vlp16", "VLP-16", "velodyne-vlp16"),
    "xt32": ("lidar_nebula/xt32", "PandarXT-32", "hesai-xt32"),
    "pandar64": ("lidar_nebula/pandar64", "Pandar64", "hesai-pandar64"),
    "os0": ("lidar_ouster/OS-0-128_v3.0.1_1024x10_20241017_141645.osf", "OS0-128", "ouster-os0-128"),
    "os1": ("lidar_ouster/OS-1-128_v2.3.0_1024x10_lb_n3.pcap", "OS1-128", "ouster-os1-128"),
    "vls128": ("lidar_nebula/vls128", "VLS-128", "velodyne-vls128"),
}
"""Recordings of lidars, in the folder of `recordings_folder`: place, device, and the library's sheet of it."""

OTHERS = {
    "d435": ("depth_realsense_d435/single_depth_color_640x480.bag", "RealSense D435", "intel-realsense-d435"),
    "basler": ("camera_emva1288/EMVA1288_Data.txt", "Basler CCD", ""),
    "riegl": ("waveform_riegl/100429_152240_2535pt_UTM.las", "RIEGL scanner", ""),
    "ars548": ("radar_continental/ars548/1708578204_202447652_detection.yaml", "ARS548", ""),
    "mti": ("imu_xsens_imutk/xsens_acc.mat", "Xsens MTi", ""),
}
"""Recordings of other devices, likewise; some have no sheet in the library."""

RECORDED = LIDARS | OTHERS
"""Both."""

# Recordings that are folders, of which one file is named above
_FOLDERS = ("basler", "mti")

_SECOND = {
    "os0-unit": ("lidar_ouster/single_scan_016.osf", "OS0-128, firmware 3.0.1, another unit"),
    "os0-2.3": ("lidar_ouster/OS-0-128-U1_v2.3.0_1024x10.pcap", "OS0-128, firmware 2.3.0, steps of 8 mm"),
    "os0-3.2": ("lidar_ouster/osf_fw_3.2_10scans.osf", "OS0, 8 channels, development firmware, 2048 columns"),
    "os1-32": ("lidar_ouster/OS-1-32-G_v2.1.1_1024x10.pcap", "OS1-32, firmware 2.1.1, steps of 1 mm"),
}

UNITS = (("os0", "os0-unit"), ("os0", "os0-2.3"), ("os0-unit", "os0-3.2"), ("os1", "os1-32"))
"""Pairs of units or firmwares: what is fitted to the first is held against the second."""

# Devices whose sheets were measured between turns of a still scene; the others moved, and roughness is in their noise
_AT_REST = ("vlp16", "xt32", "pandar64")

_TWIN = ("quantum", "firing_period", "column_jitter", "noise", "noise.by_range", "noise.by_reflectivity")
_SHEET = ("quantum", "noise", "noise.by_range", "noise.by_reflectivity", "separation.least")


def recording_file(name: str) -> Path:
    """The file of a recording; one that is not there makes a check skip."""
    place = (RECORDED.get(name) or _SECOND[name])[0]
    path = recordings_folder() / place
    files = sorted(path.glob("*.db3")) if path.is_dir() else [path]
    if not files or not files[0].is_file():
        raise CannotMeasureError(f"{place} is not in the folder of recordings, {recordings_folder().name}")
    return files[0]


def device_of(name: str) -> str:
    """Device of a recording, in words."""
    return (RECORDED.get(name) or _SECOND[name])[1]


@cache
def _recording(name: str) -> Any:
    file = recording_file(name)
    return open_recording(file.parent if name in _FOLDERS else file)


def _placed(found: comparison.Comparison, quantities: Iterable[str]) -> Comparison:
    """Differences of simulated and real figures, as shares of what the rule of a comparison allows; () takes all."""
    modeled = [row for row in found.rows if row.verdict != "not modeled"]
    rows = [row for row in modeled if not quantities or row.real.quantity in quantities]
    shares = []
    for real, simulated, tolerance in rows:
        assert simulated is not None
        assert tolerance is not None
        off = simulated.value - real.value
        # Intervals overlap up to the sum of the halves that face each other
        facing = real.high - real.value + simulated.value - simulated.low
        if off < 0.0:
            facing = real.value - real.low + simulated.high - simulated.value
        shares.append(off / max(tolerance * abs(real.value), facing, 1e-300))
    note = f"{len(rows)} figures of {found.real.source}; {found.remarks[0]}"
    return Comparison(np.array(shares), 0.0, x=Axis("figure"), y=Axis("share of what is allowed"), note=note)


def twin(name: str) -> comparison.Comparison:
    """The twin of a device beside the turns or samples that it was not fitted to."""
    recording = _recording(name)
    with TemporaryDirectory() as folder:
        sheet = Path(folder) / f"{name}-twin.toml"
        sheet.write_text(fit_recording(recording).text, encoding="utf-8")
        return compare_recording(recording, describe(sheet))


def units(first: str, second: str) -> tuple[HeldOut, ...]:
    """What is fitted to all turns of one unit, beside another unit."""
    return between_units(_recording(first), _recording(second))


def library(name: str) -> comparison.Comparison:
    """The library's sheet of a device beside the whole recording."""
    return compare_recording(_recording(name), describe(RECORDED[name][2]))


def _register(name: str, of_twin: Iterable[str] = (), of_sheet: Iterable[str] | None = None) -> None:
    """Checks of a device: its twin, and the library's sheet where quantities of it are given; () compares all."""
    device = RECORDED[name][1]
    rule = "15 % by range, 20 % by reflectivity" if name in LIDARS else "the tolerance of each figure"

    @RECORDINGS.check(
        f"twin-{name}",
        f"Fitted to one half of a recording, a {device}'s twin shows the figures of the other half.",
        reference=f"the recording; {rule}, or 95 % intervals that overlap",
        absolute=1.0,
    )
    def _twin(quick: bool) -> Comparison:
        return _placed(twin(name), of_twin)

    if of_sheet is not None:

        @RECORDINGS.check(
            f"recorded-{name}",
            f"By the library's sheet a {device} shows the figures of a recording.",
            reference=f"the recording; {rule}, or 95 % intervals that overlap",
            absolute=1.0,
        )
        def _library(quick: bool) -> Comparison:
            return _placed(library(name), of_sheet)


for _name in LIDARS:
    _register(_name, _TWIN, _SHEET if _name in _AT_REST else None)

for _name in OTHERS:
    _register(_name, of_sheet=() if OTHERS[_name][2] else None)

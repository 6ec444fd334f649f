"""Devices: simulated values against those of the data sheets."""

import numpy as np

import sensorium as sn
from sensorium.qa import round_trip
from sensorium.qa.validation.check import Axis, Comparison, Family

DEVICES = Family("Devices against their data sheets")

# One of each kind where time is short
_QUICK = {
    "lidar": ("velodyne-vlp16",),
    "imu": ("bosch-bmi088",),
    "magnetometer": ("honeywell-hmc5883l",),
    "encoder": ("ams-as5600",),
    "camera": ("sony-imx900-hcg",),
    "depth_camera": ("st-vl53l5cx",),
    "radar": ("delphi-esr-mid",),
}


def _rows(kind: str, quick: bool) -> Comparison:
    """Positions of stated values within the measured 99.9 % intervals: -1 is the lower end, 1 the upper."""
    names = _QUICK[kind] if quick else sn.devices.names(kind)
    rows = [row for name in names for row in round_trip.round_trip(name)]
    found = []
    for row in rows:
        middle, half = 0.5 * (row.high + row.low), 0.5 * (row.high - row.low) + row.rounding
        found.append((row.stated - middle) / max(half, 1e-12 * abs(row.stated), 1e-300))
    note = f"{len(rows)} stated values of {len(names)} devices: {', '.join(names)}"
    return Comparison(np.array(found), 0.0, x=Axis("stated value"), y=Axis("place in the interval"), note=note)


def _register(kind: str, what: str) -> None:
    @DEVICES.check(
        f"sheet-{kind}",
        f"Simulated, a {what} shows what its data sheet states, within 99.9 % intervals.",
        reference="makers' data sheets (docs/devices.md)",
        absolute=1.0,
    )
    def _measure(quick: bool) -> Comparison:
        return _rows(kind, quick)


for _kind, _what in {
    "lidar": "lidar",
    "imu": "inertial measurement unit",
    "magnetometer": "magnetometer",
    "encoder": "encoder",
    "camera": "camera",
    "depth_camera": "depth camera",
    "radar": "radar",
}.items():
    _register(_kind, _what)

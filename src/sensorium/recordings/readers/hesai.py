"""Hesai packets as a recording of columns."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.recordings.packets import hesai
from sensorium.recordings.readers.calibration import Beams, beams_of_sheet, read_angles
from sensorium.recordings.readers.columns import columns_of
from sensorium.recordings.readers.velodyne import only_mode
from sensorium.recordings.scans import LidarRecording, turn_numbers


def hesai_recording(
    packets: NDArray[np.void],
    layout: hesai.Layout,
    source: str,
    *,
    calibration: Path | None = None,
    remarks: tuple[str, ...] = (),
) -> LidarRecording:
    """Columns of packets of one model and one return mode.

    Args:
        packets: In the order of time, shape (n,) of the layout's fields.
        layout: Of the model.
        source: Name of the file.
        calibration: CSV file of the unit's own angles; None for those of the data sheet, if the library has one.
        remarks: What was left out before.
    """
    mode = only_mode(packets, source)
    fired = hesai.firings(packets, layout, mode)
    beams = _beams(layout)
    if calibration is not None:
        beams = beams._replace(**dict(zip(beams._fields, read_angles(calibration, layout.channels), strict=False)))
    columns = columns_of(
        hesai.time_us(packets),
        fired.azimuth,
        counts_per_turn=hesai.COUNTS_PER_TURN,
        columns_per_group=1,
        first_column_us=layout.first_block_us,
    )
    unit_m = _unit_m(packets, source)
    shape = (len(columns.time_ns), layout.channels, len(hesai.RETURNS[mode]))
    return LidarRecording(
        device=layout.name,
        source=source,
        is_clockwise=True,
        time_ns=columns.time_ns,
        is_stamped=columns.is_stamped,
        azimuth=columns.azimuth,
        turn=turn_numbers(columns.azimuth),
        range_m=fired.distance.reshape(shape).astype(np.float32) * np.float32(unit_m),
        reflectivity=fired.reflectivity.reshape(shape),
        signal=None,
        background=None,
        returns=layout.returns(mode),
        range_unit_m=unit_m,
        elevation=beams.elevation,
        azimuth_offset=beams.azimuth_offset,
        channel_time_s=beams.time_s,
        remarks=remarks,
    )


def _beams(layout: hesai.Layout) -> Beams:
    beams = Beams(None, np.zeros(layout.channels), np.zeros(layout.channels))
    if layout.sheet:
        beams = beams_of_sheet(layout.sheet)
    if layout.elevation_deg:
        beams = beams._replace(elevation=np.radians(layout.elevation_deg))
    if layout.channel_time_us:
        beams = beams._replace(time_s=1e-6 * np.array(layout.channel_time_us))
    return beams


def _unit_m(packets: NDArray[np.void], source: str) -> float:
    """Range of one count, as the heads state it; 4 mm where there is no head."""
    if "head" not in (packets.dtype.names or ()):
        return 0.004
    units = np.unique(packets["head"]["unit_mm"])
    if len(units) > 1 or units[0] == 0:
        raise SpecError(f"{source!r} has packets of distance units {units.tolist()} mm; it must be one and positive")
    return 1e-3 * float(units[0])

"""Hesai packets as a recording of columns."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.recordings.packets import hesai
from sensorium.recordings.readers.calibration import Beams, beams_of_sheet, read_angles
from sensorium.recordings.readers.columns import columns_of, in_order, only_mode, spinning_recording
from sensorium.recordings.scans import LidarRecording


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
        packets: As they came, shape (n,) of the layout's fields.
        layout: Of the model.
        source: Name of the file.
        calibration: CSV file of the unit's own angles; None for those of the data sheet, if the library has one.
        remarks: What was left out before.
    """
    mode = only_mode(packets, source)
    order, remarks = in_order(hesai.time_us(packets), source, remarks)
    packets = packets[order]
    fired = hesai.firings(packets, layout, mode)
    beams = _beams(layout)
    if calibration is not None:
        beams = Beams(*read_angles(calibration, layout.channels), beams.time_s)
    columns = columns_of(
        hesai.time_us(packets),
        fired.azimuth,
        counts_per_turn=hesai.COUNTS_PER_TURN,
        columns_per_group=1,
        first_column_us=layout.first_block_us,
    )
    return spinning_recording(
        *(layout.name, source, columns, beams),
        distance=fired.distance,
        reflectivity=fired.reflectivity,
        returns=layout.returns(mode),
        range_unit_m=_unit_m(packets, source),
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

"""Velodyne packets as a recording of columns."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sensorium.recordings.packets import velodyne
from sensorium.recordings.readers.calibration import Beams, beams_of_sheet, read_angles
from sensorium.recordings.readers.columns import columns_of, in_order, only_mode, spinning_recording, unwrapped
from sensorium.recordings.scans import LidarRecording


def velodyne_recording(
    packets: NDArray[np.void], source: str, *, calibration: Path | None = None, remarks: tuple[str, ...] = ()
) -> LidarRecording:
    """Columns of packets of one model and one return mode.

    Args:
        packets: As they came, shape (n,) of `velodyne.PACKET`.
        source: Name of the file.
        calibration: YAML file of the unit's own angles; None for those of the data sheet.
        remarks: What was left out before.
    """
    mode = only_mode(packets, source)
    stamp_us = unwrapped(packets["time_us"].astype(np.int64), velodyne.HOUR_US)
    order, remarks = in_order(stamp_us, source, remarks)
    packets = packets[order]
    model = velodyne.MODELS[int(packets["product"][0])]
    fired = velodyne.firings(packets, model, mode)
    beams = beams_of_sheet(model.sheet)
    if calibration is not None:
        beams = Beams(*read_angles(calibration, model.channels), beams.time_s)
    columns = columns_of(
        stamp_us[order],
        fired.azimuth,
        counts_per_turn=velodyne.COUNTS_PER_TURN,
        columns_per_group=model.firings_per_block,
    )
    return spinning_recording(
        *(model.name, source, columns, beams),
        distance=fired.distance,
        reflectivity=fired.reflectivity,
        returns=velodyne.RETURNS[mode],
        range_unit_m=model.range_unit_m,
        remarks=remarks,
    )

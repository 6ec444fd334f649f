"""Velodyne packets as a recording of columns."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.recordings.packets import velodyne
from sensorium.recordings.readers.calibration import beams_of_sheet, read_angles
from sensorium.recordings.readers.columns import columns_of, unwrapped
from sensorium.recordings.scans import LidarRecording, turn_numbers


def velodyne_recording(
    packets: NDArray[np.void], source: str, *, calibration: Path | None = None, remarks: tuple[str, ...] = ()
) -> LidarRecording:
    """Columns of packets of one model and one return mode.

    Args:
        packets: In the order of time, shape (n,) of `velodyne.PACKET`.
        source: Name of the file.
        calibration: YAML file of the unit's own angles; None for those of the data sheet.
        remarks: What was left out before.
    """
    mode = only_mode(packets, source)
    model = velodyne.MODELS[int(packets["product"][0])]
    fired = velodyne.firings(packets, model, mode)
    beams = beams_of_sheet(model.sheet)
    if calibration is not None:
        beams = beams._replace(**dict(zip(beams._fields, read_angles(calibration, model.channels), strict=False)))
    columns = columns_of(
        unwrapped(packets["time_us"].astype(np.int64), velodyne.HOUR_US),
        fired.azimuth,
        counts_per_turn=velodyne.COUNTS_PER_TURN,
        columns_per_group=model.firings_per_block,
    )
    shape = (len(columns.time_ns), model.channels, len(velodyne.RETURNS[mode]))
    return LidarRecording(
        device=model.name,
        source=source,
        is_clockwise=True,
        time_ns=columns.time_ns,
        is_stamped=columns.is_stamped,
        azimuth=columns.azimuth,
        turn=turn_numbers(columns.azimuth),
        range_m=fired.distance.reshape(shape).astype(np.float32) * np.float32(model.range_unit_m),
        reflectivity=fired.reflectivity.reshape(shape),
        signal=None,
        background=None,
        returns=velodyne.RETURNS[mode],
        range_unit_m=model.range_unit_m,
        elevation=beams.elevation,
        azimuth_offset=beams.azimuth_offset,
        channel_time_s=beams.time_s,
        remarks=remarks,
    )


def only_mode(packets: NDArray[np.void], source: str) -> int:
    """The return mode of all packets."""
    modes = np.unique(packets["mode"])
    if len(modes) > 1:
        shown = ", ".join(f"0x{mode:02x}" for mode in modes)
        raise SpecError(f"{source!r} has packets of return modes {shown}; record one mode at a time")
    return int(modes[0])

"""The part of a recording that a device is fitted to, and the part that the fit is held against."""

import numpy as np

from sensorium.recordings.fit.noise_law import is_along_rings
from sensorium.recordings.measure.lidar import measure_lidar
from sensorium.recordings.measure.lidar_rays import WINDOW
from sensorium.recordings.scans import FULL_TURN, LidarRecording

# A turn with less than this share of the columns of a full one is a part of a turn
_WHOLE = 0.5

# Turns of which each half has the two that noise between turns needs
_ENOUGH = 4

# Fields of a checkerboard over a turn: sectors, and channels of one of them
_SECTORS, _CHANNELS = 24, 16

# Windows of neighbors that a sector must have room for
_WINDOWS = 3


def whole_turns(recording: LidarRecording) -> int:
    """Number of turns that are whole, or more than half."""
    columns = np.bincount(recording.turn)
    return int(np.count_nonzero(columns > _WHOLE * columns.max()))


def halves(recording: LidarRecording) -> tuple[LidarRecording, LidarRecording | None]:
    """Every second turn from the first, and the turns between; of fewer than two whole turns all, and None.

    Of fewer than four turns of a still scene, which would leave one turn to a half, every second field of a
    checkerboard of 15 degrees and 16 channels over all turns: noise along rings is not that between turns, and both
    halves see the same surfaces. Columns stay, and their times; rays of other fields have no return.
    Turns of fewer than 648 columns are too coarse for it.
    """
    turns = whole_turns(recording)
    if turns < 2:
        return recording, None
    wide = np.bincount(recording.turn).max() >= _SECTORS * _WINDOWS * WINDOW
    if turns < _ENOUGH and wide and not is_along_rings(measure_lidar(recording)):
        sector = (recording.azimuth * (_SECTORS / FULL_TURN)).astype(np.int64)
        odd = (sector[:, None] + np.arange(recording.channels) // _CHANNELS) % 2
        fields = f"{360 // _SECTORS} deg and {_CHANNELS} channels"
        words = f"rays of every second field of {fields} are taken, of {turns} turns: too few to leave some out"
        first, second = (
            recording._replace(
                range_m=np.where((odd == part)[:, :, None], recording.range_m, np.float32(0.0)),
                remarks=(*recording.remarks, words),
            )
            for part in (0, 1)
        )
        return first, second
    odd = recording.turn % 2
    first, second = (recording.of_columns(odd == part) for part in (0, 1))
    return first._replace(turn=first.turn // 2), second._replace(turn=second.turn // 2)

"""Turns that a device is fitted to, and turns that the fit is held against."""

import numpy as np

from sensorium.recordings.scans import LidarRecording

# A turn with less than this share of the columns of a full one is a part of a turn
_WHOLE = 0.5


def whole_turns(recording: LidarRecording) -> int:
    """Number of turns that are whole, or more than half."""
    columns = np.bincount(recording.turn)
    return int(np.count_nonzero(columns > _WHOLE * columns.max()))


def halves(recording: LidarRecording) -> tuple[LidarRecording, LidarRecording | None]:
    """Every second turn from the first, and the turns between; of fewer than two whole turns all, and None."""
    if whole_turns(recording) < 2:
        return recording, None
    odd = recording.turn % 2
    first, second = (recording.of_columns(odd == part) for part in (0, 1))
    return first._replace(turn=first.turn // 2), second._replace(turn=second.turn // 2)

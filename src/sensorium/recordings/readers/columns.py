"""Columns of spinning lidars whose packets have one time stamp: times and azimuths of each column."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.recordings.readers.calibration import Beams
from sensorium.recordings.scans import FULL_TURN, LidarRecording, turn_numbers

# A step this many times the median is a gap: packets are missing
_GAP = 1.5

# Places by which a network swaps packets; stamps that are further astray are of another clock
_SWAPPED = 64

# A head does not jump this far from packet to packet [rad], but where several are lost: in up to this share
_JUMP, _JUMPS, _LEAST_PACKETS = np.radians(20.0), 0.2, 10


class Columns(NamedTuple):
    """Columns of n packets with m columns each.

    Attributes:
        time_ns: Shape (n m,) [ns].
        is_stamped: Whether the packet itself has the column's time, shape (n m,).
        azimuth: Shape (n m,) [rad].
    """

    time_ns: NDArray[np.int64]
    is_stamped: NDArray[np.bool_]
    azimuth: NDArray[np.float64]


def columns_of(
    stamp_us: NDArray[np.int64],
    azimuth_counts: NDArray[np.uint16],
    *,
    counts_per_turn: int,
    columns_per_group: int,
    first_column_us: tuple[float, float] = (0.0, 0.0),
) -> Columns:
    """Times by the distance of neighboring stamps, azimuths by that of neighboring groups.

    Args:
        stamp_us: Stamp of each packet [us], without wraps, shape (n,).
        azimuth_counts: Encoder's count of each group of columns, shape (n, g).
        counts_per_turn: Counts of a full turn.
        columns_per_group: Columns that share a count; later ones are interpolated.
        first_column_us: Time of the first column from the stamp, a + b (columns - 1) period, as (a [us], b).
    """
    n, groups = azimuth_counts.shape
    columns = groups * columns_per_group
    period_us = _steps(stamp_us.astype(np.float64), np.inf) / columns
    shift_us = first_column_us[0] + first_column_us[1] * (columns - 1) * period_us
    time_us = shift_us[:, None] + period_us[:, None] * np.arange(columns)
    time_ns = 1000 * stamp_us[:, None] + np.rint(1000.0 * time_us).astype(np.int64)
    counts = azimuth_counts.reshape(-1).astype(np.float64)
    step = _steps(counts, counts_per_turn)
    azimuth = counts[:, None] + step[:, None] * (np.arange(columns_per_group) / columns_per_group)
    is_stamped = np.zeros((n, columns), np.bool_)
    is_stamped[:, 0] = True
    turned = np.mod(azimuth.reshape(-1), counts_per_turn) * (FULL_TURN / counts_per_turn)
    return Columns(time_ns.reshape(-1), is_stamped.reshape(-1), turned)


def _steps(values: NDArray[np.float64], wrap: float) -> NDArray[np.float64]:
    """Step from each value to the next; the median where that is missing, a gap or backwards."""
    if len(values) < 2:
        return np.zeros(len(values))
    steps = np.diff(values)
    if np.isfinite(wrap):
        steps = np.mod(steps, wrap)
    usual = float(np.median(steps))
    steps = np.where((steps < 0.0) | (steps > _GAP * usual), max(usual, 0.0), steps)
    return np.append(steps, max(usual, 0.0))


def unwrapped(values: NDArray[np.int64], wrap: int) -> NDArray[np.int64]:
    """A counter that begins again at `wrap`, counted on; small steps back stay as they are."""
    back = np.diff(values, prepend=values[:1]) < -wrap // 2
    return values + wrap * np.cumsum(back)


def in_order(
    stamp_us: NDArray[np.int64], source: str, remarks: tuple[str, ...]
) -> tuple[NDArray[np.intp], tuple[str, ...]]:
    """Order of packets by their stamps, with a remark where the network had swapped some.

    A clock that was set back once leaves packets as they came; stamps of two clocks raise a SpecError.

    Args:
        stamp_us: Stamp of each packet as it came [us], without wraps, shape (n,).
        source: Name of the file.
        remarks: What is remarked already.
    """
    as_they_came = np.arange(len(stamp_us))
    order = np.argsort(stamp_us, kind="stable")
    astray, back = int(np.abs(order - as_they_came).max(initial=0)), int(np.count_nonzero(np.diff(stamp_us) < 0))
    if astray > _SWAPPED:
        if back > _JUMPS * len(stamp_us):
            raise SpecError(
                f"{source!r} has packets of two clocks in one stream: stamps go back {back} times in {len(stamp_us)}; "
                "record each device at a port of its own"
            )
        return as_they_came, remarks
    if back == 0:
        return as_they_came, remarks
    return order, (*remarks, f"packets came out of order {back} times; they are sorted by their stamps")


def refuse_two_heads(azimuth: NDArray[np.float64], is_stamped: NDArray[np.bool_], device: str, source: str) -> None:
    """Raise a SpecError where azimuths jump from packet to packet: two units of one model sent to one port.

    Args:
        azimuth: Of each column [rad], shape (n,).
        is_stamped: Whether a packet, or a column with its own time, begins there, shape (n,).
        device: Model.
        source: Name of the file.
    """
    begins = np.flatnonzero(is_stamped[1:]) + 1
    step = np.mod(azimuth[begins] - azimuth[begins - 1] + 0.5 * FULL_TURN, FULL_TURN) - 0.5 * FULL_TURN
    jumps = int(np.count_nonzero(np.abs(step) > _JUMP))
    if len(begins) >= _LEAST_PACKETS and jumps > _JUMPS * len(begins):
        raise SpecError(
            f"{source!r} has packets of two {device} in one stream: azimuths jump by more than "
            f"{np.degrees(_JUMP):.0f} deg {jumps} times in {len(begins)}; record each at a port of its own"
        )


def spinning_recording(
    device: str,
    source: str,
    columns: Columns,
    beams: Beams,
    *,
    distance: NDArray[np.uint16],
    reflectivity: NDArray[np.uint8],
    returns: tuple[str, ...],
    range_unit_m: float,
    remarks: tuple[str, ...],
) -> LidarRecording:
    """The recording of a lidar that turns clockwise and reports neither signal nor background.

    Args:
        device: Model.
        source: Name of the file.
        columns: Times and azimuths of n columns.
        beams: Angles and times of c channels.
        distance: Counts of range, n c r of them, in this order.
        reflectivity: As many.
        returns: Names of the r returns.
        range_unit_m: Range of one count [m].
        remarks: What was left out.
    """
    refuse_two_heads(columns.azimuth, columns.is_stamped, device, source)
    shape = (len(columns.time_ns), len(beams.time_s), len(returns))
    return LidarRecording(
        device=device,
        source=source,
        is_clockwise=True,
        time_ns=columns.time_ns,
        is_stamped=columns.is_stamped,
        azimuth=columns.azimuth,
        turn=turn_numbers(columns.azimuth),
        range_m=distance.reshape(shape).astype(np.float32) * np.float32(range_unit_m),
        reflectivity=reflectivity.reshape(shape),
        signal=None,
        background=None,
        returns=returns,
        range_unit_m=range_unit_m,
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

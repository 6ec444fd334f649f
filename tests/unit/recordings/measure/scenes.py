"""Synthetic recordings of a lidar in a box-shaped room, with known errors."""

import numpy as np

from sensorium.recordings.scans import LidarRecording, turn_numbers

ELEVATION = np.radians(np.linspace(-15.0, 15.0, 16))


def room(
    *,
    rng: np.random.Generator,
    turns: int = 4,
    columns: int = 1200,
    noise_m: float = 0.008,
    quantum_m: float = 0.002,
    bias_m: np.ndarray | None = None,
    jitter_s: float = 0.0,
    drop: float = 0.0,
    shift_m: tuple[float, float] = (0.0, 0.0),
    is_locked: bool = False,
    normal=None,
    second_m: np.ndarray | None = None,
    signal: bool = False,
) -> LidarRecording:
    """A room of 12 x 9 x 7 m with walls of several reflectivities; noise grows as reflectivity falls where asked.

    Args:
        rng: Of all draws.
        turns: Whole turns.
        columns: Columns of a turn.
        noise_m: Standard deviation of a range, or a function of reflectivity.
        quantum_m: Step of ranges.
        bias_m: Of each beam.
        jitter_s: Standard deviation of a column's time.
        drop: Share of rays without a return.
        shift_m: Motion from turn to turn.
        is_locked: Whether columns repeat in azimuth.
        normal: Draws of unit variance with a given shape; normal ones by default.
        second_m: Separations of second returns, each of one ray.
        signal: Whether signal and background are counted photons.
    """
    n, c = turns * columns, len(ELEVATION)
    step = 2.0 * np.pi / columns * (1.0 if is_locked else 1.0003)
    turned = step * np.arange(n) + 0.3 * step
    period_s = 0.1 / columns
    time_s = period_s * np.arange(n) + jitter_s * rng.standard_normal(n)
    azimuth = np.mod(turned, 2.0 * np.pi)
    direction = np.stack(
        [np.cos(ELEVATION) * np.cos(-turned)[:, None], np.cos(ELEVATION) * np.sin(-turned)[:, None]]
        + [np.broadcast_to(np.sin(ELEVATION), (n, c))],
        axis=-1,
    )
    origin = np.zeros((n, 1, 3))
    origin[:, 0, :2] = np.outer(np.arange(n) // columns, shift_m)
    half = np.array([6.0, 4.5, 3.5])
    with np.errstate(divide="ignore"):
        to_wall = np.where(direction > 0.0, half - origin, -half - origin) / direction
    ideal = to_wall.min(axis=-1)
    wall = to_wall.argmin(axis=-1) * 2 + (
        np.take_along_axis(direction, to_wall.argmin(axis=-1)[..., None], 2)[..., 0] > 0
    )
    reflectivity = np.array([10, 20, 45, 80, 5, 120])[wall]
    sigma = noise_m(reflectivity) if callable(noise_m) else noise_m
    draws = rng.standard_normal((n, c)) if normal is None else normal((n, c))
    measured = ideal + sigma * draws + (0.0 if bias_m is None else bias_m)
    measured = quantum_m * np.rint(measured / quantum_m)
    measured[rng.random((n, c)) < drop] = 0.0
    ranges = measured[..., None]
    returns: tuple[str, ...] = ("strongest",)
    if second_m is not None:
        other = measured.copy()
        at = rng.choice(n * c, len(second_m), replace=False)
        other.reshape(-1)[at] += second_m
        ranges, returns = np.stack([other, measured], axis=-1), ("last", "strongest")
    counts = rng.poisson(np.broadcast_to(20.0 * reflectivity, (n, c))).astype(np.uint16)
    shape = (n, c, ranges.shape[-1])
    return LidarRecording(
        device="test",
        source="room",
        is_clockwise=True,
        time_ns=np.rint(1e9 * time_s).astype(np.int64),
        is_stamped=np.ones(n, np.bool_),
        azimuth=azimuth,
        turn=turn_numbers(azimuth),
        range_m=ranges.astype(np.float32),
        reflectivity=np.broadcast_to(reflectivity[..., None], shape).astype(np.uint8),
        signal=np.broadcast_to(counts[..., None], shape) if signal else None,
        background=rng.poisson(50.0, (n, c)).astype(np.uint16) if signal else None,
        returns=returns,
        range_unit_m=quantum_m,
        elevation=ELEVATION,
        azimuth_offset=np.zeros(c),
        channel_time_s=np.zeros(c),
        columns_per_turn=columns if is_locked else 0,
    )

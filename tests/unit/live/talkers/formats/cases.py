"""Random epochs of a receiver, for the tests of the formats."""

from datetime import UTC, datetime, timedelta

import numpy as np

from sensorium.live.talkers.formats.fix import Fix

QUALITIES = ("single", "differential", "rtk_float", "rtk_fixed")


def random_fix(rng: np.random.Generator, *, has_fix: bool = True) -> Fix:
    """An epoch anywhere on Earth."""
    hdop, vdop, uere_m = rng.uniform(0.5, 5.0, 3)
    return Fix(
        utc=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=int(rng.integers(10**8)), milliseconds=40),
        nanosecond=0,
        has_fix=has_fix,
        latitude_deg=float(rng.uniform(-90, 90)),
        longitude_deg=float(rng.uniform(-180, 180)),
        height_m=float(rng.uniform(-400, 9000)),
        geoid_m=float(rng.uniform(-107, 86)),
        velocity_m_s=tuple(rng.normal(0, 20, 3).tolist()),
        hdop=float(hdop),
        vdop=float(vdop),
        horizontal_std_m=float(hdop * uere_m),
        vertical_std_m=float(vdop * uere_m),
        speed_std_m_s=0.1,
        satellites=int(rng.integers(4, 31)),
        quality=QUALITIES[rng.integers(4)],
    )


def in_pieces(split_stream, data: bytes, rng: np.random.Generator, most: int) -> tuple[list[bytes], bytes]:
    """Messages of a stream that comes in pieces of random lengths, and what is left."""
    found, rest, at = [], b"", 0
    while at < len(data):
        size = int(rng.integers(1, most))
        more, rest = split_stream(rest + data[at : at + size])
        found += more
        at += size
    return found, rest

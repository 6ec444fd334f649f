"""Environments that are created and closed, and must leak nothing.

`python -m sensorium.qa.benchmarks.rows.environments --count 10000`.

Each has a scene, meshes and a sensor of its own, senses, and is dropped. Exit code 1 says that Embree still holds
scenes when all are gone, or that memory grew by more than 1 %.
"""

import gc
import time
from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

import typer

import sensorium as sn
from sensorium.qa.benchmarks.memory import embree_held, growth, resident_mb

MOST_GROWTH = 0.01

# Most that Embree may seem to hold of an environment that is gone: pieces that it frees without telling, 8 bytes each.
# The scenes of one that is not gone are ten thousand.
MOST_LEFT_BYTES = 64

_RATE_HZ = 10.0

_HEADER = "environments  seconds  bytes Embree holds  resident MB"


class Row(NamedTuple):
    """One line of the table."""

    made: int
    seconds: float
    embree_bytes: int
    resident_mb: float

    def __str__(self) -> str:
        """The line."""
        return f"{self.made:12d} {self.seconds:8.0f} {self.embree_bytes:19d} {self.resident_mb:12.1f}"


def sensors() -> tuple[Any, ...]:
    """One of each way to look into a scene, and one that does not."""
    spinning = sn.patterns.Spinning(elevation_deg=(2.0, -2.0), columns=64, rate_hz=_RATE_HZ)
    pixels = sn.patterns.Pinhole.from_fov(16, 12, 80.0, rate_hz=_RATE_HZ)
    timing = sn.Timing(rate_hz=_RATE_HZ)
    return (
        sn.Lidar(pattern=spinning),
        sn.Lidar(pattern=spinning, mode="relative", max_depth=1),
        sn.DepthCamera(pattern=pixels, outputs={"depth", "segmentation"}, max_range_m=30.0),
        sn.ConeSensor(timing=timing, horizontal_fov_deg=60.0, vertical_fov_deg=40.0, range_m=40.0),
        sn.Imu(timing=timing),
    )


def come_and_go(number: int, kinds: tuple[Any, ...]) -> None:
    """Make an environment, let its sensor see two readings, and drop it."""
    scene = sn.Scene()
    scene.add(sn.shapes.sphere(20.0, subdivisions=2), label="shell")
    scene.add(sn.shapes.box(1, 1, 1), body="rotor", label="rotor")
    world = sn.worlds.Kinematic(
        {
            "rotor": sn.paths.Spin(position=(5, 0, 0), axis=(0, 0, 1), rate=5.0 * (number % 3)),
            "car": sn.paths.Line(start=(0, 0, 0), velocity=(5, 0, 0)),
        },
        step_s=1.0 / _RATE_HZ,
    )
    env = sn.Environment(scene, world)
    sensor = env.attach(kinds[number % len(kinds)], body="car")
    for _ in env.run(2.0 / _RATE_HZ):
        assert sensor.fresh
    sensor.read()
    env.close()


def rows(count: int, *, lines: int = 20) -> Iterator[Row]:
    """Create and close this many environments, after a few that compile all kernels; report progress."""
    kinds = sensors()
    for number in range(2 * len(kinds)):
        come_and_go(number, kinds)
    gc.collect()
    with embree_held() as held:
        start_s = time.monotonic()
        for number in range(1, count + 1):
            come_and_go(number, kinds)
            if number % max(1, count // lines) == 0:
                memory_mb = resident_mb()
                yield Row(number, time.monotonic() - start_s, held(), memory_mb)


def main(
    count: Annotated[int, typer.Option(help="How many environments.", min=10)] = 10_000,
    lines: Annotated[int, typer.Option(help="Lines of the table.", min=5)] = 20,
) -> None:
    """Let environments come and go, and see whether they leave anything."""
    print(_HEADER, flush=True)
    found = []
    for row in rows(count, lines=lines):
        print(row, flush=True)
        found.append(row)
    grown, left = growth([row.resident_mb for row in found]), found[-1].embree_bytes / found[-1].made
    print(f"Embree holds {left:.0f} bytes for each environment that is gone (at most {MOST_LEFT_BYTES} may be)")
    print(f"resident memory grew by {grown:.2%}, from the second fifth to the last (at most {MOST_GROWTH:.0%} may be)")
    raise typer.Exit(0 if left <= MOST_LEFT_BYTES and grown <= MOST_GROWTH else 1)


if __name__ == "__main__":
    typer.run(main)

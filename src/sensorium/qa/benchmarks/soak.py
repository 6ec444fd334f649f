"""A long run whose memory must not grow: `python -m sensorium.qa.benchmarks.soak --minutes 30`.

Every kind of sensor in a few worlds that are reset and redrawn, with faults, recorded as MCAP in one file after the
other. Exit code 1 means that memory grew by more than 1 %.
"""

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

import sensorium as sn
from sensorium.corruption import Noise
from sensorium.physics.imaging import PixelNoise
from sensorium.qa.benchmarks.memory import embree_held, growth, resident_mb
from sensorium.sensors.inertial.triaxial import AngularGroup, LinearGroup

WORLDS = 4

# Most that memory may grow
MOST_GROWTH = 0.01

_STEP_S = 0.02
_STEPS_A_RESET = 25
_STEPS_A_FILE = 250

# All kernels are compiled and all buffers made before the clock starts
_STEPS_BEFORE = 2 * _STEPS_A_FILE

_HEADER = "minute    steps  resets  files   faults  Embree MB  resident MB"


class Row(NamedTuple):
    """One line of the table."""

    minutes: float
    steps: int
    resets: int
    files: int
    faults: int
    embree_mb: float
    resident_mb: float

    def __str__(self) -> str:
        """The line."""
        return (
            f"{self.minutes:6.1f} {self.steps:8d} {self.resets:7d} {self.files:6d} {self.faults:8d} "
            f"{self.embree_mb:10.2f} {self.resident_mb:12.1f}"
        )


def environment(worlds: int = WORLDS) -> sn.Environment:
    """A car among objects that every reset scatters again, in fog, with every kind of sensor on it."""
    car = sn.worlds.Kinematic(
        {
            "car": sn.paths.Circle(center=(0, 0, 0.8), radius=6.0, rate=0.5),
            "ball": sn.paths.Circle(center=(4, 2, 1), radius=2.0, rate=3.0),
        },
        {"wheel": sn.paths.JointLine(0.1, 26.0)},
        step_s=_STEP_S,
    )
    env = sn.Environment(
        _scene(worlds), car, worlds=worlds, seed=11, atmosphere=sn.media.fog(visibility_m=60.0),
        sun=sn.fields.Sun(elevation_deg=40.0), magnetic=sn.fields.UniformMagnetic((2e-5, 0.0, -4e-5)),
    )  # fmt: skip
    _attach_ray_sensors(env)
    _attach_sampled_sensors(env)
    return env


def _scene(worlds: int) -> sn.SceneBatch:
    shared = sn.Scene()
    shared.add(sn.shapes.plane(100.0), label="ground")
    shared.add(sn.shapes.box(1, 20, 4), pose=sn.Pose((14, 0, 2)), label="wall")
    shared.add(sn.shapes.box(0.1, 4, 3), pose=sn.Pose((9, -8, 1.5)), material=sn.Mirror(reflectance=0.9), label="glass")
    shared.add(sn.shapes.sphere(0.7, subdivisions=2), body="ball", label="ball")
    shared.add(sn.shapes.box(4, 2, 1.5), body="car", label="car")
    kinds = [
        sn.SceneObject(sn.shapes.box(1.0, 1.0, 3.0), label="crate"),
        sn.SceneObject(sn.shapes.cylinder(0.4, 4.0, 16), label="trunk", material=sn.Lambertian(reflectance=0.3)),
    ]
    things = sn.Scatter(kinds, (4, 12), low=(-20, -20, 0), high=(20, 20, 1), clear=[sn.ClearZone((0.0, 0.0), 9.0)])
    return sn.SceneBatch.scattered([things], worlds=worlds, seed=1, shared=shared)


def _attach_ray_sensors(env: sn.Environment) -> None:
    """Lidars of three modes, cameras, cone and radar."""
    on_car: dict[str, Any] = {"body": "car", "pose": sn.Pose((0, 0, 1.2)), "hide": ("car",)}
    noise = sn.RangeNoise(base_m=0.01, slope=1e-3, dropout=0.05)
    spinning = sn.patterns.Spinning(elevation_deg=tuple(np.linspace(8.0, -20.0, 16)), columns=180, rate_hz=10)
    ahead = sn.patterns.Raster(
        height=4, width=8, horizontal_fov_deg=(-20, 20), vertical_fov_deg=(-15, 5), rate_hz=10, firing="columns"
    )
    env.attach(
        sn.Lidar(pattern=spinning, noise=noise, faults=_faults(sn.corruption.Dropout(probability=0.5))),
        name="lidar",
        **on_car,
    )
    env.attach(sn.Lidar(pattern=spinning, mode="relative", max_depth=2, noise=noise), name="light", **on_car)
    pulses = sn.waveform.Parameters(
        peak_power_W=70.0, aperture_radius_m=0.0125, wavelength_m=905e-9, pulse_duration_s=4e-9, divergence_rad=0.010,
        receiver_length_m=0.05, receiver_width_m=0.04, stop_s=300e-9,
    )  # fmt: skip
    env.attach(
        pulses.lidar(pattern=ahead, max_depth=1, waveform={"rays": {"kind": "grid", "across": 5}}),
        name="waveform",
        **on_car,
    )
    camera = sn.Camera(
        pupil_distance_m=6.0001e-3, width_m=6.4e-3, height_m=4.8e-3, columns=64, rows=48, focal_length_m=6e-3,
        pupil_radius_m=0.5e-3, exposure_s=1e-3, sample_factor=1, pupil_rays=1, noise=PixelNoise(read_noise_e=5.0),
        timing=sn.Timing(rate_hz=10.0),
    )  # fmt: skip
    env.attach(camera, name="camera", **on_car)
    pixels = sn.patterns.Pinhole.from_fov(64, 48, 80.0, rate_hz=10)
    env.attach(
        sn.DepthCamera(
            pattern=pixels,
            outputs={"depth", "segmentation", "normals"},
            max_range_m=30.0,
            noise=sn.DepthNoise(multiplier=0.01, dropout=0.02),
        ),
        name="depth_camera",
        **on_car,
    )
    env.attach(
        sn.ConeSensor(timing=sn.Timing(rate_hz=50.0), horizontal_fov_deg=60.0, vertical_fov_deg=40.0, range_m=40.0),
        name="cone",
        **on_car,
    )
    chirp = sn.radar.Chirp(bandwidth_hz=149.896229e6, ramp_s=60e-6, samples=64, chirps=32)
    env.attach(
        sn.Radar(
            timing=sn.Timing(rate_hz=10.0), chirp=chirp, source="rays", vertical_fov_deg=10.0, ray_spacing_deg=1.0
        ),
        name="radar",
        **on_car,
    )


def _attach_sampled_sensors(env: sn.Environment) -> None:
    """IMU, magnetometer, encoder and the like, with errors of value and of time that come and go."""
    white = Noise(std=0.01, walk=1e-3)
    often = sn.Timing(rate_hz=200.0, latency_s=0.003, latency_jitter_s=0.001, loss=0.01)
    stuck = _faults(sn.corruption.Stuck(mode="present"))
    env.attach(
        sn.Imu(timing=often, linear=LinearGroup(noise=white), angular=AngularGroup(noise=white), faults=stuck),
        body="car",
    )
    env.attach(sn.Magnetometer(timing=sn.Timing(rate_hz=50.0), noise=Noise(std=1e-8), faults=stuck), body="car")
    wheel = sn.Timing(rate_hz=50.0)
    env.attach(sn.Encoder(timing=wheel, noise=Noise(std=1e-3), counts_per_turn=1024, faults=stuck), joint="wheel")
    env.attach(sn.Odometer(timing=wheel, radius_m=0.3, noise=Noise(std=1e-3)), joint="wheel")
    env.attach(sn.Gnss(timing=sn.Timing(rate_hz=10.0), hdop=1.0, vdop=1.5, uere_m=1.0), body="car")
    env.attach(sn.Barometer(timing=sn.Timing(rate_hz=10.0), noise=Noise(std=2.0)), body="car")
    env.attach(sn.SunSensor(timing=sn.Timing(rate_hz=10.0), noise=Noise(std=1e-3)), body="car")


def _faults(corruption: sn.corruption.Corruption) -> sn.corruption.FaultSchedule:
    fault = sn.corruption.Fault(corruption, onsets_per_s=0.5, duration_s=0.3)
    return sn.corruption.FaultSchedule(faults=(fault,))


class Soak:
    """The running environment: steps, resets, and successive recordings."""

    def __init__(self, folder: Path, worlds: int = WORLDS) -> None:
        self.env = environment(worlds)
        self.steps = self.resets = self.files = 0
        self._folder, self._chance = folder, np.random.default_rng(5)
        self._recorder: sn.record.McapRecorder | None = None

    def step(self) -> None:
        """One step, recorded; some worlds restart now and then, and the recording continues in another file."""
        if self.steps % _STEPS_A_FILE == 0:
            self.close()
            self._recorder = sn.record.McapRecorder(self._folder / f"{self.files}.mcap")
            self.files += 1
        if self.steps % _STEPS_A_RESET == _STEPS_A_RESET - 1:
            self.env.reset(self._chance.random(self.env.state.X_WB.shape[0]) < 0.5)
            self.resets += 1
        self.env.step()
        for sensor in self.env.sensors.values():
            if sensor.fresh:
                sensor.read(), sensor.truth()
        assert self._recorder is not None
        self._recorder.record(self.env)
        self.steps += 1

    def close(self) -> None:
        """End the recording; it must be one that others read, and is then removed."""
        from mcap.reader import make_reader

        if self._recorder is None:
            return
        recorder, self._recorder = self._recorder, None
        recorder.close()
        with recorder.path.open("rb") as stream:
            summary = make_reader(stream).get_summary()
        assert summary is not None, recorder.path
        assert summary.statistics is not None, recorder.path
        assert summary.statistics.message_count > 0, recorder.path
        recorder.path.unlink()

    @property
    def faults(self) -> int:
        """Number so far."""
        return sum(sensor.faults.log.total for sensor in self.env.sensors.values())


@contextmanager
def soaking(worlds: int = WORLDS) -> Iterator[Soak]:
    """A run in a folder of its own, which goes with it."""
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(Path(folder), worlds)
        try:
            yield soak
        finally:
            soak.close()


def rows(minutes: float, *, lines: int = 30, steps_before: int = _STEPS_BEFORE) -> Iterator[Row]:
    """Run for some time by the wall clock, and print progress.

    Args:
        minutes: Duration after a warm-up.
        lines: Number of progress lines.
        steps_before: Steps before the clock starts.
    """
    with embree_held() as held, soaking() as soak:
        for _ in range(steps_before):
            soak.step()
        start_s = time.monotonic()
        for line in range(lines + 1):
            while time.monotonic() - start_s < 60.0 * minutes * line / lines:
                soak.step()
            passed = (time.monotonic() - start_s) / 60.0
            yield Row(passed, soak.steps, soak.resets, soak.files, soak.faults, held() / 1e6, resident_mb())


def main(
    minutes: Annotated[float, typer.Option(help="How long to run.", min=0.1)] = 30.0,
    lines: Annotated[int, typer.Option(help="Lines of the table.", min=5)] = 30,
) -> None:
    """Run every kind of sensor for a while and see whether memory grows."""
    print(f"{_STEPS_BEFORE} steps before the clock starts, in which kernels are compiled and buffers are made ...")
    print(_HEADER, flush=True)
    found = []
    for row in rows(minutes, lines=lines):
        print(row, flush=True)
        found.append(row)
    grown = growth([row.resident_mb for row in found])
    kept = grown <= MOST_GROWTH
    print(
        f"resident memory grew by {grown:.2%}, from the second fifth of the run to the last ({MOST_GROWTH:.0%} may be)"
    )
    raise typer.Exit(0 if kept else 1)


if __name__ == "__main__":
    typer.run(main)

"""Every fault on every kind of sensor: it acts in its window and nowhere else, or it is refused in one sentence.

The table of these cells is in docs/corruption.md; `test_the_page_has_this_table` holds the page to it.
"""

import abc
import functools
import re
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.corruption import (
    Bias,
    BiasInstability,
    BlockedSector,
    BoundedWalk,
    Chain,
    Corruption,
    Coupling,
    CustomCorruption,
    DeadChannels,
    Drift,
    Dropout,
    Fault,
    FaultSchedule,
    Freeze,
    GaussMarkov,
    IntermittentBias,
    LinearProcess,
    LowPass,
    Noise,
    Nonlinearity,
    Overflow,
    Quantize,
    Ramp,
    RandomWalk,
    Saturate,
    Scale,
    Spikes,
    SquareWave,
    Stuck,
    TemperatureDrift,
    TimingErrors,
    TriangleWave,
    White,
)
from sensorium.sensors.common.spec import SensorSpec

PAGE = Path(__file__).parents[3] / "docs" / "corruption.md"
S = 1_000_000_000

# The window of every fault; sensors sample ten times a second, so that three or four readings are inside
START_S, END_S, RUN_S = 0.42, 0.78, 1.2
TEN_HZ = sn.Timing(rate_hz=10.0)


class Flipped(CustomCorruption):
    """A corruption of one's own: the sign turned over, and moved off zero."""

    kind: Literal["test_flipped"] = "test_flipped"

    def corrupted(self, x, state, moment):
        return 1.0 - x


class Fan(sn.RaySensor):
    """A ray sensor of one's own."""

    kind: Literal["test_fan"] = "test_fan"
    timing: sn.Timing = TEN_HZ
    max_range_m: float = 30.0

    @property
    def shape(self):
        return (3,)

    def rays(self):
        return sn.patterns.RayTable.at_once([[(1.0, 0.0, 0.0), (0.995, 0.0998, 0.0), (0.995, -0.0998, 0.0)]])

    def measure(self, hits):
        return np.minimum(hits.range_m[:, 0], self.max_range_m)


# ---- sensors: how each is made, on what it is mounted, its channels by target, and the size of its signal

SPIN = sn.patterns.Spinning(elevation_deg=(-4.0, 4.0), columns=12, rate_hz=10.0)
LIDAR = {"pattern": SPIN, "max_range_m": 30.0}
CHIRP = sn.radar.Chirp(bandwidth_hz=149.896229e6, ramp_s=60e-6, samples=32, chirps=16)
RADAR = {"timing": TEN_HZ, "chirp": CHIRP, "source": "cone", "antennas": 4, "max_detections": 4}
IMU = {"linear": 10.0, "angular": 0.5, "magnetic": 3e-5}
OWN = {"body": "car"}
ON_JOINT = {"joint": "wheel"}

# name: (column of the table, maker, attached to, {target: (number of channels, size of the signal)}, compared)
SENSORS: dict[str, tuple[str, Any, dict[str, Any], dict[str, tuple[int, float]], tuple[str, ...]]] = {
    "lidar": (
        "lidar",
        lambda **f: sn.Lidar(**LIDAR, **f),
        OWN,
        {"range": (24, 8.0)},
        ("range_m", "points", "valid", "object_id", "label"),
    ),
    "lidar, relative": (
        "lidar",
        lambda **f: sn.Lidar(mode="relative", **LIDAR, **f),
        OWN,
        {"range": (24, 8.0)},
        ("range_m", "points", "valid", "intensity"),
    ),
    "lidar, radiometric": (
        "lidar",
        lambda **f: sn.Lidar(mode="radiometric", returns="dual", **LIDAR, **f),
        OWN,
        {"range": (24, 8.0)},
        ("range_m", "points", "valid", "intensity"),
    ),
    "lidar, waveform": (
        "lidar",
        lambda **f: sn.Lidar(mode="waveform", **LIDAR, **f),
        OWN,
        {"range": (24, 8.0)},
        ("range_m", "points", "valid", "intensity", "width_s"),
    ),
    "depth camera": (
        "depth",
        lambda **f: sn.DepthCamera(
            pattern=sn.patterns.Pinhole.from_fov(6, 4, 80.0, rate_hz=10.0),
            outputs={"range", "depth", "points", "segmentation"},
            max_range_m=30.0,
            **f,
        ),
        OWN,
        {"range": (24, 8.0)},
        ("range_m", "depth_m", "points", "segmentation"),
    ),
    "camera": (
        "camera",
        lambda **f: sn.Camera.from_device("sony-imx900", columns=6, rows=4, exposure_s=1e-9, timing=TEN_HZ, **f),
        OWN,
        {"electrons": (24, 2000.0)},
        ("image", "raw"),
    ),
    "radar": (
        "radar",
        lambda **f: sn.Radar(**RADAR, **f),
        OWN,
        {"range": (4, 8.0), "speed": (4, 2.0), "angle": (4, 0.3), "power": (4, 60.0)},
        ("range_m", "range_rate_m_s", "azimuth_rad", "power_W", "valid"),
    ),
    "cone": (
        "cone",
        lambda **f: sn.ConeSensor(timing=TEN_HZ, horizontal_fov_deg=100.0, vertical_fov_deg=60.0, range_m=30.0, **f),
        OWN,
        {"range": (1, 5.0), "angles": (2, 0.3), "range_rate": (1, 2.0)},
        ("range_m", "azimuth", "elevation", "range_rate", "point", "object_id", "in_sight"),
    ),
    "IMU": (
        "IMU",
        lambda **f: sn.Imu(timing=TEN_HZ, magnetic={}, **f),
        OWN,
        {target: (3, size) for target, size in IMU.items()},
        ("acceleration", "angular_velocity", "magnetic_field"),
    ),
    "accelerometer": (
        "acc.",
        lambda **f: sn.Accelerometer(timing=TEN_HZ, **f),
        OWN,
        {"linear": (3, 10.0)},
        ("acceleration",),
    ),
    "gyroscope": (
        "gyro",
        lambda **f: sn.Gyroscope(timing=TEN_HZ, **f),
        OWN,
        {"angular": (3, 0.5)},
        ("angular_velocity",),
    ),
    "magnetometer": (
        "mag.",
        lambda **f: sn.Magnetometer(timing=TEN_HZ, **f),
        OWN,
        {"magnetic": (3, 3e-5)},
        ("magnetic_field",),
    ),
    "encoder": (
        "enc.",
        lambda **f: sn.Encoder(timing=TEN_HZ, **f),
        ON_JOINT,
        {"position": (1, 2.0)},
        ("position",),
    ),
    "odometer": (
        "odo.",
        lambda **f: sn.Odometer(timing=TEN_HZ, radius_m=0.5, **f),
        ON_JOINT,
        {"distance": (1, 1.0)},
        ("distance",),
    ),
    "GNSS": (
        "GNSS",
        lambda **f: sn.Gnss(timing=TEN_HZ, **f),
        OWN,
        {"fix": (6, 3.0), "position": (3, 5.0), "velocity": (3, 2.0)},
        ("position", "velocity", "fix"),
    ),
    "barometer": (
        "baro.",
        lambda **f: sn.Barometer(timing=TEN_HZ, **f),
        OWN,
        {"pressure": (1, 1e5)},
        ("pressure_Pa",),
    ),
    "sun sensor": (
        "sun",
        lambda **f: sn.SunSensor(timing=TEN_HZ, **f),
        {"body": "car", "pose": sn.Pose.from_euler_deg((0.0, 0.0, 3.0), yaw=180.0)},
        {"cosine": (1, 0.5)},
        ("cosine",),
    ),
    "ray sensor": ("rays", lambda **f: Fan(**f), OWN, {"values": (3, 8.0)}, ("values",)),
}

# ---- faults: of a signal of some size u and some channels

FAULTS: dict[str, Any] = {
    "Bias": lambda u, n: Bias(0.1 * u),
    "BiasInstability": lambda u, n: BiasInstability(instability=0.1 * u, tau_max_s=10.0),
    "BlockedSector": lambda u, n: BlockedSector(shape=(1, n)),
    "BoundedWalk": lambda u, n: BoundedWalk(bound=0.1 * u, density=0.3 * u),
    "Chain": lambda u, n: Chain([Bias(0.1 * u), Scale(error=0.1)]),
    "Coupling": lambda u, n: Coupling(matrix=((0.1,),) * n, source_column=0),
    "CustomCorruption": lambda u, n: Flipped(),
    "DeadChannels": lambda u, n: DeadChannels(channels=tuple(range(n))),
    "Drift": lambda u, n: Drift(rate=u),
    "Drift, exponential": lambda u, n: Drift(final=0.3 * u, tau_s=0.2),
    "Drift, random walk": lambda u, n: Drift(density=0.3 * u),
    "Dropout": lambda u, n: Dropout(probability=1.0, fill="nan"),
    "Dropout, hold": lambda u, n: Dropout(probability=0.999, fill="hold"),
    "Freeze": lambda u, n: Freeze(),
    "GaussMarkov": lambda u, n: GaussMarkov(std=0.1 * u, tau_s=1.0),
    "IntermittentBias": lambda u, n: IntermittentBias(value=0.2 * u, period_s=0.01, duty=0.99),
    "IntermittentBias, periodic": lambda u, n: IntermittentBias(value=0.2 * u, period_s=1.0, switching="periodic"),
    "LinearProcess": lambda u, n: LinearProcess(propagation=0.9, covariance=(0.1 * u) ** 2),
    "LowPass": lambda u, n: LowPass(cutoff_hz=0.3),
    "Noise": lambda u, n: Noise(std=0.1 * u),
    "Nonlinearity": lambda u, n: Nonlinearity(full_scale=u, second=0.1),
    "Overflow": lambda u, n: Overflow(min=-0.011 * u, max=0.013 * u),
    "Quantize": lambda u, n: Quantize(lsb=0.37 * u),
    "Ramp": lambda u, n: Ramp(amplitude=0.5 * u, frequency_hz=1.3),
    "RandomWalk": lambda u, n: RandomWalk(density=0.3 * u),
    "Saturate": lambda u, n: Saturate(min=-0.05 * u, max=0.05 * u),
    "Scale": lambda u, n: Scale(error=0.1),
    "Spikes": lambda u, n: Spikes(probability=1.0, amplitude=0.1 * u),
    "SquareWave": lambda u, n: SquareWave(amplitude=0.3 * u, frequency_hz=0.7, mode="add"),
    "Stuck, off": lambda u, n: Stuck(mode="off"),
    "Stuck, on": lambda u, n: Stuck(mode="on", max=0.2 * u),
    "Stuck, present": lambda u, n: Stuck(mode="present"),
    "Stuck, value": lambda u, n: Stuck(mode="value", value=0.15 * u),
    "Stuck, max": lambda u, n: Stuck(mode="max", max=0.2 * u),
    "Stuck, min": lambda u, n: Stuck(mode="min", min=0.1 * u),
    "TemperatureDrift": lambda u, n: TemperatureDrift(bias_per_k=0.02 * u, ambient_c=30.0),
    "TriangleWave": lambda u, n: TriangleWave(amplitude=0.3 * u, frequency_hz=0.7, phase_rad=1.0),
    "White": lambda u, n: White(std=0.1 * u),
}

TIMING = {
    "timing, delay": TimingErrors(delay_s=0.03),
    "timing, jitter": TimingErrors(jitter_s=0.02),
    "timing, loss": TimingErrors(loss=1.0),
    "timing, clock offset": TimingErrors(clock_offset_s=0.5),
    "timing, clock skew": TimingErrors(skew_ppm=1e4),
}

MARK_ACTS, MARK_REFUSED = "x", "-"


def environment():
    """A car that turns and climbs among things that move, by day, in a magnetic field."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(1.0, 6.0, 6.0), body="wall", label="wall", material=sn.Lambertian(reflectance=0.5))
    scene.add(sn.shapes.sphere(1.0), body="ball", label="ball", material=sn.Lambertian(reflectance=0.7))
    car = sn.paths.Function(
        lambda t: sn.Pose.from_euler_deg(
            np.stack([2.0 * np.sin(0.7 * t), 0.3 * t * t, 5.0 + np.sin(2.0 * t)], axis=-1),
            roll=9.0 * np.sin(3.0 * t),
            pitch=7.0 * np.cos(2.0 * t),
            yaw=11.0 * t,
        ),
        vectorized=True,
    )
    bodies = {
        "car": car,
        "wall": sn.paths.Line(start=(9.0, 1.0, 5.0), velocity=(1.0, 0.5, 0.0)),
        "ball": sn.paths.Line(start=(5.0, -2.5, 5.5), velocity=(0.5, 2.5, 0.0)),
    }
    world = sn.worlds.Kinematic(bodies, {"wheel": sn.paths.JointLine(1.0, 0.9)}, step_s=0.05)
    return sn.Environment(
        scene,
        world,
        seed=5,
        sun=sn.fields.Sun(elevation_deg=20.0, azimuth_deg=170.0),
        magnetic=sn.fields.UniformMagnetic((2e-5, 1e-5, -4e-5)),
    )


def run(name, *faults):
    """Readings of one sensor with some faults: (time, stamp, arrival, values, true values) each; and its log."""
    _, make, where, _, compared = SENSORS[name]
    env = environment()
    spec = make(faults=FaultSchedule(faults=faults))
    sensor = env.attach(spec, name="it", **where)
    rows = []
    for _ in env.run(RUN_S):
        for arrival in sensor.arrivals():
            reading, truth = arrival.reading, arrival.truth()
            # Scans and images know when they were complete, samples when they were taken
            time_ns = getattr(truth, "end_ns", truth.time_ns)
            values = [[np.array(getattr(one, field)) for field in compared] for one in (reading, truth)]
            rows.append((time_ns, reading.time_ns, arrival.arrival_ns, *values))
    return rows, list(sensor.faults.log)


@functools.cache
def healthy_run(name):
    """The same without a fault."""
    return run(name)[0]


def same(ones, others):
    return all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in zip(ones, others, strict=True))


@functools.cache
def outcome(name, target, label):
    """How a fault of a signal fares on one group of a sensor: acts, or the sentence that refuses it."""
    channels, size = SENSORS[name][3].get(target, (1, 1.0))
    window = {"start_s": START_S, "end_s": END_S, "name": "it", "target": target}
    try:
        struck, log = run(name, Fault(FAULTS[label](size, channels), **window))
    except SpecError as error:
        return str(error)
    healthy = healthy_run(name)
    assert [row[0] for row in struck] == [row[0] for row in healthy]
    changed = 0
    for (time_ns, *_, values, truth), (*_, right, right_truth) in zip(struck, healthy, strict=True):
        assert same(truth, right_truth), f"the truth changed at {time_ns} ns"
        if START_S * S <= time_ns < END_S * S:
            changed += not same(values, right)
        else:
            assert same(values, right), f"it acts at {time_ns} ns, outside its window"
    assert changed, "it has no effect"
    assert [(event.fault, event.start_ns, event.end_ns) for event in log] == [
        ("it", round(START_S * S), round(END_S * S))
    ]
    return None


def groups(name):
    """Names of a sensor's groups of channels, as the sensor tells them; None alone where it has none."""
    targets = SENSORS[name][1]().targets
    return [target for target in targets if target in SENSORS[name][3]] or [None]


CELLS = [(name, target, label) for name in SENSORS for target in groups(name) for label in FAULTS]


@pytest.mark.parametrize(("name", "target", "label"), CELLS, ids=[f"{n}-{t}-{f}" for n, t, f in CELLS])
def test_a_fault_acts_in_its_window_alone_or_is_refused_in_one_sentence(name, target, label):
    refused = outcome(name, target, label)
    assert refused is None


@pytest.mark.parametrize("label", TIMING)
@pytest.mark.parametrize("name", SENSORS)
def test_faults_of_timing_change_stamps_and_arrivals_in_their_window_and_no_value(name, label):
    struck, _ = run(name, Fault(timing=TIMING[label], start_s=START_S, end_s=END_S, name="it"))
    healthy = {row[0]: row for row in healthy_run(name)}
    times = [row[0] for row in struck]
    changed = sum(START_S * S <= time_ns < END_S * S for time_ns in healthy if time_ns not in times)
    for time_ns, stamp_ns, arrival_ns, values, truth in struck:
        _, right_stamp_ns, right_arrival_ns, right, right_truth = healthy[time_ns]
        assert same(values, right)
        assert same(truth, right_truth)
        if (stamp_ns, arrival_ns) != (right_stamp_ns, right_arrival_ns):
            assert START_S * S <= time_ns < END_S * S
            changed += 1
    assert changed


def concrete(cls):
    """All subclasses of a class that the package has, and that are no bases."""
    for sub in cls.__subclasses__():
        yield from concrete(sub)
        if sub.__module__.startswith("sensorium.") and abc.ABC not in sub.__bases__ and "kind" in sub.model_fields:
            yield sub


def test_every_kind_of_sensor_and_every_corruption_of_the_package_is_here():
    for name in dir(sn):
        getattr(sn, name)  # which loads every module of sensors
    own = (cls for cls in concrete(SensorSpec) if cls.__module__.startswith("sensorium.sensors."))
    sensors = {cls.model_fields["kind"].default for cls in own if "[" not in cls.__name__}
    here = {type(make()).model_fields["kind"].default for _, make, *_ in SENSORS.values()}
    assert {kind for kind in sensors if isinstance(kind, str)} <= here
    corruptions = {kind for kind, cls in Corruption.kinds.items() if cls.__module__.startswith("sensorium.")}
    used = {type(make(1.0, 1)).model_fields["kind"].default for make in FAULTS.values()}
    assert corruptions - {"fault"} <= used


# ---- the table of the page


def table():
    """Faults by kinds of sensors; a kind of several modes or groups has a mark where all of them act."""
    columns = list(dict.fromkeys(column for column, *_ in SENSORS.values()))
    rows = [["", *columns], ["---"] * (len(columns) + 1)]
    rows[0][0] = "fault"
    of_column = {column: [name for name in SENSORS if SENSORS[name][0] == column] for column in columns}
    for label in FAULTS:
        cells = []
        for column in columns:
            found = {outcome(name, target, label) is None for name in of_column[column] for target in groups(name)}
            assert len(found) == 1, f"{label} acts on some groups of {column} and is refused by others"
            cells.append(MARK_ACTS if found.pop() else MARK_REFUSED)
        kind, _, how = label.partition(", ")
        rows.append([f"`{kind}`" + (f" {how}" if how else ""), *cells])
    rows.append(["timing", *[MARK_ACTS] * len(columns)])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def test_the_page_has_this_table():
    found = re.search(r"<!-- faults by sensors -->\n(.*?)\n<!-- end -->", PAGE.read_text(), re.DOTALL)
    assert found is not None
    assert found[1].strip() == table()


if __name__ == "__main__":
    print(table())

"""Signals as tables: read back by the csv module, NumPy and pyarrow, equal in every bit, with their truth."""

import csv
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow.ipc
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

import sensorium as sn
from sensorium.analysis import read_log
from sensorium.app.cli import app
from sensorium.core.errors import MissingExtraError, RecordError, SpecError
from sensorium.corruption import Dropout, Fault, FaultSchedule, Noise
from sensorium.record import signals
from sensorium.record.signals import Column, columns_of_reading
from sensorium.sensors.common.sampled import XYZ, Quantity, SampledReading


def yard(worlds=None, **options):
    scene = sn.Scene()
    scene.add(sn.shapes.plane(100.0))
    world = sn.worlds.Kinematic(
        {"car": sn.paths.Circle((0, 0, 1), radius=5.0, rate=0.7)},
        joints={"wheel": sn.paths.JointLine(velocity=8.0)},
        step_s=0.01,
    )
    return sn.Environment(scene, world, worlds=worlds, seed=4, sun=sn.fields.Sun(elevation_deg=40.0), **options)


def rows_of(path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def recorded(env, folder, duration_s=0.2, **options):
    """Record a run; returns what arrived, by sensor."""
    arrived = {name: [] for name in env.sensors}
    with sn.record.SignalRecorder(folder, **options) as recorder:
        for _ in env.run(duration_s):
            recorder.record(env)
            for name, handle in env.sensors.items():
                arrived[name] += [(a.arrival_ns, a.reading, a.truth()) for a in handle.arrivals()]
    return arrived


def with_every_sensor():
    env = yard(magnetic=sn.fields.UniformMagnetic((2e-5, 0.0, -4e-5)))
    outputs = ("magnetic_field", "delta_angle", "acceleration", "angular_velocity", "delta_velocity")
    imu = sn.Imu(magnetic={"noise": {"std": 1e-7}}, linear={"noise": {"std": 0.1}}, outputs=outputs)
    imu.timing.latency_s = 0.013
    env.attach(imu, body="car")
    env.attach(sn.Gyroscope(axes="zx", noise=Noise(std=0.01)), body="car", name="gyro")
    env.attach(sn.Encoder(counts_per_turn=1024, quadrature=True, noise=Noise(std=0.1)), joint="wheel")
    env.attach(sn.Odometer(radius_m=0.3, noise=Noise(std=0.02)), joint="wheel")
    gnss = sn.Gnss(origin=(47.4, 8.5, 400.0), position={"noise": Noise(std=1.0)}, timing=sn.Timing(rate_hz=50.0))
    env.attach(gnss, body="car")
    env.attach(sn.Barometer(noise=Noise(std=3.0)), body="car")
    env.attach(sn.SunSensor(noise=Noise(std=0.1)), body="car", pose=sn.Pose.from_euler_deg(pitch=-90.0))
    pattern = sn.patterns.Spinning(elevation_deg=(0.0,), columns=16, rate_hz=10)
    env.attach(sn.Lidar(pattern=pattern))
    return env


# Column -> how a reading tells it
COLUMNS = {
    "imu": {
        "magnetic_field_y_T": lambda r: r.magnetic_field[1],
        "delta_angle_z_rad": lambda r: r.delta_angle[2],
        "acceleration_x_m_s2": lambda r: r.acceleration[0],
        "angular_velocity_z_rad_s": lambda r: r.angular_velocity[2],
        "delta_velocity_x_m_s": lambda r: r.delta_velocity[0],
    },
    "gyro": {"angular_velocity_z_rad_s": lambda r: r.angular_velocity[0]},
    "encoder": {"position": lambda r: r.position, "velocity": lambda r: r.velocity},
    "odometer": {"distance_m": lambda r: r.distance, "velocity_m_s": lambda r: r.velocity},
    "gnss": {
        "position_x_m": lambda r: r.position[0],
        "velocity_y_m_s": lambda r: r.velocity[1],
        "latitude_deg": lambda r: r.latitude_deg,
        "height_m": lambda r: r.height_m,
    },
    "barometer": {"pressure_Pa": lambda r: r.pressure_Pa, "altitude_m": lambda r: r.altitude_m},
    "sun_sensor": {"cosine": lambda r: r.cosine},
}


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_every_reading_comes_back_in_every_bit_with_its_truth(tmp_path, format):
    arrived = recorded(with_every_sensor(), tmp_path / "out", format=format)
    assert {p.name for p in (tmp_path / "out").iterdir()} == {f"{name}.{format}" for name in COLUMNS}
    for name, columns in COLUMNS.items():
        path = tmp_path / "out" / f"{name}.{format}"
        rows = rows_of(path) if format == "csv" else pyarrow.parquet.read_table(path).to_pylist()
        assert len(rows) == len(arrived[name]) > 1
        for row, (arrival_ns, reading, truth) in zip(rows, arrived[name], strict=True):
            assert (int(row["time_ns"]), int(row["arrival_ns"])) == (reading.time_ns, arrival_ns)
            for column, of in columns.items():
                assert float(row[column]) == float(of(reading))
                assert float(row[f"truth_{column}"]) == float(of(truth))
    errors = [
        float(row["acceleration_x_m_s2"]) - float(row["truth_acceleration_x_m_s2"]) for row in rows_of_imu(tmp_path)
    ]
    assert 0.03 < np.std(errors) < 0.3


def rows_of_imu(tmp_path):
    path = tmp_path / "out" / "imu.csv"
    return rows_of(path) if path.exists() else pyarrow.parquet.read_table(path.with_suffix(".parquet")).to_pylist()


def test_counts_tracks_and_states_are_whole_numbers(tmp_path):
    arrived = recorded(with_every_sensor(), tmp_path, truth=False)
    for row, (_, reading, _) in zip(rows_of(tmp_path / "encoder.csv"), arrived["encoder"], strict=True):
        assert list(row) == ["time_ns", "arrival_ns", "position", "velocity", "count", "a", "b", "z"]
        tracks = [str(int(track)) for track in (reading.count, reading.a, reading.b, reading.z)]
        assert [row["count"], row["a"], row["b"], row["z"]] == tracks
    assert {row["fix"] for row in rows_of(tmp_path / "gnss.csv")} == {"1"}
    assert {row["visible"] for row in rows_of(tmp_path / "sun_sensor.csv")} == {"1"}


def test_worlds_and_sensors_have_rows_and_what_is_void_is_empty(tmp_path):
    env = yard(worlds=2, first_world=3)
    imu = sn.Accelerometer(timing=sn.Timing(rate_hz=100.0, latency_s=0.03))
    handle = env.attach(imu, body="car", pose=[sn.Pose((0, 0, k)) for k in range(3)], name="front/imu")
    readings = []
    with sn.record.SignalRecorder(tmp_path) as recorder:
        for k, _ in enumerate(env.run(0.1)):
            recorder.record(env)
            readings += handle.readings()
            if k == 4:
                env.reset(np.array([False, True]))
    rows = rows_of(tmp_path / "front_imu.csv")
    assert [(row["world"], row["sensor"]) for row in rows[:6]] == [(w, s) for w in "34" for s in "012"]
    assert len(rows) == 6 * len(readings)
    for k, row in enumerate(rows):
        world, number = k // 3 % 2, k % 3
        reading = readings[k // 6]
        value = float(reading.acceleration[world, number, 0]) if reading.valid[world, number] else None
        assert row["acceleration_x_m_s2"] == ("" if value is None else repr(value))
    assert 0 < sum(row["truth_acceleration_x_m_s2"] == "" for row in rows) < len(rows) // 2


def test_what_a_fault_made_nan_is_nan_and_not_empty(tmp_path):
    env = yard()
    lost = Fault(Dropout(probability=1.0, fill="nan"), name="no sky", start_s=0.05, end_s=0.12)
    gnss = sn.Gnss(timing=sn.Timing(rate_hz=50.0), faults=FaultSchedule(faults=(lost,)))
    env.attach(gnss, body="car")
    recorded(env, tmp_path)
    rows = rows_of(tmp_path / "gnss.csv")
    assert {(row["fix"], row["position_x_m"] == "nan", row["truth_position_x_m"] == "nan") for row in rows} == {
        ("1", False, False),
        ("0", True, False),
    }


def test_allan_reads_such_a_table(tmp_path):
    env = sn.Environment(sn.Scene(), sn.worlds.Static({"car": sn.Pose()}, step_s=0.01), seed=1)
    imu = sn.Imu(outputs=("acceleration", "angular_velocity"))
    imu.linear.noise.std, imu.angular.noise.std = 0.05, 0.002
    env.attach(imu, body="car")
    arrived = recorded(env, tmp_path, 60.0)["imu"]
    log = read_log(tmp_path / "imu.csv")
    names = [f"{of}_{axis}" for of in ("acceleration", "angular_velocity") for axis in "xyz"]
    assert log.names == tuple(f"{n}_{'m_s2' if n.startswith('acc') else 'rad_s'}" for n in names)
    assert log.units == ("m/s^2",) * 3 + ("rad/s",) * 3
    assert log.rate_hz == pytest.approx(100.0)
    assert np.array_equal(log.values, [reading.values for _, reading, _ in arrived])
    out = tmp_path / "allan"
    done = CliRunner().invoke(app, ["allan", str(tmp_path / "imu.csv"), "--out", str(out)], catch_exceptions=False)
    assert done.exit_code == 0
    # N = sigma sqrt(T)
    channels = json.loads((out / "allan.json").read_text())["channels"]
    assert channels["acceleration_y_m_s2"]["N"]["value"] == pytest.approx(0.005, rel=0.1)
    assert channels["angular_velocity_z_rad_s"]["N"]["value"] == pytest.approx(0.0002, rel=0.1)


KILLED = """
import os, signal, sys
import sensorium as sn
env = sn.Environment(sn.Scene(), sn.worlds.Static({"car": sn.Pose()}, step_s=0.01))
env.attach(sn.Imu(linear={"noise": {"std": 0.1}}), body="car")
recorder = sn.record.SignalRecorder(sys.argv[1], format=sys.argv[2])
for _ in range(1000):
    env.step()
    recorder.record(env)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes are killed")
@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_what_a_killed_run_leaves_can_be_read(tmp_path, format):
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), format], timeout=300, check=False)
    assert done.returncode == -signal.SIGKILL
    part = tmp_path / f"imu.{format}.part"
    assert [p.name for p in tmp_path.iterdir()] == [part.name]
    if format == "csv":
        times = [int(row["time_ns"]) for row in rows_of(part)]
        assert len(times) == 1000
    else:
        # Cut off in the middle of a batch, as well
        os.truncate(part, part.stat().st_size - 5)
        times = []
        with (
            pyarrow.ipc.open_stream(part.read_bytes()) as stream,
            suppress(StopIteration, pyarrow.ArrowInvalid, OSError),
        ):
            while True:
                times += stream.read_next_batch().column("time_ns").to_pylist()
        assert len(times) == 512
    assert times == [10_000_000 * (k + 1) for k in range(len(times))]


def test_the_same_run_gives_the_same_bytes(tmp_path):
    for format in ("csv", "parquet"):
        for name in "ab":
            recorded(with_every_sensor(), tmp_path / name, format=format)
        for path in sorted((tmp_path / "a").iterdir()):
            assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_what_cannot_be_recorded_is_said_in_a_line(tmp_path, monkeypatch):
    with pytest.raises(SpecError, match="format is 'xls'; it must be one of csv, parquet"):
        sn.record.SignalRecorder(tmp_path, format="xls")
    (tmp_path / "file").write_text("")
    with pytest.raises(SpecError, match="which cannot be made: "):
        sn.record.SignalRecorder(tmp_path / "file" / "folder")

    # Two sensors whose files would have one name
    env = yard()
    env.attach(sn.Gyroscope(), body="car", name="a/b")
    env.attach(sn.Gyroscope(), body="car", name="a b")
    env.step()
    recorder = sn.record.SignalRecorder(tmp_path)
    with pytest.raises(SpecError, match="sensor 'a b' would have the file 'a_b', which another has"):
        recorder.record(env)
    recorder.close()
    recorder.close()
    with pytest.raises(SpecError, match="is closed"):
        recorder.record(env)

    # A full disk
    env = yard()
    env.attach(sn.Gyroscope(), body="car")
    env.step()
    recorder = sn.record.SignalRecorder(tmp_path)
    recorder.record(env)
    table = recorder._signals["gyroscope"].table
    table._file = Path("/dev/full").open("w")  # noqa: SIM115
    with pytest.raises(RecordError, match="cannot be written any more: No space left"):
        recorder.record(env)

    # No pyarrow
    def missing():
        raise MissingExtraError("Parquet files need pyarrow; pip install 'sensorium[parquet]'")

    monkeypatch.setattr(signals, "require_pyarrow", missing)
    with pytest.raises(MissingExtraError, match="pip install"):
        sn.record.SignalRecorder(tmp_path, format="parquet")


WIND = Quantity("wind", "Wind", "m/s", XYZ)
WARM = Quantity("warm", "Whether it is warm", kind=bool)
GRID = Quantity("grid", "Pixels", "K", ("0 0", "0 1", "1 0", "1 1"), column="pixel")


class Weather(SampledReading):
    """Numbers tell where they stand: thousands the world, hundreds the sensor, ones the component."""

    def __init__(self, axes):
        self._axes = axes
        worlds, sensors = np.indices((3, 2))
        self._place = np.broadcast_to(1000 * worlds + 100 * sensors, (3, 2))[(0,) * (2 - len(axes))]

    @property
    def quantities(self):
        return (WIND, WARM, GRID)

    @property
    def valid(self):
        return np.zeros(self._axes, bool)

    @property
    def wind(self):
        return self._place[..., None] + np.arange(3.0)

    @property
    def warm(self):
        return self._place >= 1000

    @property
    def grid(self):
        return self._place[..., None, None] + np.array([[1, 2], [3, 4]])


def test_there_is_one_column_for_each_number_in_the_order_of_quantities():
    columns = columns_of_reading(Weather((3, 2)))
    assert [column.name for column in columns] == [
        *("wind_x_m_s", "wind_y_m_s", "wind_z_m_s"),
        "warm",
        *("pixel_0_0_K", "pixel_0_1_K", "pixel_1_0_K", "pixel_1_1_K"),
    ]
    assert [column.quantity for column in columns] == [WIND] * 3 + [WARM] + [GRID] * 4
    assert [column.component for column in columns] == [0, 1, 2, 0, 0, 1, 2, 3]


@pytest.mark.parametrize("axes", [(), (2,), (3, 2)])
def test_values_have_the_leading_axes_of_the_reading(axes):
    """Whatever axes the quantity itself has, and whether or not the reading has any."""
    reading = Weather(axes)
    expected = np.array([[0, 100], [1000, 1100], [2000, 2100]])[(0,) * (2 - len(axes))]
    values = {column.name: column.values(reading) for column in columns_of_reading(reading)}
    for component, name in enumerate(("wind_x_m_s", "wind_y_m_s", "wind_z_m_s")):
        np.testing.assert_array_equal(values[name], expected + component)
        assert values[name].shape == axes
    for number, name in enumerate(("pixel_0_0_K", "pixel_0_1_K", "pixel_1_0_K", "pixel_1_1_K"), start=1):
        assert values[name].tolist() == (expected + number).tolist()
        assert values[name].dtype.kind == "i"
    assert values["warm"].tolist() == (expected > 999).tolist()
    assert values["warm"].dtype == bool


def test_a_column_reads_any_reading_of_its_sensor():
    """Its name is for tables; what it reads is the attribute that its quantity names."""
    column = Column("anything", WIND, 2)
    assert column.values(Weather(())) == 2.0
    assert column.values(Weather((3, 2))).tolist() == [[2, 102], [1002, 1102], [2002, 2102]]


def test_a_kind_that_tells_no_quantities_has_no_columns():
    class Silent(Weather):
        quantities = SampledReading.quantities

    assert columns_of_reading(Silent(())) == ()


def test_columns_of_an_encoder_do_not_say_the_unit_of_its_joint():
    """A wheel that turns at 8 rad/s, in three worlds, after 0.5 s."""
    joints = {"wheel": sn.paths.JointLine(velocity=8.0)}
    env = sn.Environment(sn.Scene(), sn.worlds.Kinematic({}, joints=joints, step_s=0.1), worlds=3)
    encoder = env.attach(sn.Encoder(timing=sn.Timing(rate_hz=10.0)), joint="wheel")
    for _ in env.run(0.5):
        pass
    reading = encoder.read()
    columns = {column.name: column for column in columns_of_reading(reading)}
    assert list(columns)[:2] == ["position", "velocity"]
    assert columns["position"].values(reading) == pytest.approx(np.full(3, 4.0))
    assert columns["velocity"].values(reading) == pytest.approx(np.full(3, 8.0))

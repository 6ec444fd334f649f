"""Which readings become files, and where: shown with readings that are plain numbers."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.record.reading_files import ReadingFiles
from sensorium.sensors.inertial.reading import InertialReading


class Stamps(ReadingFiles[InertialReading]):
    """Writes the time of each reading, once for each world and sensor."""

    def _save(self, sensor, reading, folders, number):
        for folder in folders:
            (folder / f"{number}.txt").write_text(str(reading.time_ns))


def environment(worlds=None, first_world=0):
    world = sn.worlds.Static({"car": sn.Pose()}, step_s=0.01)
    env = sn.Environment(sn.Scene(), world, worlds=worlds, first_world=first_world)
    env.attach(sn.Gyroscope(timing=sn.Timing(rate_hz=100.0)), body="car", name="a/b")
    env.attach(sn.Gyroscope(timing=sn.Timing(rate_hz=50.0)), body="car", pose=[sn.Pose(), sn.Pose()], name="pair")
    env.attach(sn.Barometer(timing=sn.Timing(rate_hz=100.0)), body="car")
    return env


def recorded(env, folder, seconds=0.06, **options):
    with Stamps(InertialReading, folder, **{"every": 1, "sensors": None, **options}) as recorder:
        for _ in env.run(seconds):
            recorder.record(env)
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*.txt")}


def test_every_so_manyth_reading_of_the_kind_is_written_and_numbered_by_the_reading(tmp_path):
    found = recorded(environment(), tmp_path, every=2)
    assert found == {
        *(f"a_b/{number}.txt" for number in (0, 2, 4)),
        *(f"pair_{k}/{number}.txt" for k in (0, 1) for number in (0, 2)),
    }
    assert [int((tmp_path / f"a_b/{number}.txt").read_text()) for number in (0, 2, 4)] == [10**7, 3 * 10**7, 5 * 10**7]


def test_each_world_has_its_folder(tmp_path):
    found = recorded(environment(worlds=2, first_world=7), tmp_path, 0.02, sensors=("pair",))
    assert found == {f"world_{world}/pair_{k}/0.txt" for world in (7, 8) for k in (0, 1)}


def test_what_is_asked_for_must_be_there(tmp_path):
    with pytest.raises(SpecError, match="no sensor is named 'c'; there are a/b, pair, barometer"):
        recorded(environment(), tmp_path, sensors=("c",))
    with pytest.raises(SpecError, match="every is 0"):
        recorded(environment(), tmp_path, every=0)
    with pytest.raises(SpecError, match="sensors is the string 'pair'"):
        recorded(environment(), tmp_path, sensors="pair")


def test_a_closed_recorder_says_so(tmp_path):
    env = environment()
    recorder = Stamps(InertialReading, tmp_path, every=np.int64(1), sensors=None)
    recorder.close()
    with pytest.raises(SpecError, match="is closed"):
        recorder.record(env)

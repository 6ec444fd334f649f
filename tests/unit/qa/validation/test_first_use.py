"""The first use of each sensor kind: timed in a process of its own, with the bytes of any other process."""

import pytest

from sensorium.qa.validation import first_use
from sensorium.qa.validation.first_use import FirstUse
from sensorium.qa.validation.sample_run import hashes, outputs
from sensorium.runtime.kernel_folders import cache_folder


def test_a_sensor_reports_the_same_bytes_in_a_process_of_its_own():
    done = first_use._first_use("gnss", cache_folder().parent)
    assert done.digest == hashes(outputs(worlds=1, order=["gnss"]))["gnss"]
    assert done.wall_s > 0.1


@pytest.mark.parametrize(("compiled", "code"), [(0, 0), (2, 1)])
def test_a_package_that_compiles_at_first_use_fails_the_check(monkeypatch, capsys, compiled, code):
    uses = [FirstUse("imu", 1.5, 0, "0123456789ab"), FirstUse("lidar", 2.25, compiled, "ba9876543210")]
    monkeypatch.setattr(first_use, "first_uses", lambda cache: iter(uses))
    assert first_use.main(["--compiles-nothing"]) == code
    assert first_use.main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["lidar", "2.25", "s", str(compiled), "compiled", "ba9876543210"]


def test_all_sensors_of_the_checks_are_listed(capsys):
    assert first_use.main(["--list"]) == 0
    listed = capsys.readouterr().out
    assert all(f'"{name}"' in listed for name in ("lidar", "gnss"))

import importlib.metadata
import platform

from sensorium.view.report.facts import quantity, sensor_rows, versions


def test_numbers_as_people_read_them():
    assert [quantity(1234), quantity(4.0, "s"), quantity(3_932_160), quantity(2_500_000_000)] == [
        "1,234",
        "4.00 s",
        "3.93 M",
        "2.5 G",
    ]


def test_versions_are_those_installed():
    told = versions()
    assert told["Python"] == platform.python_version()
    assert told["numpy"] == importlib.metadata.version("numpy")


def test_each_sensor_has_a_row(yard):
    env = yard()
    for _ in env.run(0.2):
        pass
    assert sensor_rows(env, {"top": 1, "imu": 40}) == [
        ("top", "lidar", "body van", "10 Hz", "1", ""),
        ("imu", "imu", "body van", "200 Hz", "40", "1"),
        ("gnss", "gnss", "body van", "10 Hz", "0", ""),
    ]

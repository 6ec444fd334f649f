""" """

import importlib.metadata
import platform

from sensorium.view.report.facts import fault_events, quantity, sensor_rows, versions


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


def events(env, seconds):
    for _ in env.run(seconds):
        pass
    return fault_events(env.sensors.values(), env.time_ns)


def test_a_fault_has_its_sensor_and_its_times(yard):
    (event,), more = events(yard(), 0.3)
    assert event == {"sensor": "imu", "fault": "stuck", "from_s": 0.1, "to_s": 0.15, "active": False}
    assert more == 0


def test_an_active_fault_lasts_until_the_end(yard):
    (event,), _ = events(yard(), 0.12)
    assert (event["to_s"], event["active"]) == (0.12, True)


def test_only_the_first_world_is_told_of(yard):
    found, _ = events(yard(worlds=3), 0.2)
    assert len(found) == 1

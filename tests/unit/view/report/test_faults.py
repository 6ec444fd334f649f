from sensorium.view.report.faults import fault_events


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

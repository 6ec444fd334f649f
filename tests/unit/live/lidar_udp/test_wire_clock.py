"""Simulated times by the wall clock."""

import numpy as np

from sensorium.live.lidar_udp.wire_clock import WireClock

MS = 1_000_000


def due(clock, *simulated_ms):
    return (clock.due_ns(np.array(simulated_ms) * MS) // MS).tolist()


def test_times_follow_the_pace_of_the_run():
    for speed in (1.0, 0.25, 4.0):
        clock = WireClock(100 * MS)
        clock.observe(1000 * MS, 7000 * MS, speed)
        assert due(clock, 1000, 1080) == [7000, round(7000 + 80 / speed)]


def test_steps_that_end_late_do_not_move_the_clock_and_an_early_one_does():
    clock = WireClock(100 * MS)
    clock.observe(0, 1000 * MS, 1.0)
    clock.observe(10 * MS, 1090 * MS, 1.0)
    assert due(clock, 20) == [1020]
    clock.observe(20 * MS, 1015 * MS, 1.0)
    assert due(clock, 20) == [1015]


def test_a_pause_or_another_speed_begins_anew():
    clock = WireClock(100 * MS)
    clock.observe(0, 1000 * MS, 1.0)
    clock.observe(10 * MS, 5000 * MS, 1.0)
    assert due(clock, 10) == [5000]
    clock.observe(20 * MS, 5010 * MS, 2.0)
    assert due(clock, 20, 40) == [5010, 5020]


def test_without_a_pace_everything_is_due_at_once():
    clock = WireClock(100 * MS)
    clock.observe(0, 1000 * MS, None)
    assert due(clock, 0, 500) == [1000, 1000]
    assert clock.spread_ns(np.array([0, 500 * MS]), now_ns=1001 * MS, last_ns=0).tolist() == [1000 * MS, 1000 * MS]


def test_late_packets_catch_up_in_half_their_time_and_not_in_a_burst():
    clock = WireClock(1000 * MS)
    clock.observe(0, 0, 1.0)
    times = np.arange(10) * 10 * MS
    spread = clock.spread_ns(times, now_ns=30 * MS, last_ns=0) // MS
    assert spread.tolist() == [30, 35, 40, 45, 50, 55, 60, 70, 80, 90]
    after = clock.spread_ns(times, now_ns=30 * MS, last_ns=60 * MS) // MS
    assert after.tolist()[:3] == [60, 65, 70]
    on_time = clock.spread_ns(times, now_ns=-50 * MS, last_ns=-60 * MS)
    assert on_time.tolist() == times.tolist()

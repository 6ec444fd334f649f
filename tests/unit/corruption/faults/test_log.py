"""The log of faults: half-open stretches of time, in the order of their onsets."""

from sensorium.corruption import FaultEvent, FaultLog
from sensorium.corruption.faults.log import FaultWatch


def a_log():
    log = FaultLog()
    first = log.open("stuck", 0, 10)
    log.open("bias", 0, 20)
    log.open("stuck", 1, 25)
    log.close(first, 30)
    return log


def test_an_event_lasts_from_its_onset_until_before_its_end():
    event = FaultEvent("stuck", 0, 10, 30)
    assert [event.active(t) for t in (9, 10, 29, 30)] == [False, True, True, False]
    assert FaultEvent("stuck", 0, 10).active(10**18)


def test_what_was_active_when():
    log = a_log()
    assert log.at(9) == ()
    assert log.at(20) == ("stuck", "bias")
    assert log.at(30) == ("bias",)
    assert log.at(30, world=1) == ("stuck",)


def test_events_by_fault_and_by_world():
    log = a_log()
    assert log.of("stuck") == [FaultEvent("stuck", 0, 10, 30), FaultEvent("stuck", 1, 25)]
    assert log.of(world=0) == [FaultEvent("stuck", 0, 10, 30), FaultEvent("bias", 0, 20)]
    assert log.of("bias", 1) == []
    assert log.of() == list(log)


def test_it_is_a_sequence_and_a_copy_goes_on_by_itself():
    log = a_log()
    copy = log.copy()
    assert (len(copy), copy[0], copy[1:]) == (3, log[0], log[1:])
    assert copy == log
    assert copy == list(log)
    copy.close(1, 40)
    assert copy != log
    assert log[1].end_ns is None
    assert (
        repr(FaultLog([FaultEvent("a", 0, 1)])) == "FaultLog([FaultEvent(fault='a', world=0, start_ns=1, end_ns=None)])"
    )


def test_a_log_that_goes_on_forgets_the_oldest_that_are_over_and_none_that_is_active():
    log = FaultLog(keep=100)
    for_good = log.open("for good", 3, 0)
    for k in range(1, 5000):
        log.close(log.open("stuck", 0, 10 * k), 10 * k + 5)
        assert len(log) <= 125
    assert log.total == 5000
    assert log[0] == FaultEvent("for good", 3, 0)
    assert log[-1] == FaultEvent("stuck", 0, 49990, 49995)
    starts = [event.start_ns for event in log][1:]
    assert starts == list(range(starts[0], 50000, 10))
    assert len(starts) >= 99
    log.close(for_good, 60000)
    assert log[0].end_ns == 60000
    copy = log.copy()
    copy.open("stuck", 0, 70000)
    assert (copy.total, log.total) == (5001, 5000)


def test_who_looks_on_sees_each_onset_and_each_end_once():
    log, watch = FaultLog(keep=10), FaultWatch(0)
    assert watch.changes(log) == []
    first = log.open("stuck", 0, 10)
    assert watch.changes(log) == [FaultEvent("stuck", 0, 10)]
    assert watch.changes(log) == []
    log.close(log.open("bias", 1, 12), 14)
    log.close(first, 20)
    assert watch.changes(log) == [
        FaultEvent("stuck", 0, 10, 20), FaultEvent("bias", 1, 12), FaultEvent("bias", 1, 12, 14)
    ]  # fmt: skip
    assert watch.changes(log) == []

    # Nothing is seen twice, nor missed, when older ones are forgotten
    seen = []
    for k in range(100):
        number = log.open("stuck", 0, 100 + k)
        seen += watch.changes(log)
        log.close(number, 200 + k)
        seen += watch.changes(log)
    assert [event.end_ns for event in seen] == [end for k in range(100) for end in (None, 200 + k)]


def test_who_begins_late_sees_what_is_active_and_nothing_that_was_over():
    log = FaultLog()
    for k in range(100):
        log.close(log.open("stuck", 0, 10 * k), 10 * k + 5)
    active = log.open("bias", 0, 600)
    log.close(log.open("stuck", 0, 990), 1000)
    log.close(log.open("spikes", 0, 995), 1001)
    watch = FaultWatch(1000)
    assert watch.changes(log) == [
        FaultEvent("bias", 0, 600), FaultEvent("spikes", 0, 995), FaultEvent("spikes", 0, 995, 1001)
    ]  # fmt: skip
    log.close(active, 1010)
    assert watch.changes(log) == [FaultEvent("bias", 0, 600, 1010)]

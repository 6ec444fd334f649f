"""The log of faults: half-open stretches of time, in the order of their onsets."""

from sensorium.corruption import FaultEvent, FaultLog


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

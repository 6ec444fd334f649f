"""Ctrl-C and SIGTERM wait where they must, are never lost, and a second one does not wait."""

import itertools
import signal
import sys
import threading
import time

import pytest

from sensorium.runtime.interrupts import InterruptsWait, TerminationExits, Uninterrupted


def _raise(number):
    """Raise a signal, and wait until Python has noticed: where other threads run, some instructions may come before."""
    signal.raise_signal(number)
    time.sleep(0.001)


def press():
    _raise(signal.SIGINT)


@pytest.fixture(autouse=True)
def _handler_is_put_back():
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    yield
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_inside_only_a_mark_is_set():
    with InterruptsWait() as ctrl_c:
        assert not ctrl_c.pressed
        press()
        assert ctrl_c.pressed


def test_a_second_one_stops_at_once():
    reached = []

    def work():
        with InterruptsWait():
            press()
            reached.append("after the first")
            press()
            reached.append("after the second")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert reached == ["after the first"]


def test_what_was_pressed_takes_effect_at_the_end():
    reached = []

    def work():
        with Uninterrupted():
            press()
            reached.append("end of the work")
        reached.append("after it")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert reached == ["end of the work"]


def test_an_error_does_not_swallow_it():
    def work():
        with Uninterrupted():
            press()
            raise ArithmeticError

    with pytest.raises(KeyboardInterrupt):
        work()


def test_one_inside_another_hands_it_on():
    with InterruptsWait() as outer:
        with Uninterrupted():
            press()
            assert not outer.pressed
        assert outer.pressed


def test_handlers_of_others_are_called_once_and_stay():
    pressed = []
    before = signal.signal(signal.SIGINT, lambda *_: pressed.append(1))
    try:
        with Uninterrupted():
            press()
            assert not pressed
        assert pressed == [1]
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_leave_signals_alone():
    seen = []

    def work():
        with Uninterrupted():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGINT)]


def terminate():
    _raise(signal.SIGTERM)


def test_sigterm_sets_the_mark_and_a_second_one_exits():
    with InterruptsWait() as stop:
        terminate()
        assert stop.pressed == signal.SIGTERM
        with pytest.raises(SystemExit) as ended:
            terminate()
    assert ended.value.code == 143


def test_sigterm_waits_for_the_end_of_the_work_and_then_exits():
    reached = []

    def work():
        with TerminationExits():
            with Uninterrupted():
                terminate()
                reached.append("end of the work")
            reached.append("after it")

    with pytest.raises(SystemExit) as ended:
        work()
    assert ended.value.code == 143
    assert reached == ["end of the work"]


def test_the_first_of_several_puts_the_default_back():
    with TerminationExits():
        with TerminationExits():
            pass
        with pytest.raises(SystemExit):
            terminate()
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_a_handler_of_ones_own_and_an_ignored_signal_are_left_alone():
    seen = []
    before = signal.signal(signal.SIGTERM, lambda *_: seen.append(1))
    try:
        with TerminationExits():
            terminate()
        assert seen == [1]
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        with TerminationExits(), InterruptsWait() as stop, Uninterrupted():
            terminate()
        assert not stop.pressed
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("delay", [InterruptsWait, Uninterrupted, TerminationExits])
def test_a_signal_at_any_instruction_leaves_no_handler_behind(delay, number):
    """A signal may raise between any two instructions of `__enter__` and `__exit__`; former handlers are back after it.

    The signal is raised at the first instruction, at the second, and so on, until none is left.
    """

    def ends():
        with TerminationExits(), delay():
            pass

    methods = {getattr(kind, name).__code__ for kind in delay.__mro__[:-1] for name in ("__enter__", "__exit__")}
    methods |= {InterruptsWait._put_back.__code__}
    before = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)]
    raised = 0
    for at in itertools.count():
        seen = itertools.count()

        def at_each_instruction(frame, event, _, at=at, seen=seen):
            frame.f_trace_opcodes = True
            if event == "opcode" and frame.f_code in methods and next(seen) == at:
                signal.raise_signal(number)
            return at_each_instruction

        signal.signal(signal.SIGTERM, _not_ended_yet)
        sys._getframe().f_trace_opcodes = True  # Python 3.12 reports instructions only if a frame asked before
        sys.settrace(lambda frame, *_, trace=at_each_instruction: trace if frame.f_code in methods else None)
        try:
            ends()
        except (KeyboardInterrupt, SystemExit, Terminated):
            raised += 1
        finally:
            sys.settrace(None)
            left = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)]
            signal.signal(signal.SIGTERM, before[1])
        assert left == [before[0], _not_ended_yet], at
        if next(seen) <= at:
            break
    assert raised > 10


class Terminated(BaseException):
    """Raised by a handler of SIGTERM."""


def _not_ended_yet(*_):
    raise Terminated

"""What is said of a compilation that takes long."""

import io
import re
import sys
import time

import pytest

from sensorium.runtime import compile_notice


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    monkeypatch.setattr(compile_notice, "_AFTER_S", 0.05)
    monkeypatch.setattr(compile_notice, "_UPDATE_S", 0.02)
    monkeypatch.delenv("SENSORIUM_QUIET", raising=False)


def test_a_compilation_that_takes_long_is_one_line_where_there_is_no_terminal(capsys):
    with compile_notice.announced("sweep_light"):
        time.sleep(0.3)
    assert capsys.readouterr().err == "sensorium compiles sweep_light, once for this machine and version\n"


def test_a_short_one_is_not_mentioned(capsys, monkeypatch):
    monkeypatch.setattr(compile_notice, "_AFTER_S", 30.0)
    with compile_notice.announced("sweep_light"):
        pass
    assert capsys.readouterr().err == ""


def test_it_can_be_turned_off(capsys, monkeypatch):
    monkeypatch.setenv("SENSORIUM_QUIET", "1")
    with compile_notice.announced("sweep_light"):
        time.sleep(0.2)
    assert capsys.readouterr().err == ""


def test_a_bar_moves_in_80_columns_and_is_gone_at_the_end(monkeypatch):
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("CI", raising=False)
    with compile_notice.announced("a_kernel_with_quite_a_long_name_of_its_own"):
        time.sleep(1.0)
    drawn = terminal.getvalue()
    frames = {line for line in drawn.split("\r") if "sensorium compiles" in line}
    assert len(frames) > 3, "the bar stands still"
    visible = [_without_colours(line).rstrip() for line in frames]
    assert max(map(len, visible)) <= 80
    assert drawn.rstrip().endswith("\x1b[2K"), "the bar stays"


def _without_colours(line):
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line)


def test_a_program_shows_it_itself(capsys):
    told = []
    with compile_notice.shown_by(lambda kernel, elapsed_s: told.append((kernel, elapsed_s))):
        with compile_notice.announced("first"):
            time.sleep(0.3)
        with compile_notice.announced("second"):
            time.sleep(0.2)
    assert [kernel for kernel, _ in told if kernel != "first"][:1] == [None]
    times = [elapsed_s for kernel, elapsed_s in told if kernel == "first"]
    assert times == sorted(times)
    assert times[0] >= 0.05
    assert told[-1] == (None, 0.0)
    assert capsys.readouterr().err == ""

"""What --live and --speed set, keys of a terminal, and words about a live run."""

import os
import pty
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from sensorium.app.commands import live_console
from sensorium.app.commands.live_console import live_values, live_words
from sensorium.core.errors import SpecError
from sensorium.live import RunClock, SinkState


def scenario(folder, section=""):
    path = folder / "s.yaml"
    path.write_text(f"duration_s: 1\n{section}")
    return path


def test_names_become_sections_and_options_of_the_file_stay(tmp_path):
    assert live_values("foxglove", None, scenario(tmp_path)) == {"live.foxglove": {}}
    assert live_values("foxglove", None, scenario(tmp_path, "live: {foxglove: {port: 9000}}")) == {}
    assert live_values("foxglove", None, scenario(tmp_path, "live: {foxglove: false}")) == {"live.foxglove": {}}
    assert live_values(None, "0.5", scenario(tmp_path)) == {"live.speed": 0.5}
    assert live_values(None, "max", scenario(tmp_path)) == {"live.speed": None}
    assert live_values(None, None, scenario(tmp_path)) == {}
    only = {"live.pcap.path": "a.pcap", "live.speed": None}
    assert live_values(None, None, scenario(tmp_path), Path("a.pcap")) == only
    both = {"live.udp": {}, "live.pcap.path": "a.pcap"}
    assert live_values("udp", None, scenario(tmp_path), Path("a.pcap")) == both


def test_other_names_and_speeds_are_refused(tmp_path):
    with pytest.raises(SpecError, match="--live is 'foxglove,rso2'; each name must be one of foxglove"):
        live_values("foxglove,rso2", None, scenario(tmp_path))
    with pytest.raises(SpecError, match="--speed is 'fast'; it must be a positive number, or max"):
        live_values(None, "fast", scenario(tmp_path))


def test_words_say_pause_delay_and_counts():
    clock = RunClock(paused=True)
    clock._behind_s = 1.25
    states = [SinkState("foxglove", 1234, 5)]
    live = SimpleNamespace(clock=clock, states=lambda: states)
    assert live_words(live) == "; paused; 1.2 s behind; foxglove 1,234 sent, 5 dropped"
    assert live_words(SimpleNamespace(clock=None)) == ""


def test_keys_of_a_terminal_control_the_run(monkeypatch):
    """Through a real pseudo-terminal, without Enter; the terminal is as it was before, and the thread ends."""
    import termios

    keyboard, terminal = pty.openpty()
    clock, shown = RunClock(1.0), []
    before = termios.tcgetattr(terminal)
    monkeypatch.setattr(live_console.sys, "stdin", SimpleNamespace(fileno=lambda: terminal, isatty=lambda: True))

    def settled(condition):
        ends_s = time.monotonic() + 20
        while not condition():
            assert time.monotonic() < ends_s
            time.sleep(0.002)

    with live_console._keyboard(lambda key: live_console._press(clock, key, lambda: shown.append(1))):
        os.write(keyboard, b" ")
        settled(lambda: clock.paused)
        os.write(keyboard, b"s.")
        settled(lambda: clock._single_steps == 2)
        os.write(keyboard, b" ")
        settled(lambda: not clock.paused)
        os.write(keyboard, b"++-")
        settled(lambda: len(shown) == 7)
        assert clock.speed == 2.0
        os.write(keyboard, b"r")
        settled(lambda: len(clock._calls) == 1)
        os.write(keyboard, b"x")
        settled(lambda: len(shown) == 9)
    assert termios.tcgetattr(terminal) == before
    assert not [thread for thread in threading.enumerate() if thread.name == "sensorium-keys"]
    os.close(keyboard)
    os.close(terminal)

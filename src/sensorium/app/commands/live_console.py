"""A live run in the terminal: what to open, keys, and counts."""

import os
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

from rich.console import Console

from sensorium.app.scenario.document import read_document
from sensorium.app.scenario.live_run import LiveRun
from sensorium.core.errors import SpecError
from sensorium.live.opening import SINKS
from sensorium.pacing import RunClock

LAYOUT = "foxglove-layout.json"
"""Name of a layout in a scenario's folder, as `sn.live.foxglove_layout` makes it."""

KEYS = "space pauses, s steps, + and - change the speed, r resets, Ctrl-C ends"


def live_values(live: str | None, speed: str | None, path: Path, pcap: Path | None = None) -> dict[str, Any]:
    """Values by dotted key that `--live`, `--speed` and `--pcap` set.

    Args:
        live: Names of sinks with commas between; their options in the file's own section `live:` stay.
        speed: A number, or max.
        path: The scenario file.
        pcap: File for lidar packets; a run that only writes it has no pace.
    """
    values: dict[str, Any] = {}
    section = None if live is None else read_document(path).data.get("live")
    for name in [] if live is None else live.split(","):
        if name not in SINKS:
            raise SpecError(f"--live is {live!r}; each name must be one of {', '.join(SINKS)}")
        if not isinstance(section, dict) or section.get(name) in (None, False):
            values[f"live.{name}"] = {}
    if pcap is not None:
        values["live.pcap.path"] = str(pcap)
        if live is None and speed is None:
            values["live.speed"] = None
    if speed is not None:
        try:
            values["live.speed"] = None if speed == "max" else float(speed)
        except ValueError:
            raise SpecError(f"--speed is {speed!r}; it must be a positive number, or max") from None
    return values


def live_words(live: LiveRun) -> str:
    """How a live run is doing, in a few words; empty for another run."""
    if live.clock is None:
        return ""
    words = [" paused"] if live.clock.paused else []
    if live.clock.behind_s >= 0.05:
        words.append(f" {live.clock.behind_s:.1f} s behind")
    words += [f" {state.name} {state.sent:,} sent, {state.dropped:,} dropped" for state in live.states()]
    return ";".join(["", *words])


@contextmanager
def live_console(console: Console, live: LiveRun, folder: Path, show: Callable[[], None]) -> Iterator[None]:
    """Print what to open when the sinks are open, and control the run by keys where there is a keyboard.

    Args:
        console: The terminal.
        live: The run.
        folder: The scenario's folder, which may have a layout for Foxglove.
        show: Shows its state, after a key.
    """
    clock = live.clock
    if clock is None:
        yield
        return

    def tell() -> None:
        for sink in live.sinks:
            if hint := getattr(sink, "hint", ""):
                console.print(f"{sink.name}: {hint}", soft_wrap=True, highlight=False)
            if sink.name == "foxglove" and (folder / LAYOUT).is_file():
                console.print(f"foxglove: import the layout {folder / LAYOUT}", soft_wrap=True, highlight=False)

    clock.call(tell)
    if not (sys.stdin.isatty() and console.is_interactive):
        yield
        return
    console.print(KEYS, highlight=False)
    with _keyboard(lambda key: _press(clock, key, show)):
        yield


def _press(clock: RunClock, key: str, show: Callable[[], None]) -> None:
    """What a key does."""
    if key == " ":
        (clock.resume if clock.paused else clock.pause)()
    elif key in "s.":
        clock.single_step()
    elif key in "+-":
        clock.speed = (clock.speed or 1.0) * (2.0 if key == "+" else 0.5)
    elif key == "r":
        clock.reset()
    show()


@contextmanager
def _keyboard(press: Callable[[str], None]) -> Iterator[None]:
    """Keys of the terminal as they are pressed, without Enter; Ctrl-C stays a signal."""
    import termios
    import tty

    keyboard = sys.stdin.fileno()
    before = termios.tcgetattr(keyboard)
    wake, end = os.pipe()

    def read() -> None:
        while True:
            ready, _, _ = select.select([keyboard, wake], [], [])
            if wake in ready:
                return
            if not (key := os.read(keyboard, 1)):
                return
            press(key.decode("latin-1"))

    thread = Thread(target=read, name="sensorium-keys", daemon=True)
    try:
        tty.setcbreak(keyboard)
        thread.start()
        yield
    finally:
        os.close(end)
        thread.join(1.0)
        os.close(wake)
        termios.tcsetattr(keyboard, termios.TCSADRAIN, before)

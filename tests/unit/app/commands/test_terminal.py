"""What commands print: no control character of a name, and no markup in it."""

import io

import pytest
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from sensorium.app.commands.terminal import Terminal

HOSTILE = "a\x1b]0;mine\x07\x1b[2J\r\x08\x9b31m\x85b\u202e"


@pytest.fixture
def terminal():
    made = Terminal()
    made.file = io.StringIO()
    return made


def printed(terminal):
    return terminal.file.getvalue()


@pytest.mark.parametrize("wrap", [str, Text, lambda text: f"[link=https://x]{text}[/link]"])
def test_control_characters_are_escaped_wherever_they_are_printed(terminal, wrap):
    table = Table(title=wrap(HOSTILE), title_justify="left")
    table.add_column(wrap(HOSTILE))
    table.add_row(wrap(HOSTILE))
    terminal.print(table, soft_wrap=True)
    terminal.print(wrap(HOSTILE), soft_wrap=True)
    with Progress(console=terminal) as bar:
        bar.add_task(HOSTILE, total=1.0)
    assert all(line.isprintable() for line in printed(terminal).split("\n"))
    assert r"\x1b[2J" in printed(terminal)


def test_text_is_no_markup(terminal):
    terminal.print("[bold]x[/bold] [link=https://x]y[/link] :smile:", soft_wrap=True)
    assert printed(terminal) == "[bold]x[/bold] [link=https://x]y[/link] :smile:\n"


def test_lines_and_letters_stay(terminal):
    terminal.print("größer\n2 µm ✓", soft_wrap=True)
    assert printed(terminal) == "größer\n2 µm ✓\n"

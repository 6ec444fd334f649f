"""The search finds what is planted, with atheris and without."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fuzz.__main__ import main
from fuzz.engine import mutating
from fuzz.reader import Reader
from sensorium.core.errors import SpecError

ROOT = Path(__file__).parents[2]


def read_counts(path):
    """A reader with a mistake: a count that is negative is not looked at."""
    try:
        data = json.loads(path.read_bytes())
        count = data["count"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise SpecError("it is no file of counts") from None
    if isinstance(count, int) and count < 0:
        raise IndexError(count)


PLANTED = Reader("counts", ".json", read_counts, (SpecError,), lambda folder: [b'{"count": 12}'], ())


def test_chance_finds_what_is_planted_and_keeps_the_input(folder, tmp_path):
    outcome = mutating(PLANTED, folder, tmp_path, seconds=1.5, inputs=200, seed=1)
    ((path, what),) = outcome.finds.items()
    assert "raised IndexError" in what
    assert json.loads(path.read_bytes())["count"] < 0
    assert outcome.executions > 50
    assert "1 broken" in str(outcome)


def run(*arguments):
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    command = [sys.executable, "-m", "fuzz", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("engine", "long"),
    [
        ("plain", ("--inputs", "300")),  # the same ones on every machine
        pytest.param(
            "atheris",
            ("--seconds", "1"),
            marks=pytest.mark.skipif(importlib.util.find_spec("atheris") is None, reason="atheris is not installed"),
        ),
    ],
)
def test_the_command_tries_a_reader(tmp_path, engine, long):
    done = run("parts", *long, "--engine", engine, "--out", str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("parts ")
    assert done.stdout.rstrip().endswith("0 broken")
    assert int(done.stdout.split()[1]) > 0


def test_a_reader_that_is_not_there_is_told(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["fuzz", "meshes"])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert "there is no reader 'meshes'; --list names them" in capsys.readouterr().err


@pytest.mark.parametrize("seconds", ["-1", "0", "nan", "inf"])
def test_a_search_takes_some_time_and_ends(monkeypatch, capsys, seconds):
    monkeypatch.setattr(sys, "argv", ["fuzz", "parts", f"--seconds={seconds}"])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert f"--seconds is {seconds}; it must be positive and finite" in capsys.readouterr().err

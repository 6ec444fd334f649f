"""Ray's tokens: a local cluster has its own and leaves nothing; one that is joined is shown what there is."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from sensorium.runtime.cluster import tokens

NAMES = (tokens.MODE, tokens.TOKEN, tokens.PATH)


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_a_token_of_ones_own_is_for_this_user_alone_and_goes():
    with tokens.own_token() as first, tokens.own_token() as second:
        path = first[tokens.PATH]
        assert first[tokens.MODE] == "token"
        assert first[tokens.TOKEN] is None
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700
        assert len({Path(str(each[tokens.PATH])).read_text() for each in (first, second)}) == 2
    assert not os.path.exists(os.path.dirname(path))


def test_tokens_that_are_turned_off_stay_off(monkeypatch):
    monkeypatch.setenv(tokens.MODE, "disabled")
    with tokens.own_token() as variables:
        assert variables == {tokens.MODE: "disabled"}
    assert tokens.shown_token() == {}
    assert "unset it there" in tokens.missing("10.0.0.7:6379", "here")


def test_the_token_of_this_machine_is_shown(monkeypatch, home):
    assert tokens.shown_token() == {}
    told = tokens.missing("10.0.0.7:6379", "here")
    assert told.startswith("10.0.0.7:6379 demands a token; copy ~/.ray/auth_token of its head to")
    (home / ".ray").mkdir()
    (home / ".ray" / "auth_token").write_text("x")
    assert tokens.shown_token() == {tokens.MODE: "token"}
    assert "auth_token', is not that of 10.0.0.7:6379" in tokens.missing("10.0.0.7:6379", "here")
    monkeypatch.setenv(tokens.PATH, str(home / "none"))
    assert tokens.shown_token() == {}
    monkeypatch.setenv(tokens.TOKEN, "y")
    assert tokens.shown_token() == {tokens.MODE: "token"}
    assert "the token of here, in RAY_AUTH_TOKEN," in tokens.missing("10.0.0.7:6379", "here")


@pytest.mark.slow
def test_a_local_cluster_leaves_no_token_behind(home):
    """Nothing in the home, no variable; a task of the cluster finds the token of its own."""
    pytest.importorskip("ray", exc_type=ImportError)
    code = (
        "import os\n"
        "from sensorium.runtime import cluster\n"
        "for _ in range(2):\n"
        "    with cluster.joined(cpus=1):\n"
        "        ray = cluster.running()\n"
        "        print(ray.get(ray.remote(lambda: os.environ['RAY_AUTH_TOKEN_PATH']).remote()))\n"
        "        print(sorted(name for name in os.environ if name.startswith('RAY_AUTH')))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    first, names, second, more = done.stdout.splitlines()
    assert first != second
    assert names == more == "[]"
    assert not os.path.exists(first)
    assert not os.path.exists(second)
    assert not (home / ".ray").exists()

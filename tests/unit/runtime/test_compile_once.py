"""Two processes that need the same kernel at the same time, and one that does not come back."""

import fcntl
import os
import subprocess
import sys
import threading
import time

import pytest
from numba.core.errors import TypingError

from sensorium.runtime import compile_once, jit

# Each process says when it is ready, waits for the other and compiles; the file tells how often that was done
CODE = """
import sys
from sensorium.runtime import jit
from numba.core import event

class Told(event.Listener):
    def on_start(self, happened):
        if happened.data["dispatcher"] is kernel:
            print("compiles", flush=True)

    def on_end(self, happened):
        pass

@jit.function
def slow(x):
    return {sum}

@jit.kernel
def kernel(x):
    return slow(x)

event.register("numba:compile", Told())
print("ready", flush=True)
sys.stdin.readline()
print(kernel(2.0), sum(kernel.stats.cache_hits.values()), flush=True)
""".replace("{sum}", " + ".join(f"x ** {n}.5" for n in range(150)))


def test_of_two_processes_one_compiles_and_the_other_loads(tmp_path):
    script, cache = tmp_path / "script.py", tmp_path / "cache"
    script.write_text(CODE)
    env = {**os.environ, "SENSORIUM_CACHE_DIR": str(cache)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    both = [subprocess.Popen([sys.executable, str(script)], env=env, **pipes) for _ in range(2)]
    for process in both:
        assert process.stdout.readline() == "ready\n"
    for process in both:
        process.stdin.write("go\n")
        process.stdin.flush()
    told = sorted((process.communicate(timeout=300)[0].splitlines() for process in both), key=len)
    result = sum(2.0 ** (n + 0.5) for n in range(150))
    loaded, compiled = told
    assert compiled[0] == "compiles"
    assert [line.split()[1] for line in (loaded[0], compiled[1])] == ["1", "0"]
    assert float(loaded[0].split()[0]) == float(compiled[1].split()[0]) == pytest.approx(result)
    assert len(list(cache.rglob("*.nbc"))) == 1
    assert not list(cache.rglob("*.lock"))


@pytest.fixture
def locked(tmp_path):
    """A lock that another holds: locks belong to who opened the file, in this process or another."""
    path = tmp_path / "kernel.lock"
    other = os.open(path, os.O_RDWR | os.O_CREAT)
    fcntl.flock(other, fcntl.LOCK_EX)
    yield path, other
    os.close(other)


def test_a_lock_is_waited_for(locked):
    path, other = locked
    threading.Timer(0.2, fcntl.flock, (other, fcntl.LOCK_UN)).start()
    before = time.monotonic()
    lock = compile_once._taken(path)
    assert lock is not None
    assert time.monotonic() - before > 0.15
    compile_once._give_back(lock, path)
    assert not path.exists()


def test_who_never_gives_it_back_is_not_waited_for(locked, monkeypatch):
    monkeypatch.setattr(compile_once, "_PATIENCE_S", 0.1)
    assert compile_once._taken(locked[0]) is None


def test_where_no_lock_can_be_there_is_none(tmp_path):
    (tmp_path / "file").touch()
    assert compile_once._taken(tmp_path / "file" / "kernel.lock") is None


def test_a_kernel_that_does_not_compile_gives_its_lock_back(monkeypatch):
    taken, take = [], compile_once._taken

    def watched(path):
        taken.append(path)
        return take(path)

    monkeypatch.setattr(compile_once, "_taken", watched)

    @jit.kernel
    def kernel(x):
        return x.nothing

    with pytest.raises(TypingError, match="nothing"):
        kernel(1)
    (path,) = taken
    assert path.parent.exists()
    assert not path.exists()

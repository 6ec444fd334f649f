"""Two processes that need the same kernel at the same time, and one that does not come back."""

import contextlib
import fcntl
import gc
import os
import subprocess
import sys
import threading
import time

import numba
import pytest
from numba.core.errors import TypingError

from sensorium.runtime import compile_notice, compile_once, jit

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


@pytest.fixture
def locked(tmp_path):
    """A lock that another holds: locks belong to those that opened the file, in this process or another."""
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
    lock.release()


def test_a_lock_that_is_never_released_is_not_waited_for(locked, monkeypatch):
    monkeypatch.setattr(compile_once, "_PATIENCE_S", 0.1)
    assert compile_once._taken(locked[0]) is None


def test_without_a_folder_there_is_no_lock(tmp_path):
    (tmp_path / "file").touch()
    assert compile_once._taken(tmp_path / "file" / "kernel.lock") is None


def test_a_kernel_that_does_not_compile_releases_its_lock(monkeypatch):
    taken, take = [], compile_once._taken

    def watched(path):
        taken.append(take(path))
        return taken[-1]

    monkeypatch.setattr(compile_once, "_taken", watched)

    @jit.kernel
    def kernel(x):
        return x.nothing

    with pytest.raises(TypingError, match="nothing"):
        kernel(1)
    (lock,) = taken
    assert not lock.is_locked


@pytest.fixture
def thresholds():
    """Those of garbage collection, restored after the test."""
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def test_garbage_is_collected_rarely_while_a_kernel_is_compiled(thresholds, monkeypatch):
    seen = []

    @jit.kernel
    def kernel(x):
        return x + 1

    monkeypatch.setattr(kernel._cache, "load_overload", lambda *_: None)  # an earlier run may have compiled it
    with monkeypatch.context() as patched:
        patched.setattr(compile_notice, "announced", lambda _: contextlib.nullcontext())
        of_numba = numba.core.dispatcher._FunctionCompiler._compile_core
        patched.setattr(
            numba.core.dispatcher._FunctionCompiler,
            "_compile_core",
            lambda *arguments: seen.append(gc.get_threshold()) or of_numba(*arguments),
        )
        assert kernel(1) == 2
    assert seen == [(200_000, 10, 10)]
    assert gc.get_threshold() == (700, 10, 10)


def test_an_error_restores_garbage_collection(thresholds):
    def compile_with_an_error():
        with compile_once._reduced_gc(), compile_once._reduced_gc():
            raise ValueError(f"thresholds are {gc.get_threshold()}")

    with pytest.raises(ValueError, match=r"thresholds are .200000, 10, 10"):
        compile_with_an_error()
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("own", [(0, 10, 10), (1_000_000, 5, 5)])
def test_thresholds_that_are_off_or_higher_are_kept(thresholds, own):
    gc.set_threshold(*own)
    with compile_once._reduced_gc():
        assert gc.get_threshold() == own
    assert gc.get_threshold() == own

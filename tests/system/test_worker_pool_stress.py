"""The worker pool under stress: forks, signals, nested calls and many callers. Nothing hangs, and all bytes are right.

By default each test takes some tens of seconds; SENSORIUM_STRESS=1 runs the full lengths: 1,000 forks, 10,000 signals,
8 callers for ten minutes. Each test is a process of its own, which prints all stacks and ends if it makes no progress.
"""

import os
import signal
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork") or not hasattr(signal, "setitimer"), reason="needs fork and timers"),
]

FULL = os.environ.get("SENSORIUM_STRESS", "0") == "1"

PRELUDE = '''
import faulthandler, hashlib, os, random, signal, sys, threading, time
import numpy as np
import sensorium as sn
from sensorium.runtime import jit, worker_pool
from sensorium.runtime.worker_pool import NONE, Prepared, forks, next_block, pool, shared

PATIENCE_S = 120.0
KINDS = ("lidar", "depth", "imu")
faulthandler.register(signal.SIGUSR1, all_threads=True, chain=False)


def progress():
    """Restart the watchdog: all stacks are printed, and the process ends, if nobody calls this in time."""
    faulthandler.dump_traceback_later(PATIENCE_S, exit=True)


def digest(kind, seed=1, steps=8):
    """Hash of the readings of a new environment."""
    rng, scene = np.random.default_rng(seed), sn.Scene()
    scene.add(sn.shapes.heightfield(rng.uniform(0, 0.4, (20, 20)), 40, 40), label="ground")
    for _ in range(6):
        scene.add(sn.shapes.box(1, 2, 3), pose=sn.Pose((*rng.uniform(-8, 8, 2), 1.5)), label="box")
    scene.add(sn.shapes.box(1, 4, 0.3), body="rotor", label="rotor")
    world = sn.worlds.Kinematic({
        "car": sn.paths.Circle(center=(0, 0, 2), radius=3, rate=0.7 + seed),
        "rotor": sn.paths.Spin(position=(4, -4, 3), axis=(0, 0, 1), rate=30.0),
    }, step_s=0.01)
    env = sn.Environment(scene, world, worlds=4, seed=seed)
    if kind == "lidar":
        rows = tuple(np.linspace(12, -24, 16))
        spec = sn.Lidar(pattern=sn.patterns.Spinning(elevation_deg=rows, columns=256, rate_hz=50))
    elif kind == "depth":
        pattern = sn.patterns.Pinhole.from_fov(64, 48, horizontal_fov_deg=87.0, rate_hz=100.0)
        spec = sn.DepthCamera(pattern=pattern, noise=sn.DepthNoise(multiplier=0.01, dropout=0.01))
    else:
        spec = sn.Imu(timing=sn.Timing(rate_hz=100))
    handle, found = env.attach(spec, body="car", name=kind), hashlib.sha256()
    for _ in range(steps):
        take_step(env)
        for reading in handle.readings():
            array = {"lidar": "points", "depth": "depth_m", "imu": "values"}[kind]
            found.update(np.ascontiguousarray(getattr(reading, array)).tobytes())
    return found.hexdigest()


take_step = sn.Environment.step


def expected(seeds=(1,)):
    """Hashes of each kind and seed, alone on one thread; all kernels are compiled then."""
    worker_pool.set_threads(1)
    alone = {(kind, seed): digest(kind, seed) for kind in KINDS for seed in seeds}
    worker_pool.set_threads(2)
    assert {key: digest(*key) for key in alone} == alone
    return alone


def fork_and_check(work):
    """Fork a child, which ends with 0 if work() is true."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if work() else 2
        finally:
            os._exit(code)
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            assert os.waitstatus_to_exitcode(status) == 0, f"a child ended with {os.waitstatus_to_exitcode(status)}"
            return
        time.sleep(0.001)
    os.kill(child, signal.SIGUSR1)
    time.sleep(1.0)
    os.kill(child, signal.SIGKILL)
    raise AssertionError("a child hangs; its stacks are above")


class InBackground:
    """Threads that call a function again and again; an error in one is raised at the end."""

    def __init__(self, *functions):
        self.calls, self.errors, self.stops = [0] * len(functions), [], False
        self.threads = [threading.Thread(target=self.loop, args=one) for one in enumerate(functions)]

    def loop(self, number, function):
        try:
            while not self.stops:
                function()
                self.calls[number] += 1
        except BaseException as error:
            self.errors.append(error)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *error):
        self.stops = True
        for thread in self.threads:
            thread.join()
        for error in self.errors:
            raise error


@jit.kernel
def add_one(first, step, count, done, slow):
    for block in range(first, count, step):
        for _ in range(slow):
            done[block] += 1
        done[block] -= slow - 1


@jit.function
def _add_one(first, step, count, done, slow):
    block = next_block(first, step, count, NONE)
    while block < count:
        for _ in range(slow):
            done[block] += 1
        done[block] -= slow - 1
        block = next_block(first, step, count, block)


_share_add_one = shared(_add_one)


@jit.kernel
def add_one_shared(first, step, count, done, slow):
    _share_add_one(first, step, count, (done, slow))


def nothing_is_left():
    assert threading.get_ident() not in forks.active_kernels
    assert not pool._slots[:, 0].any()
'''


def run_program(body: str, *, timeout: float, **environment: str) -> str:
    """Run the prelude and a program; returns the line of figures that it prints."""
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", f"{PRELUDE}\nprogress()\n{body}"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=timeout,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout)
    return done.stdout


def test_forks_while_kernels_run():
    """Children sense as well, each with its own workers; bytes of parent and children are those of a sensor alone."""
    body = f"""
alone, forks_wanted, end = expected(), {1000 if FULL else 100_000}, time.monotonic() + {1e9 if FULL else 25.0}

def check(kind):
    assert digest(kind) == alone[kind, 1], kind

done = 0
with InBackground(lambda: check("lidar"), lambda: check("depth"), lambda: check("imu")) as others:
    while done < forks_wanted and time.monotonic() < end:
        kind = KINDS[done % 3]
        fork_and_check(lambda: digest(kind, steps=8) == alone[kind, 1])
        done += 1
        progress()
assert min(others.calls) > 0 and done > 20 and not forks.active_kernels and not forks.pending_forks
print("forks", done, "runs in the parent meanwhile", sum(others.calls))
"""
    run_program(body, timeout=3600 if FULL else 300)


def test_signals_during_kernels():
    """Handlers that raise and that return, in `run`, `share` and `share_while`, while another thread forks."""
    body = f"""
class AlarmError(Exception):
    pass

worker_pool.set_threads(2)
done = {{name: np.zeros(64, np.int64) for name in ("run", "share", "share_while")}}
prepared, childs = Prepared(add_one_shared, done["share_while"], 100), np.zeros(64, np.int64)
works = {{
    "run": lambda: worker_pool.run(add_one, 64, done["run"], 100),
    "share": lambda: worker_pool.share(add_one_shared, 64, done["share"], 100),
    "share_while": lambda: worker_pool.share_while(prepared, 64, lambda: sum(range(50))),
}}
for work in works.values():
    work()
came, armed = {{"raised": 0, "returned": 0}}, [False]

def ring(number, frame):
    if armed[0] and random.random() < 0.5:
        came["raised"] += 1
        raise KeyboardInterrupt if number == signal.SIGINT else AlarmError
    came["returned"] += 1

def ring_for_ctrl_c(number, frame):
    signal.raise_signal(signal.SIGINT)

def child():
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    worker_pool.run(add_one, 64, childs, 100)
    worker_pool.share(add_one_shared, 64, childs, 100)
    return bool((childs == 2).all())

signal.signal(signal.SIGINT, ring)
wanted, end, forked = {10_000 if FULL else 10**9}, time.monotonic() + {1e9 if FULL else 20.0}, []

def fork_now_and_then():
    time.sleep(0.05)
    fork_and_check(child)
    forked.append(True)

with InBackground(fork_now_and_then):
    while sum(came.values()) < wanted and time.monotonic() < end:
        progress()
        name = random.choice(list(works))
        signal.signal(signal.SIGALRM, random.choice((ring, ring_for_ctrl_c)))
        try:
            try:
                armed[0] = True
                signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-6, 100e-6))
                for _ in range(5):
                    works[name]()
            finally:
                armed[0] = False
        except (AlarmError, KeyboardInterrupt):
            pass
        nothing_is_left()
        if name == "share_while":
            assert len(set(done[name].tolist())) == 1, "blocks are left undone"
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
assert min(came.values()) > 100 and len(forked) > 3
for name, work in works.items():
    before = done[name].copy()
    work()
    assert (done[name] == before + 1).all()
print("signals", came, "forks meanwhile", len(forked))
"""
    run_program(body, timeout=3600 if FULL else 300)


def test_ctrl_c_during_steps():
    """Steps of environments, with Ctrl-C and alarms every millisecond: bytes are those of a sensor left alone."""
    body = f"""
alone, came = expected(), [0, 0]

def press(number, frame):
    came[0] += 1
    raise KeyboardInterrupt

def ring(number, frame):
    came[1] += 1
    if came[1] % 2:
        signal.raise_signal(signal.SIGINT)

signal.signal(signal.SIGINT, press)
signal.signal(signal.SIGALRM, ring)
wanted, end, runs = {10_000 if FULL else 10**9}, time.monotonic() + {1e9 if FULL else 20.0}, 0

def take_step(env):
    end = env.time_ns + 10_000_000
    while env.time_ns < end:
        try:
            try:
                signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-6, 300e-6))
                env.step()
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0.0)
        except KeyboardInterrupt:
            pass

while sum(came) < wanted and time.monotonic() < end:
    progress()
    kind = KINDS[runs % 3]
    assert digest(kind) == alone[kind, 1], kind
    runs += 1
assert min(came) > 20 and runs > 3
print("signals", sum(came), "of these Ctrl-C", came[0], "runs", runs)
"""
    run_program(body, timeout=3600 if FULL else 300)


def test_calls_inside_each_other():
    """Kernels and whole environments in `meanwhile`, and in threads that it starts, while another thread forks."""
    body = f"""
alone = expected()
outer, inner, turns = np.zeros(64, np.int64), np.zeros(64, np.int64), 0
prepared, own = Prepared(add_one_shared, outer, 2000), Prepared(add_one_shared, inner, 10)

def kernels():
    worker_pool.run(add_one, 64, inner, 10)
    worker_pool.share(add_one_shared, 64, inner, 10)
    worker_pool.share_while(own, 64, lambda: None)

def senses(kind):
    assert digest(kind, steps=8) == alone[kind, 1], kind

def in_a_thread(work):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

forked, end = [], time.monotonic() + {120.0 if FULL else 20.0}

def fork_now_and_then():
    time.sleep(0.02)
    fork_and_check(lambda: digest("imu") == alone["imu", 1])
    forked.append(True)

with InBackground(fork_now_and_then):
    while time.monotonic() < end:
        progress()
        kind = KINDS[turns % 3]
        worker_pool.share_while(prepared, 64, lambda: senses(kind))
        worker_pool.share_while(prepared, 64, kernels)
        worker_pool.share_while(prepared, 64, lambda: in_a_thread(kernels))
        turns += 1
assert (outer == 3 * turns).all() and (inner == 3 * 2 * turns).all()
assert turns > 3 and len(forked) > 3
print("turns", turns, "forks meanwhile", len(forked))
"""
    run_program(body, timeout=600)


def test_eight_callers():
    """Eight Python threads with environments of three kinds on two threads of the pool."""
    body = f"""
alone, calls = expected(seeds=(1, 2, 3)), {{}}

def check(caller):
    kind, seed = KINDS[caller % 3], 1 + caller // 3
    assert digest(kind, seed) == alone[kind, seed], (kind, seed)
    calls[caller] = calls.get(caller, 0) + 1
    if min(calls.get(one, 0) for one in range(8)) > lowest[0]:  # every one, not only this one, has come on
        lowest[0] += 1
        progress()

lowest = [0]
with InBackground(*((lambda caller=caller: check(caller)) for caller in range(8))) as others:
    end = time.monotonic() + {600.0 if FULL else 20.0}
    while time.monotonic() < end and not others.errors:
        time.sleep(0.1)
progress()
assert min(others.calls) > 0
print("runs of each caller", others.calls)
"""
    run_program(body, timeout=1200 if FULL else 300)


def test_forks_while_a_kernel_compiles(tmp_path):
    """Compiled by a direct call, or by the pool: the child compiles as well, with Numba's lock as it was copied."""
    body = f"""
number = [0]

def new_kernel():
    number[0] += 1
    offset = number[0]

    @jit.kernel
    def add_offset(first, step, count, done):
        for block in range(first, count, step):
            done[block] += offset

    return add_offset, offset

def compiles(in_pool):
    kernel, offset = new_kernel()
    done = np.zeros(16, np.int64)
    worker_pool.run(kernel, 16, done) if in_pool else kernel(0, 1, 16, done)
    return bool((done == offset).all())

def check(in_pool):
    assert compiles(in_pool)

worker_pool.set_threads(2)
compiles(True)
done, end = 0, time.monotonic() + {120.0 if FULL else 15.0}
with InBackground(lambda: check(False), lambda: check(True)) as others:
    while time.monotonic() < end:
        fork_and_check(lambda: compiles(done % 2 == 0))
        done += 1
        progress()
assert done > 3 and min(others.calls) > 3
print("forks", done, "kernels compiled in the parent meanwhile", sum(others.calls))
"""
    run_program(body, timeout=600, SENSORIUM_CACHE_DIR=str(tmp_path))

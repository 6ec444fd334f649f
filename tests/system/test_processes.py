"""Two Python threads, a forked child, spawned children: the same bytes everywhere, and nobody hangs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

# Runs in processes of its own, so that a deadlock is a failed test and not a hung one
PROGRAM = '''
import hashlib, multiprocessing, os, sys, threading
import numpy as np
import sensorium as sn


def make_environment(seed=0):
    rng = np.random.default_rng(seed)
    scene = sn.Scene()
    scene.add(sn.shapes.heightfield(rng.uniform(0, 0.4, (80, 80)), 60, 60), label="ground")
    for i in range(10):
        scene.add(sn.shapes.box(1, 2, 3), pose=sn.Pose((*rng.uniform(-20, 20, 2), 1.5)), label="box")
    scene.add(sn.shapes.sphere(1.0), body="ball", label="ball")
    scene.add(sn.shapes.box(1, 4, 0.3), body="rotor", label="rotor")
    world = sn.worlds.Kinematic({
        "car": sn.paths.Circle(center=(0, 0, 2), radius=6, rate=0.7 + seed),
        "ball": sn.paths.Line(start=(-5, 3, 2), velocity=(12, 0, 0)),
        "rotor": sn.paths.Spin(position=(4, -4, 3), axis=(0, 0, 1), rate=30.0),
    })
    env = sn.Environment(scene, world, seed=seed)
    pattern = sn.patterns.Spinning(elevation_deg=tuple(np.linspace(12, -24, 32)), columns=512, rate_hz=10)
    return env, env.attach(sn.Lidar(pattern=pattern), body="car", name="top")


def run(env, lidar, sweeps=4):
    """Hash of all arrays of the next sweeps."""
    digest = hashlib.sha256()
    for _ in env.run(duration_s=0.1 * sweeps):
        for scan in lidar.readings():
            for name in ("range_m", "points", "object_id", "face_id", "label"):
                digest.update(getattr(scan, name).tobytes())
    return digest.hexdigest()


def in_child(work):
    """What work() returns in a forked child; the child must end by itself."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, work().encode())
        finally:
            os._exit(0)
    os.close(writer)
    answer = b"".join(iter(lambda: os.read(reader, 4096), b"")).decode()
    os.waitpid(child, 0)
    return answer


def run_seed(seed):
    return run(*make_environment(seed))
'''


def run_program(tmp_path: Path, body: str, threads: int = 2) -> list[str]:
    """Lines that the program with this main part prints."""
    script = tmp_path / "program.py"
    indented = "\n".join(f"    {line}" for line in body.strip().splitlines())
    script.write_text(f'{PROGRAM}\n\nif __name__ == "__main__":\n{indented}\n')
    done = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "SENSORIUM_THREADS": str(threads)},
        capture_output=True,
        text=True,
        timeout=300,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform cannot fork")


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """Hashes of seeds 0 and 1, one after the other in one process on one thread."""
    hashes = run_program(tmp_path_factory.mktemp("alone"), "print(run_seed(0), run_seed(1))", threads=1)
    assert hashes[0] != hashes[1]
    return hashes


def test_two_environments_in_two_python_threads(tmp_path, expected):
    body = """
answers = {}
both = threading.Barrier(2)
def work(seed):
    env, lidar = make_environment(seed)
    both.wait()
    answers[seed] = run(env, lidar)
workers = [threading.Thread(target=work, args=(seed,)) for seed in (0, 1)]
for worker in workers: worker.start()
for worker in workers: worker.join()
print(answers[0], answers[1])
"""
    assert run_program(tmp_path, body) == expected


def test_two_environments_of_one_scene_in_two_python_threads(tmp_path, expected):
    """The meshes below are shared; both threads build and cast at once."""
    body = """
env, lidar = make_environment(0)
answers, both = [None] * 4, threading.Barrier(4)
def work(i):
    both.wait()
    other = sn.Environment(env.scene, make_environment(0)[0].world)
    own = other.attach(lidar.spec, body="car", name="top")
    answers[i] = run(other, own)
workers = [threading.Thread(target=work, args=(i,)) for i in range(4)]
for worker in workers: worker.start()
for worker in workers: worker.join()
print(*answers)
"""
    assert run_program(tmp_path, body) == [expected[0]] * 4


@needs_fork
def test_an_environment_made_in_a_forked_child(tmp_path, expected):
    """The parent has used its threads and Embree's before."""
    assert run_program(tmp_path, "print(run_seed(1), in_child(lambda: run_seed(0)))") == [expected[1], expected[0]]


@needs_fork
def test_an_environment_that_goes_on_in_a_forked_child(tmp_path):
    """Parent and child go on from the same state, and do the same; the child's steps do not reach the parent."""
    body = """
env, lidar = make_environment(0)
print(run(env, lidar, 2))
print(in_child(lambda: run(env, lidar, 2)))
print(in_child(lambda: run(env, lidar, 2)))
print(run(env, lidar, 2))
"""
    first, child, again, parent = run_program(tmp_path, body)
    assert child == again == parent
    assert first != parent


@needs_fork
def test_a_scene_seen_first_in_a_forked_child(tmp_path, expected):
    """Made before the fork, cast only after it."""
    assert (
        run_program(tmp_path, "env, lidar = make_environment(0)\nprint(in_child(lambda: run(env, lidar)))")
        == expected[:1]
    )


@needs_fork
def test_a_large_mesh_built_in_a_forked_child(tmp_path):
    """Embree's own threads do not survive the fork either; a big build must not wait for them."""
    body = """
def cast():
    scene = sn.Scene()
    scene.add(sn.shapes.sphere(5.0, subdivisions=7))
    v = np.random.default_rng(0).normal(size=(100_000, 3))
    return hashlib.sha256(sn.RayCaster(scene).cast(np.zeros(3), v).range_m.tobytes()).hexdigest()
print(cast(), in_child(cast), in_child(lambda: in_child(cast)))
"""
    assert len(set(run_program(tmp_path, body))) == 1


@needs_fork
def test_children_of_a_process_whose_threads_are_busy(tmp_path, expected):
    """Fork from one Python thread while another one is sensing."""
    body = """
stop = threading.Event()
def keep_busy():
    env, lidar = make_environment(1)
    while not stop.is_set():
        run(env, lidar, 1)
run_seed(0)
worker = threading.Thread(target=keep_busy)
worker.start()
print(*[in_child(lambda: run_seed(0)) for _ in range(5)])
stop.set()
worker.join()
"""
    assert run_program(tmp_path, body) == [expected[0]] * 5


@pytest.mark.parametrize("method", ["spawn", pytest.param("fork", marks=needs_fork)])
def test_a_pool_of_processes(tmp_path, expected, method):
    body = f"""
with multiprocessing.get_context("{method}").Pool(2) as pool:
    print(*pool.map(run_seed, [0, 1, 0]))
"""
    assert run_program(tmp_path, body) == [*expected, expected[0]]

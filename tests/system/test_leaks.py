"""Memory stays flat: what is dropped is released, Embree's scenes included."""

import json
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads memory as Linux shows it")

# Does the work again and again, and prints the resident memory after each round
PROGRAM = """
import gc, json, resource
import numpy as np
import sensorium as sn

PAGE = resource.getpagesize()

def resident_mb():
    gc.collect()
    return int(open("/proc/self/statm").read().split()[1]) * PAGE / 1e6

{work}

series = []
for _ in range({rounds}):
    for i in range({repeats}):
        work(i)
    series.append(resident_mb())
print(json.dumps(series))
"""


def growth_mb(work: str, rounds: int, repeats: int) -> float:
    """How much memory grew from the second quarter of the rounds to the last, by medians; the first one settles."""
    program = PROGRAM.format(work=work, rounds=rounds, repeats=repeats)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    series = json.loads(done.stdout)
    quarter = rounds // 4
    early, late = series[quarter : 2 * quarter], series[-quarter:]
    return statistics.median(late) - statistics.median(early)


@pytest.mark.slow
def test_environments_come_and_go():
    """Each has a mesh of 5,120 triangles, a lidar, and sees two sweeps: over 1 MB that must come back."""
    work = """
PATTERN = sn.patterns.Spinning(elevation_deg=tuple(np.linspace(10, -20, 16)), columns=256, rate_hz=10)

def work(i):
    scene = sn.Scene()
    scene.add(sn.shapes.sphere(20.0, subdivisions=4), label="shell")
    scene.add(sn.shapes.box(1, 1, 1), body="rotor")
    world = sn.worlds.Kinematic(
        {"rotor": sn.paths.Spin(position=(5, 0, 0), axis=(0, 0, 1), rate=5.0 * (i % 3)),
         "car": sn.paths.Line(start=(0, 0, 0), velocity=(5, 0, 0))}, step_s=0.05)
    env = sn.Environment(scene, world)
    lidar = env.attach(sn.Lidar(pattern=PATTERN), body="car", hide=("rotor",) if i % 2 else ())
    for _ in env.run(duration_s=0.2):
        pass
    assert lidar.read().valid.all()
"""
    assert growth_mb(work, rounds=12, repeats=8) < 3.0


@pytest.mark.slow
def test_bodies_change_their_kind_of_motion():
    """Each change makes a new top scene and drops the old one: some 10 kB, 900 times between the medians."""
    work = """
SCENE = sn.Scene()
MESH = sn.shapes.box(1, 1, 1)
for k in range(3):
    SCENE.add(MESH, body=f"b{k:02d}", pose=sn.Pose((3.0 * k, 0, 0)))
CASTER = sn.RayCaster(SCENE)
MOTIONS = [
    {f"b{k:02d}": sn.Pose.from_euler_deg(np.zeros((knots, 3)), yaw=np.linspace(0, turn, knots)) for k in range(3)}
    for knots, turn in ((2, 0.0), (2, 0.5), (2, 4.0), (3, 40.0))
]

def work(i):
    CASTER.move(MOTIONS[i % 4])
    assert CASTER.cast([0, 0, 5], [0, 0, -1], time=0.5).hit
"""
    assert growth_mb(work, rounds=12, repeats=150) < 3.0


@pytest.mark.slow
def test_casters_with_other_hidden_bodies_come_and_go():
    work = """
MESH = sn.shapes.sphere(1.0, subdivisions=4)

def work(i):
    scene = sn.Scene()
    for k in range(6):
        scene.add(MESH, body=f"b{k}")
    caster = sn.RayCaster(scene, worlds=4)
    for k in range(6):
        caster.cast(np.zeros((4, 3)), [1, 0, 0], worlds=np.arange(4), hide=(f"b{k}",))
"""
    assert growth_mb(work, rounds=12, repeats=30) < 3.0


@pytest.mark.slow
def test_a_long_run_forgets_its_past():
    """States, scans and placements of a run that goes on and on, readings never kept."""
    work = """
SCENE = sn.Scene()
SCENE.add(sn.shapes.sphere(20.0, subdivisions=3))
SCENE.add(sn.shapes.box(1, 1, 1), body="rotor")
WORLD = sn.worlds.Kinematic(
    {"rotor": sn.paths.Spin(position=(5, 0, 0), axis=(0, 0, 1), rate=5.0),
     "car": sn.paths.Circle(center=(0, 0, 0), radius=5, rate=1.0)}, step_s=0.001)
ENV = sn.Environment(SCENE, WORLD, worlds=8)
PATTERN = sn.patterns.Spinning(elevation_deg=(5.0, -5.0), columns=256, rate_hz=100)
LIDAR = ENV.attach(sn.Lidar(pattern=PATTERN), body="car")

def work(i):
    for _ in ENV.run(duration_s=0.02):
        pass
    if i % 10 == 5:
        ENV.reset(np.arange(8) % 2 == 0)
"""
    assert growth_mb(work, rounds=12, repeats=30) < 3.0


@pytest.mark.slow
def test_worlds_are_drawn_anew():
    """64 worlds, half of which restart with other things: each makes a scene of 9 kB, 17 MB between the medians."""
    work = """
from sensorium.qa.benchmarks.rows import scatter

env = scatter.scattered_worlds(64, side=8)
rng = np.random.default_rng(1)

def work(i):
    env.reset(rng.random(64) < 0.5)
    env.step()
"""
    assert growth_mb(work, rounds=12, repeats=10) < 2.0

"""Ctrl-C and SIGTERM at any moment of a loop of one's own: the recording opens, and the environment can go on."""

import subprocess
import sys

import pytest

PROGRAM = """
import random, signal
from pathlib import Path
from mcap.reader import make_reader
import sensorium as sn

scene = sn.Scene()
scene.add(sn.shapes.box(30, 30, 10))
scene.add(sn.shapes.box(1, 1, 1), body="rotor")
world = sn.worlds.Kinematic({"car": sn.paths.Circle((0, 0, 0), radius=5.0, rate=0.5),
                             "rotor": sn.paths.Spin(position=(5, 0, 0), axis=(0, 0, 1), rate=5.0)}, step_s=0.01)
env = sn.Environment(scene, world)
env.attach(sn.Gyroscope(timing=sn.Timing(rate_hz=100)), body="car")
pattern = sn.patterns.Spinning(elevation_deg=tuple(range(-20, 12, 2)), columns=512, rate_hz=50)
env.attach(sn.Lidar(pattern=pattern), body="car")
path = Path("run.mcap")

def record(seconds):
    done = 0
    try:
        with sn.record.McapRecorder(path) as recorder:
            if seconds:
                signal.setitimer(signal.ITIMER_REAL, seconds)
            for _ in env.run(1e6 if seconds else 0.05):
                recorder.record(env)
                done += 1
    except (KeyboardInterrupt, SystemExit) as end:
        assert seconds and getattr(end, "code", 143) == 143
    with path.open("rb") as stream:
        messages = list(make_reader(stream, validate_crcs=True).iter_messages())
    clocks = [message.log_time for _, channel, message in messages if channel.topic == "/clock"]
    assert done <= len(clocks) <= done + 1, (done, len(clocks))

record(None)
random.seed(1)
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(number))
    for _ in range(60):
        record(random.uniform(0.001, 0.01))
"""


@pytest.mark.slow
def test_a_hundred_times_ctrl_c_and_sigterm(tmp_path):
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", PROGRAM], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr

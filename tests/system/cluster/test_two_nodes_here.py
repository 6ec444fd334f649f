"""Two Ray nodes on this machine without namespaces, with temporary folders of their own: parts that spread, and a kill.

What a rack of machines shows in full (the other files of this folder) is shown here in small, where no rights are.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import numpy as np
import pytest

import sensorium as sn

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are found by /proc"),
]

SOURCE = Path(__file__).parents[3] / "src"

# Prints the nodes of the parts and the hash of their hits, again and again
CAST = """\
import hashlib, json, sys
import numpy as np
import sensorium as sn

rng = np.random.default_rng(3)
origin = rng.uniform(-20, 20, (20_000, 3)) * [1, 1, 0] + [0, 0, 5.0]
direction = rng.normal(size=(20_000, 3)) * [1, 1, 0.3] - [0, 0, 0.3]
with sn.cluster.joined(sys.argv[1]), sn.PartitionedCaster(sys.argv[2]) as caster:
    while True:
        digest = hashlib.sha256(caster.cast(origin, direction).range_m.tobytes()).hexdigest()
        print(json.dumps([digest, [node.memory_bytes for node in caster._parts.nodes]]), flush=True)
"""


class Node:
    """A Ray node, all of whose processes name its folder."""

    def __init__(self, folder, *words, memory):
        self.folder = folder
        folder.mkdir()
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("RAY_")},
            "HOME": str(folder),
            "PYTHONPATH": str(SOURCE),
            "SENSORIUM_CACHE_DIR": str(os.environ.get("SENSORIUM_CACHE_DIR") or Path.home() / ".cache" / "sensorium"),
        }
        room = ["--num-cpus=1", f"--memory={memory}", "--object-store-memory=200000000", "--disable-usage-stats"]
        place = ["--node-ip-address=127.0.0.1", f"--temp-dir={folder}"]
        ray = Path(sysconfig.get_path("scripts")) / "ray"
        done = subprocess.run(
            [ray, "start", *words, *room, *place], env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def kill(self):
        own = str(self.folder)
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError, ValueError):
                if own in (entry / "cmdline").read_text() and int(entry.name) != os.getpid():
                    os.kill(int(entry.name), signal.SIGKILL)


def test_parts_spread_and_outlive_a_node():
    port = 6390
    with tempfile.TemporaryDirectory(prefix="nodes-", ignore_cleanup_errors=True) as name:
        folder, started = Path(name), []
        heights = np.random.default_rng(0).uniform(0, 0.6, (60, 60))
        sn.split_scene([sn.SceneObject(sn.shapes.heightfield(heights, 60.0, 60.0))], folder / "parts", parts=2)
        try:
            head = Node(folder / "a", "--head", f"--port={port}", "--include-dashboard=false", memory=3_000_000_000)
            started.append(head)
            other = Node(folder / "b", f"--address=127.0.0.1:{port}", memory=4_000_000_000)
            started.append(other)
            words = [sys.executable, "-c", CAST, f"127.0.0.1:{port}", folder / "parts"]
            caster = subprocess.Popen(words, env=head.environment, stdout=subprocess.PIPE, text=True)
            try:
                before = json.loads(caster.stdout.readline())
                assert sorted(before[1]) == [3_000_000_000, 4_000_000_000]
                other.kill()
                after = before
                while 4_000_000_000 in after[1]:
                    after = json.loads(caster.stdout.readline())
                    assert after[0] == before[0]
                assert after[1] == [3_000_000_000] * 2
            finally:
                caster.kill()
                caster.wait()
        finally:
            for node in started:
                node.kill()

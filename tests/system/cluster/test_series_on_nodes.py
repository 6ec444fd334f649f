"""A series on several machines: no run lost, none doubled, the bytes of one machine, and results where one looks."""

import contextlib
import functools
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sensorium.app.scenario.manifest import Manifest

pytestmark = pytest.mark.slow  # machines are made of namespaces, each with a Ray node of its own

SCENARIO = """\
title: Turning
duration_s: 10.0
world: {kind: replay, file: way.csv, step_s: 0.01}
sensors:
  gyro: {kind: gyroscope, body: car, noise: {std: 0.01}, timing: {rate_hz: 100}}
outputs: {report: false, mcap: true, signals: csv}
"""

WAY = "time_s,body,x,y,z,qw,qx,qy,qz\n0,car,0,0,0,1,0,0,0\n100,car,1,0,0,0.9,0,0,0.43589\n"


def scenario(folder: Path, way: str = WAY) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "way.csv").write_text(way)
    (folder / "turn.yaml").write_text(SCENARIO)
    return folder / "turn.yaml"


def series(count):
    return f"seed={','.join(str(number) for number in range(1, count + 1))}"


def command(file, out, address, count, *more):
    words = ["run", file, "--out", out, "--sweep", series(count), "--cluster", address, *more]
    return [sys.executable, "-m", "sensorium", *words]


def outputs(out, count):
    """Hashes of all files of all runs, each of which is complete and stands once."""
    folders = sorted(path for path in out.iterdir() if path.is_dir())
    assert len(folders) == count, [path.name for path in folders]
    assert len({path.name.split("-")[0] for path in folders}) == count
    return {path.name: Manifest.load(path / "manifest.json").outputs for path in folders}


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The hashes of one process, without a cluster."""
    folder = tmp_path_factory.mktemp("alone")

    @functools.cache
    def of(count):
        file, out = scenario(folder / "here"), folder / f"out-{count}"
        words = [sys.executable, "-m", "sensorium", "run", file, "--out", out, "--sweep", series(count)]
        subprocess.run(words, check=True, capture_output=True, timeout=600)
        return outputs(out, count)

    return of


def test_two_nodes_are_faster_than_one(rack, tmp_path, expected):
    """40 short runs on one node of one core and on two; cold starts are over before. Prints the ratio."""
    file = scenario(tmp_path / "shared")
    machines = rack.nodes(2, cpus=1)
    alone = rack.add()
    alone.start_ray(cpus=1)
    took_s = []
    for used, address in (([alone], f"{alone.address}:6379"), (machines, rack.address)):
        out = tmp_path / f"out-{len(used)}"
        warm = used[0].run(*command(file, tmp_path / f"warm-{len(used)}", address, 4))
        assert warm.returncode == 0, warm.stderr
        done = used[0].run(*command(file, out, address, 40))
        assert done.returncode == 0, done.stderr
        ends = sorted((path / "manifest.json").stat().st_mtime for path in out.iterdir() if path.is_dir())
        busy_s = sum(Manifest.load(path).run["real_s"] for path in out.glob("*/manifest.json"))
        took_s.append(ends[-1] - ends[0])
        print(f"{len(used)} nodes: {took_s[-1]:.1f} s, {busy_s * 39 / 40 / took_s[-1]:.2f} runs at once")
    print(f"ratio {took_s[0] / took_s[1]:.2f}")
    assert outputs(tmp_path / "out-1", 40) == outputs(tmp_path / "out-2", 40) == expected(40)


@pytest.mark.parametrize("how", ["kill", "cut", "driver"])
def test_nothing_is_lost_and_nothing_doubled(rack, tmp_path, expected, how):
    """A node is killed, its cable pulled, or the command killed and given again, in the middle of 40 runs."""
    file, out = scenario(tmp_path / "shared"), tmp_path / "out"
    first, second = rack.nodes(2, cpus=2, RAY_gcs_rpc_server_reconnect_timeout_s="10")
    began = time.monotonic()
    driver = first.start(*command(file, out, rack.address, 40), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while len(list(out.glob("*/manifest.json"))) < 8:
        assert driver.poll() is None, driver.stderr.read()
        time.sleep(0.05)
    if how == "driver":
        inside = Path(f"/proc/{driver.pid}/task/{driver.pid}/children").read_text().split()
        for pid in (driver.pid, *map(int, inside)):
            signal_process(pid)
        driver.wait()
        before = len(list(out.glob("*/manifest.json")))
        driver = first.start(*command(file, out, rack.address, 40), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    else:
        getattr(second, how)()
    told, complaints = driver.communicate(timeout=400)
    print(f"{how}: 40 runs after {time.monotonic() - began:.1f} s; {complaints}")
    assert driver.returncode == 0, complaints
    assert told.count("seed=") == 40
    if how == "driver":
        assert told.count("was there") >= before
    assert outputs(out, 40) == expected(40)
    assert not [path for path in out.iterdir() if path.name.endswith(".part")]


def signal_process(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def test_results_come_to_the_disk_of_the_command(rack, tmp_path, expected):
    """No shared disk: each machine has the scenario on its own; what is read must be there, and the same."""
    first, second = rack.nodes(2)
    for machine in (first, second):
        scenario(machine.disk / "turning")
    file, out = rack.disk / "turning" / "turn.yaml", rack.disk / "out"
    done = first.run(*command(file, out, rack.address, 6))
    assert done.returncode == 0, done.stderr
    assert "results are fetched from sn2 (10.77.0.2)" in done.stderr
    found = outputs(first.disk / "out", 6)
    assert not (second.disk / "out").exists()
    assert list(found.values()) == list(expected(6).values())
    again = first.run(*command(file, out, rack.address, 6))
    assert again.returncode == 0, again.stderr
    assert again.stdout.count("was there") == 6
    shutil.rmtree(first.disk / "out" / "2-seed=3")
    again = first.run(*command(file, out, rack.address, 6))
    assert again.stdout.count("was there") == 5
    assert outputs(first.disk / "out", 6) == found

    # Another file under the same path, and none
    (second.disk / "turning" / "way.csv").write_text(WAY.replace("100,car,1", "100,car,2"))
    done = first.run(*command(file, rack.disk / "other", rack.address, 4))
    assert done.returncode == 2
    assert "sn2 (10.77.0.2) has another" in done.stderr
    assert "way.csv" in done.stderr
    (second.disk / "turning" / "way.csv").unlink()
    done = first.run(*command(file, rack.disk / "other", rack.address, 4))
    assert done.returncode == 2
    assert "sn2 (10.77.0.2) has no" in done.stderr
    done = first.run(*command(file, rack.disk / "other", rack.address, 4, "--skip-nodes"))
    assert done.returncode == 0, done.stderr
    assert "left out: sn2 (10.77.0.2) has no" in done.stderr
    assert len(outputs(first.disk / "other", 4)) == 4

    # Parts lie beside the results, which not all nodes see
    text = SCENARIO.replace("world:", "scene: {parts: 2, objects: [{shape: {kind: box, x: 1, y: 1, z: 1}}]}\nworld:")
    for machine in (first, second):
        scenario(machine.disk / "turning")
        (machine.disk / "turning" / "turn.yaml").write_text(text)
    done = first.sensorium("run", file, "--out", rack.disk / "parted", "--cluster", rack.address)
    assert done.returncode == 2
    assert "sn2 (10.77.0.2) cannot see" in done.stderr


def test_a_lost_head_is_told(rack, tmp_path):
    """The command ends with one line of ours that says how to go on, and none of Ray's; given again, it goes on."""
    file, out = scenario(tmp_path / "shared"), tmp_path / "out"
    head, second = rack.nodes(2)
    driver = second.start(*command(file, out, rack.address, 40), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while len(list(out.glob("*/manifest.json"))) < 4:
        assert driver.poll() is None, driver.stderr.read()
        time.sleep(0.05)
    head.kill()
    began = time.monotonic()
    _, complaints = driver.communicate(timeout=200)
    print(f"a lost head is told after {time.monotonic() - began:.1f} s: {complaints}")
    lines = [line for line in complaints.splitlines() if not line.startswith("sensorium: sn")]
    assert len(lines) == 1, complaints
    assert lines[0].startswith("sensorium: the head of the cluster, 10.77.0.1:6379, has not answered")
    assert "the same command goes on" in lines[0]
    assert driver.returncode == 2

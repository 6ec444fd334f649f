"""Mistakes in setting up a cluster: each is told at once, with the machine and what to do there."""

import re
import shutil
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # machines are made of namespaces, each with a Ray node of its own

SCENARIO = """\
title: Turning
duration_s: 0.5
world: {kind: kinematic, bodies: {car: {kind: line, velocity: [1, 0, 0]}}}
sensors:
  gyro: {kind: gyroscope, body: car, noise: {std: 0.01}, timing: {rate_hz: 100}}
outputs: {report: false, mcap: false, signals: csv}
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "turn.yaml").write_text(SCENARIO)
    return tmp_path / "turn.yaml"


def series(machine, rack, file, *more, seeds="1,2,3,4"):
    out = file.parent / "out"
    words = ("--sweep", f"seed={seeds}", "--out", out, "--cluster", rack.address, *more)
    return machine.sensorium("run", file, *words)


def test_another_version_is_refused_or_left_out(rack, file):
    """A patched copy on the second machine, and no Sensorium at all on the third."""
    first = rack.add()
    first.start_ray()
    package = Path(first.environment["PYTHONPATH"]) / "sensorium"
    patched = rack.folder / "patched"
    shutil.copytree(package, patched / "sensorium", ignore=shutil.ignore_patterns("__pycache__"))
    start = patched / "sensorium" / "__init__.py"
    start.write_text(start.read_text() + "\n# patched\n")
    rack.add(PYTHONPATH=str(patched)).start_ray(head=first)
    broken = rack.folder / "broken"
    (broken / "sensorium").mkdir(parents=True)
    (broken / "sensorium" / "__init__.py").write_text("")
    rack.add(PYTHONPATH=str(broken)).start_ray(head=first)

    told = first.sensorium("cluster", "check", rack.address)
    assert told.returncode == 2
    assert "2 of 3 nodes are not as this machine" in told.stderr
    assert "sn2 (10.77.0.2) has source of sensorium" in told.stderr
    assert "sn3 (10.77.0.3) has no Sensorium that could be asked" in told.stderr
    assert told.stdout.count("the same") == 1
    refused = series(first, rack, file)
    assert refused.returncode == 2
    assert "sn2 (10.77.0.2) has source of sensorium" in refused.stderr
    assert not (file.parent / "out").exists()
    done = series(first, rack, file, "--skip-nodes")
    assert done.returncode == 0, done.stderr
    assert "left out: sn2 (10.77.0.2)" in done.stderr
    assert "left out: sn3 (10.77.0.3)" in done.stderr
    assert len(list((file.parent / "out").glob("*/manifest.json"))) == 4


def test_a_machine_that_is_no_node_is_told_at_once(rack, file):
    rack.nodes(2)
    stranger = rack.add()
    began_s = time.monotonic()
    told = series(stranger, rack, file)
    print(f"no node: told after {time.monotonic() - began_s:.1f} s: {told.stderr}")
    assert time.monotonic() - began_s < 30
    assert told.returncode == 2
    assert told.stderr.count("\n") == 1
    assert "this machine, sn3, is none of its nodes (sn1 (10.77.0.1), sn2 (10.77.0.2))" in told.stderr
    assert f"ray start --address={rack.address}" in told.stderr
    told = stranger.sensorium("cluster", "check", "10.77.0.1:6380")
    assert told.returncode == 2
    assert told.stderr.startswith("sensorium: cluster is '10.77.0.1:6380', which cannot be joined: ")


def give_token(machine, token):
    folder = machine.home / ".ray"
    folder.mkdir(exist_ok=True)
    (folder / "auth_token").write_text(token)
    (folder / "auth_token").chmod(0o600)


def test_tokens_are_shown_and_their_lack_is_told(rack, file):
    """A cluster with a token: none, a wrong one and the right one; then a driver with one in a cluster without."""
    first = rack.add()
    give_token(first, "a" * 64)
    first.start_ray()
    second = rack.add(RAY_AUTH_MODE="token")
    give_token(second, "a" * 64)
    second.start_ray(head=first)
    del second.environment["RAY_AUTH_MODE"]
    done = series(second, rack, file)
    assert done.returncode == 0, done.stderr
    for token, says in ((None, "demands a token"), ("b" * 64, "is not that of 10.77.0.1:6379")):
        (second.home / ".ray" / "auth_token").unlink(missing_ok=True)
        if token:
            give_token(second, token)
        began_s = time.monotonic()
        told = series(second, rack, file, "--force")
        print(f"token {token and token[:4]}: told after {time.monotonic() - began_s:.1f} s: {told.stderr}")
        assert told.returncode == 2
        assert told.stderr.count("\n") == 1
        assert says in told.stderr
        assert "copy ~/.ray/auth_token of its head to ~/.ray/auth_token on sn2" in told.stderr
        assert time.monotonic() - began_s < 60


def test_a_local_start_breaks_no_later_cluster(rack, file):
    """A local cluster, then a head on the same machine, joined by one that knows of no token."""
    first = rack.add()
    done = first.sensorium("run", file, "--out", file.parent / "local", "--cluster", "local")
    assert done.returncode == 0, done.stderr
    assert list(first.home.rglob("*")) == []
    first.start_ray()
    second = rack.add()
    second.start_ray(head=first)
    done = series(second, rack, file)
    assert done.returncode == 0, done.stderr
    assert len(list((file.parent / "out").glob("*/manifest.json"))) == 4

    # A machine that has a token all the same may join a cluster without
    give_token(second, "c" * 64)
    done = series(second, rack, file, "--force")
    assert done.returncode == 0, done.stderr


LIDAR = """\
scene: {objects: [{shape: {kind: box, x: 1, y: 1, z: 1}, pose: {position: [5, 0, 0]}}]}
sensors:
  top: {kind: lidar, body: car, pattern: {kind: spinning, elevation_deg: [0], columns: 36, rate_hz: 10}}
"""


def test_a_cold_node_compiles_before_its_first_run(rack, file):
    file.write_text(SCENARIO.replace("sensors:\n", LIDAR))
    first = rack.add()
    first.start_ray()
    rack.add(SENSORIUM_CACHE_DIR=str(rack.folder / "cold")).start_ray(head=first)
    done = series(first, rack, file)
    print(done.stderr)
    assert done.returncode == 0, done.stderr
    line = r"^sensorium: sn2 \(10.77.0.2\) compiled [1-9]\d* kernels in \d+ s, before its first run$"
    assert re.search(line, done.stderr, re.MULTILINE)
    again = series(first, rack, file, "--force")
    assert "compiled" not in again.stderr

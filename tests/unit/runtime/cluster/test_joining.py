"""Ray, started and joined: nobody but this machine may reach a local one."""

import importlib.util
import logging
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from sensorium.core.errors import MissingExtraError, SpecError
from sensorium.runtime import cluster
from sensorium.runtime.cluster.joining import environment, silence

# Sockets that listen, of all processes started by this one's Ray: local address of each, from /proc
LISTENING = """
import os, signal, pathlib, sys
from sensorium.runtime import cluster

def family(pid):
    tasks = pathlib.Path(f"/proc/{pid}/task").iterdir()
    children = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    return [pid] + [one for child in children for one in family(child)]

def sockets(pid):
    for link in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            target = os.readlink(link)
        except OSError:
            continue
        if target.startswith("socket:["):
            yield target[8:-1]

before = signal.getsignal(signal.SIGTERM)
with cluster.joined(cpus=1):
    ray = cluster.running()
    pids = family(os.getpid()) + [ray.get(ray.remote(lambda: os.getpid()).remote())]
    own = {inode for pid in pids for inode in sockets(pid)}
    for table in ("tcp", "tcp6"):
        for line in pathlib.Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            columns = line.split()
            if columns[3] == "0A" and columns[9] in own:
                print("LISTENS", columns[1].split(":")[0])
handlers = before, signal.getsignal(signal.SIGTERM)
print("ENDED", ray.is_initialized(), os.environ.get("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"), handlers[0] is handlers[1])
"""


# Without importing it: a process that has must not start a local cluster
needs_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed")


def python(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.slow
@needs_ray
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_local_cluster_listens_on_loopback_only():
    lines = python(LISTENING).splitlines()
    listening = [line.split()[1] for line in lines if line.startswith("LISTENS")]
    assert len(listening) >= 4  # the head's services and each worker
    assert set(listening) <= {"0100007F", "0000000000000000FFFF00000100007F"}  # 127.0.0.1, and the same within IPv6
    assert lines[-1] == "ENDED False None True"  # Ray leaves its own handler of SIGTERM


@pytest.mark.slow
@needs_ray
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere Ray keeps to loopback by itself")
def test_a_cluster_that_others_could_reach_is_refused():
    code = (
        "import ray\n"
        "from sensorium import cluster, errors\n"
        "try:\n"
        "    with cluster.joined(cpus=1): print('RUNS')\n"
        "except errors.BackendError as error: print(error, ray.is_initialized())\n"
    )
    told = python(code)
    assert "RUNS" not in told
    assert "do not import ray before" in told
    assert told.strip().endswith("False")


def test_a_process_joins_once(local_cluster):
    with cluster.joined():
        assert cluster.running() is local_cluster
    assert local_cluster.is_initialized()


def test_an_address_is_needed():
    with pytest.raises(SpecError, match="cluster is ''"), cluster.joined(""):
        pass
    with pytest.raises(SpecError, match="cpus is 3 for the cluster 'auto'"), cluster.joined("auto", cpus=3):
        pass


@needs_ray
def test_a_cluster_that_is_not_there_is_told():
    code = (
        "from sensorium import cluster, errors\n"
        "try:\n"
        "    with cluster.joined('127.0.0.1:1'): pass\n"
        "except errors.BackendError as error: print(error)\n"
    )
    assert "cluster is '127.0.0.1:1', which cannot be joined" in python(code)


def test_without_ray_one_is_told_what_to_install(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'sensorium\[cluster\]'"), cluster.joined():
        pass
    with pytest.raises(MissingExtraError, match=r"pip install 'sensorium\[cluster\]'"):
        cluster.running()


def test_all_are_put_back(monkeypatch):
    monkeypatch.setenv("SENSORIUM_A", "1")
    monkeypatch.delenv("SENSORIUM_B", raising=False)
    with environment({"SENSORIUM_A": None, "SENSORIUM_B": "2"}):
        assert "SENSORIUM_A" not in os.environ
        assert os.environ["SENSORIUM_B"] == "2"
    assert os.environ["SENSORIUM_A"] == "1"
    assert "SENSORIUM_B" not in os.environ


def test_messages_are_not_printed(capsys):
    worker = SimpleNamespace(print_to_stdstream=print)
    propagates = logging.getLogger("ray").propagate
    ray = SimpleNamespace(_private=SimpleNamespace(worker=worker))
    with silence(ray):
        worker.print_to_stdstream({"lines": ["a node is lost"]}, ignore_prefix=False)
        logging.getLogger("ray").error("a node is lost")
        logging.getLogger("ray._private.worker").error("a node is lost")
    assert capsys.readouterr() == ("", "")
    worker.print_to_stdstream("back")
    assert capsys.readouterr().out == "back\n"
    assert logging.getLogger("ray").propagate == propagates

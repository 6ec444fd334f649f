"""A rack of machines on this one: each a Ray node in namespaces of its own, with its address, disk, home and cache.

A machine is a process that holds a network, a mount, a process and a host name namespace; whatever runs on it ends with
it. Machines are joined by a bridge in a namespace of its own, so nothing of this machine's network is touched and
nothing is left behind. A link that is cut is a link that is set down.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[3] / "src"

_NAMESPACES = ["unshare", "--net", "--mount", "--pid", "--uts", "--fork", "--kill-child", "--mount-proc"]

# What a machine's environment keeps of this one's: nothing of Ray's, no home, no cache
_KEPT = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "SENSORIUM_EMBREE_LIBRARY", "SENSORIUM_EMBREE_CONFIG")

_PORT = 6379

# A node that no longer answers is given up after about 6 s instead of half a minute
_IMPATIENT = {
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "2000",
    "RAY_health_check_failure_threshold": "3",
}



class Machine:
    """One machine of a rack."""

    def __init__(self, rack: "Rack", number: int, more: dict[str, str]) -> None:
        self.number, self.name, self.address = number, f"sn{number}", f"10.77.0.{number}"
        self.folder = rack.folder / self.name
        self.home, self.disk = self.folder / "home", self.folder / "disk"
        for each in (self.home, self.disk, self.folder / "ray"):
            each.mkdir(parents=True)
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        self.environment = {
            **kept,
            **_IMPATIENT,
            "HOME": str(self.home),
            "PYTHONPATH": str(SOURCE),
            "SENSORIUM_CACHE_DIR": str(rack.kernels),
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_worker_niceness": "0",  # as other work on this machine
            "NO_COLOR": "1",
            "COLUMNS": "200",
            **more,
        }
        # All machines see their own disk under one path
        script = (
            f"hostname {self.name} && ip link set lo up && mount --bind {self.disk} {rack.disk} && echo up && "
            "exec sleep infinity"
        )
        self.keeper, self.pid = _kept(_NAMESPACES, script)
        self._rack = rack

    def command(self, *words: object) -> list[str]:
        """A command that runs on this machine."""
        into = ["nsenter", "-t", str(self.pid), "--net", "--mount", "--pid", "--uts"]
        return [*into, "env", "-i", *(f"{name}={value}" for name, value in self.environment.items()), *map(str, words)]

    def start(self, *words: object, **how: object) -> subprocess.Popen[str]:
        return subprocess.Popen(self.command(*words), text=True, cwd=self._rack.folder, **how)

    def run(self, *words: object, timeout: float = 400.0) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*words), capture_output=True, text=True, timeout=timeout, cwd=self._rack.folder, check=False
        )

    def sensorium(self, *words: object, timeout: float = 400.0) -> subprocess.CompletedProcess[str]:
        return self.run(sys.executable, "-m", "sensorium", *words, timeout=timeout)

    def python(self, code: str, *words: object, timeout: float = 400.0) -> str:
        done = self.run(sys.executable, "-c", code, *words, timeout=timeout)
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    def start_ray(self, *, cpus: int = 1, memory_mb: int = 4000, head: "Machine | None" = None) -> None:
        """Make it a node: the head, or one that joins it."""
        where = [f"--address={head.address}:{_PORT}"] if head else ["--head", f"--port={_PORT}"]
        where += [] if head else ["--include-dashboard=false"]
        room = [f"--num-cpus={cpus}", f"--memory={memory_mb * 10**6}", "--object-store-memory=200000000"]
        at = [f"--node-ip-address={self.address}", f"--temp-dir={self.folder / 'ray'}", "--disable-usage-stats"]
        done = self.run(Path(sysconfig.get_path("scripts")) / "ray", "start", *where, *room, *at)
        assert done.returncode == 0, done.stdout + done.stderr

    def cut(self) -> None:
        """Pull the cable."""
        self._rack.on_switch("ip", "link", "set", f"sw{self.number}", "down")

    def join(self) -> None:
        """Put the cable back."""
        self._rack.on_switch("ip", "link", "set", f"sw{self.number}", "up")

    def kill(self) -> None:
        """Pull the plug: everything on it ends at once."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        self.keeper.wait()


class Rack:
    """Machines that see each other and nothing else."""

    def __init__(self, folder: Path, kernels: Path) -> None:
        self.folder, self.kernels, self.disk = folder, kernels, folder / "disk"
        self.disk.mkdir()
        self.machines: list[Machine] = []
        script = "ip link add rack type bridge && ip link set rack up && echo up && exec sleep infinity"
        self._keeper, self._pid = _kept(["unshare", "--net", "--fork", "--kill-child"], script)

    @property
    def address(self) -> str:
        return f"{self.machines[0].address}:{_PORT}"

    def on_switch(self, *words: object) -> None:
        subprocess.run(["nsenter", "-t", str(self._pid), "--net", *map(str, words)], check=True)

    def add(self, **environment: str) -> Machine:
        """A machine more, which is no node yet."""
        machine = Machine(self, len(self.machines) + 1, environment)
        self.machines.append(machine)
        own = f"sw{machine.number}"
        self.on_switch("ip", "link", "add", own, "type", "veth", "peer", "name", "eth0", "netns", machine.pid)
        self.on_switch("ip", "link", "set", own, "master", "rack", "up")
        for words in (("addr", "add", f"{machine.address}/24", "dev", "eth0"), ("link", "set", "eth0", "up")):
            subprocess.run(machine.command("ip", *words), check=True)
        return machine

    def nodes(self, count: int, *, cpus: int = 1, memory_mb: int = 4000, **environment: str) -> list[Machine]:
        """So many machines as nodes of one cluster, the first its head."""
        machines = [self.add(**environment) for _ in range(count)]
        for machine in machines:
            machine.start_ray(cpus=cpus, memory_mb=memory_mb, head=None if machine is machines[0] else machines[0])
        return machines

    def close(self) -> None:
        for machine in self.machines:
            machine.kill()
        os.kill(self._pid, signal.SIGKILL)
        self._keeper.wait()


def _kept(namespaces: list[str], script: str) -> tuple[subprocess.Popen[str], int]:
    """A process that holds namespaces once its script has said `up`, and the number of the one inside them."""
    words = [*namespaces, "sh", "-c", script]
    keeper = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert keeper.stdout is not None
    assert keeper.stdout.readline() == "up\n"
    return keeper, int(Path(f"/proc/{keeper.pid}/task/{keeper.pid}/children").read_text())


def _rights() -> str:
    """Why machines cannot be made here; empty where they can."""
    if sys.platform != "linux" or not shutil.which("unshare") or not shutil.which("ip"):
        return "machines are made of namespaces of Linux, by unshare and ip"
    words = ["ip", "link", "add", "rk0", "type", "veth", "peer", "name", "rk1"]
    made = subprocess.run([*_NAMESPACES, *words], capture_output=True, check=False)
    return "" if made.returncode == 0 else f"no namespaces may be made here: {made.stderr.decode().strip()}"


@pytest.fixture
def rack():
    """A rack without machines."""
    why = _rights()
    if why:
        pytest.skip(why)
    kernels = Path(os.environ.get("SENSORIUM_CACHE_DIR") or Path.home() / ".cache" / "sensorium")
    # The names of sockets may have 107 characters
    with tempfile.TemporaryDirectory(prefix="rack-", ignore_cleanup_errors=True) as folder:
        made = Rack(Path(folder), kernels)
        try:
            yield made
        finally:
            made.close()

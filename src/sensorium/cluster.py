"""Ray, started on this machine or joined where it runs already."""

import importlib.util
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sensorium.errors import BackendError, MissingExtraError, SpecError

LOCAL = "local"

_LOOPBACK = "127.0.0.1"

# How long to wait for an answer from an address [s]
_PATIENCE_S = 10.0

# Ray's own switch between serving other machines and serving this one alone; it is read when Ray is imported
_SERVE_OTHERS = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"

# A local cluster keeps to itself, reports nothing, and its processes have the priority of this one
_LOCAL_SETTINGS = {_SERVE_OTHERS: "0", "RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}


@contextmanager
def joined(address: str = LOCAL, *, cpus: int | None = None) -> Iterator[None]:
    """Be part of a Ray cluster inside.

    A cluster that this process has joined already is used as it is. What is started here listens on loopback only, and
    ends with the block.

    Args:
        address: `local` starts Ray on this machine; else the address of one that runs, as for `ray.init`:
            `auto`, `host:port`.
        cpus: How many cores a local one offers; by default those that this process may use.
    """
    if not address:
        raise SpecError("cluster is ''; it must be 'local', 'auto' or the address of a Ray cluster")
    if address != LOCAL and cpus is not None:
        raise SpecError(
            f"cpus is {cpus} for the cluster {address!r}; only a local one is started with a number of them"
        )
    if address == LOCAL and "ray" not in sys.modules:
        with _environment(_LOCAL_SETTINGS):
            _imported()
    ray = _imported()
    if ray.is_initialized():
        yield
        return
    try:
        _join(ray, address, cpus)
        yield
    finally:
        ray.shutdown()


def running() -> Any:
    """Ray itself, once this process is part of a cluster."""
    ray = _imported()
    if not ray.is_initialized():
        raise SpecError("this process is in no cluster; do this inside `with sn.cluster.joined():`")
    return ray


def installed() -> None:
    """Raise unless Ray is installed; does not load it."""
    if importlib.util.find_spec("ray") is None:
        raise MissingExtraError("clusters need Ray; pip install 'sensorium[cluster]'")


def _imported() -> Any:
    installed()
    import ray

    return ray


def _join(ray: Any, address: str, cpus: int | None) -> None:
    quiet = {"log_to_driver": False, "configure_logging": False}
    try:
        if address != LOCAL:
            _knock(address)
            ray.init(address=address, **quiet)
            return
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        with _environment(_LOCAL_SETTINGS):
            ray.init(
                address=LOCAL,
                num_cpus=cores if cpus is None else cpus,
                include_dashboard=False,
                _node_ip_address=_LOOPBACK,
                **quiet,
            )
    except (OSError, RuntimeError, ValueError) as error:
        raise BackendError(f"cluster is {address!r}, which cannot be joined: {_first_line(error)}") from None
    at = ray.util.get_node_ip_address()
    if at != _LOOPBACK:
        raise BackendError(
            f"a local Ray would listen on {at}; it must be on {_LOOPBACK}: do not import ray before sensorium starts it"
        )


def _knock(address: str) -> None:
    """Raise OSError unless somebody listens at host:port; Ray by itself would go on trying for minutes."""
    host, colon, port = address.rpartition(":")
    if colon and port.isdigit() and "/" not in host:
        socket.create_connection((host, int(port)), timeout=_PATIENCE_S).close()


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """Variables that hold inside, and for processes started there."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

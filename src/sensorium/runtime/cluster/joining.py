"""Ray, started on this machine or joined if it runs already."""

import importlib.util
import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from sensorium.core.errors import BackendError, MissingExtraError, SpecError
from sensorium.runtime.cluster import head, nodes, tokens
from sensorium.runtime.cluster.probing import probe

LOCAL = "local"

_LOOPBACK = "127.0.0.1"

# Ray's own switch between serving other machines and serving this one alone; it is read when Ray is imported
_SERVE_OTHERS = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"

# A local cluster listens on loopback only, reports nothing, and its processes have the priority of this one
_LOCAL_SETTINGS = {_SERVE_OTHERS: "0", "RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}


@contextmanager
def joined(address: str = LOCAL, *, cpus: int | None = None) -> Iterator[None]:
    """Be part of a Ray cluster inside.

    A cluster that this process has already joined is used as it is. A cluster started here listens on loopback only,
    has a token of its own, and ends with the block. A running cluster is joined from one of its nodes, with the token
    of this machine, if any (RAY_AUTH_TOKEN, RAY_AUTH_TOKEN_PATH, ~/.ray/auth_token).

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
        with environment(_LOCAL_SETTINGS):
            _imported()
    ray = _imported()
    if ray.is_initialized():
        yield
        return
    with ExitStack() as left:
        left.enter_context(silence(ray))
        left.callback(tokens.forget)
        settings: dict[str, str | None] = {**tokens.shown_token()}
        if address == LOCAL:
            settings = {**_LOCAL_SETTINGS, **left.enter_context(tokens.own_token())}
        if threading.current_thread() is threading.main_thread():  # Ray installs a handler and leaves it there
            left.callback(signal.signal, signal.SIGTERM, signal.getsignal(signal.SIGTERM))
        left.callback(head.forget)
        left.callback(nodes.forget)
        left.callback(ray.shutdown)
        with environment(settings):
            tokens.forget()
            _join(ray, address, cpus)
        if address != LOCAL:
            left.enter_context(head.watched(ray))
        yield


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
    try:
        if address != LOCAL:
            probe(address)
            ray.init(address=address, **QUIET)
            return
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        ray.init(
            address=LOCAL,
            num_cpus=cores if cpus is None else cpus,
            include_dashboard=False,
            _node_ip_address=_LOOPBACK,
            **QUIET,
        )
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise BackendError(f"cluster is {address!r}, which cannot be joined: {_told(error)}") from None
    at = ray.util.get_node_ip_address()
    if at != _LOOPBACK:
        raise BackendError(
            f"a local Ray would listen on {at}; it must be on {_LOOPBACK}: do not import ray before sensorium starts it"
        )


def _told(error: BaseException) -> str:
    """Ray's message and its stated cause, in one line."""
    causes = [str(each) or type(each).__name__ for each in (error, error.__cause__) if each is not None]
    return " ".join(": ".join(causes).split())[:400]


@contextmanager
def environment(values: Mapping[str, str | None]) -> Iterator[None]:
    """Variables that hold inside, and for processes started there; None is a variable that is not set."""
    before = {name: os.environ.get(name) for name in values}
    _set(values)
    try:
        yield
    finally:
        _set(before)


def _set(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


# For `ray.init`: output of other processes is not shown, and loggers are left as they are
QUIET = {"log_to_driver": False, "configure_logging": False}


@contextmanager
def silence(ray: Any) -> Iterator[None]:
    """Context manager: Ray prints nothing inside.

    `log_to_driver=False` still leaves messages of nodes about each other, such as a lost one, which a thread of Ray
    prints by a function of its own; and Ray's loggers, which print warnings if logging is not set up.
    """
    worker, logger = ray._private.worker, logging.getLogger("ray")
    before, propagates, nobody = getattr(worker, "print_to_stdstream", None), logger.propagate, logging.NullHandler()
    worker.print_to_stdstream = _print_nothing
    logger.addHandler(nobody)
    logger.propagate = False
    try:
        yield
    finally:
        if before is not None:
            worker.print_to_stdstream = before
        logger.removeHandler(nobody)
        logger.propagate = propagates


def _print_nothing(*what: Any, **how: Any) -> None:
    """Replaces Ray's function."""

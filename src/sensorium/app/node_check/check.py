"""The check before work is distributed: software, files, output folder, cores, memory and kernels of each node.

Nodes with other versions give other bytes, a missing file ends a run after minutes, and an output folder that is not
shared scatters the results over the machines. All three are reported here, before anything runs.
"""

import contextlib
import os
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sensorium.app.node_check import facts as on_nodes
from sensorium.core.errors import BackendError, SpecError
from sensorium.files.plain_files import sha256
from sensorium.runtime.cluster import answers, nodes
from sensorium.runtime.cluster.nodes import Node
from sensorium.tracing.partitioned.software import differing, software

# Time limit for the answer of a node [s]: it starts a process and loads the library
_ANSWER_S = 120.0


@dataclass(frozen=True)
class Checked:
    """A node as it was found.

    Attributes:
        node: Which one.
        wrong: Differences from this machine, in words; empty if there are none.
        cpus: Cores of the machine.
        memory_bytes: Memory of the machine.
        kernels: How many compiled kernels it has.
        sees_out: Whether it sees the folder for results of this machine.
    """

    node: Node
    wrong: str
    cpus: int = 0
    memory_bytes: int = 0
    kernels: int = 0
    sees_out: bool = False


def check_nodes(
    ray: Any,
    *,
    reads: Sequence[Path] = (),
    out: Path | None = None,
    skip: bool = False,
    tell: Callable[[str], None] = lambda line: None,
    found: Callable[[Sequence[Checked]], None] = lambda every: None,
) -> list[Checked]:
    """Query all nodes, and refuse or exclude those that differ from this machine.

    Args:
        ray: The module, in a cluster.
        reads: Files that each node must have, with the bytes that they have here.
        out: Folder for results, which need not exist.
        skip: Whether nodes that differ are left out instead of refused.
        tell: Called for each excluded node, with a line.
        found: Called with all nodes before any is refused.

    Returns:
        The nodes that are used.
    """
    own, files = software(), {str(path.resolve()): sha256(path) for path in reads}
    with _probe(out) as probe:
        every = _asked(ray, own, files, None if probe is None else str(probe))
    found(every)
    bad = [each for each in every if each.wrong]
    if bad and not skip:
        listed = "; ".join(f"{each.node.name} has {each.wrong}" for each in bad)
        raise BackendError(
            f"{len(bad)} of {len(every)} nodes are not as this machine: {listed}; make them alike, or leave them out "
            "with --skip-nodes"
        )
    for each in bad:
        tell(f"left out: {each.node.name} has {each.wrong}")
    nodes.leave_out(each.node.id for each in bad)
    good = [each for each in every if not each.wrong]
    if not good:
        raise BackendError("no node is left: all of them differ from this machine, and all are left out")
    return good


def _asked(ray: Any, own: dict[str, str], files: dict[str, str], probe: str | None) -> list[Checked]:
    there = nodes.alive(ray)
    ray.cloudpickle.register_pickle_by_value(on_nodes)
    try:
        task = ray.remote(on_nodes.facts)
        asked = [
            task.options(num_cpus=0, max_retries=0, scheduling_strategy=nodes.only_on(node)).remote(tuple(files), probe)
            for node in there
        ]
    finally:
        ray.cloudpickle.unregister_pickle_by_value(on_nodes)
    end_s = time.monotonic() + _ANSWER_S
    return [_judged(ray, node, each, own, files, end_s) for node, each in zip(there, asked, strict=True)]


def _judged(ray: Any, node: Node, asked: Any, own: dict[str, str], files: dict[str, str], end_s: float) -> Checked:
    """A node by its answer."""
    if answers.first_done(ray, [asked], within_s=max(0.0, end_s - time.monotonic())) is None:
        return Checked(node, f"not answered within {_ANSWER_S:g} s")
    try:
        facts = ray.get(asked)
    except ray.exceptions.RayError as error:
        return Checked(node, f"not answered: {answers.reason(error)}")
    wrong = [facts["error"]] if "error" in facts else [differing(own, facts["software"])]
    for path, here in files.items():
        there = facts["files"][path]
        if there != here:
            wrong.append(f"no {path!r}" if there is None else f"another {path!r}")
    figures = (facts["cpus"], facts["memory_bytes"], facts["kernels"], facts["sees"])
    return Checked(node, ", ".join(each for each in wrong if each), *figures)


@contextlib.contextmanager
def _probe(out: Path | None) -> Iterator[Path | None]:
    """A file of ours in the folder for results, or in the first folder above it that there is."""
    if out is None:
        yield None
        return
    out = out.resolve()
    folder = next(each for each in (out, *out.parents) if each.is_dir())
    path = folder / f".sensorium-probe-{secrets.token_hex(8)}"
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        raise SpecError(f"--out is {str(out)!r}; nothing can be written there: {error.strerror}") from None
    try:
        yield path
    finally:
        with contextlib.suppress(OSError):
            path.unlink()

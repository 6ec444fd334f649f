"""Copies results of a run from another machine's disk to this one."""

import hashlib
import shutil
import tempfile
from pathlib import Path
from typing import Any

from sensorium.app.scenario.manifest import NAME, Manifest
from sensorium.app.scenario.run import take_in
from sensorium.core.errors import RecordError, in_one_line
from sensorium.runtime.cluster import answers, nodes
from sensorium.runtime.cluster.nodes import Node

# Size of a message [bytes]
_CHUNK = 1 << 25

_PREFIX = "sensorium-run-"


def new_place() -> Path:
    """A folder of this machine that is not there yet, for a run whose results are fetched."""
    return Path(tempfile.mkdtemp(prefix=_PREFIX)) / "run"


def gather(ray: Any, node: Node, place: Path, manifest: Manifest, out: Path) -> None:
    """Fetch a run from a node, and remove it there.

    Args:
        ray: The module, in a cluster.
        node: Where it is.
        place: Its folder there.
        manifest: Of the run, whose hashes the files must have.
        out: Folder for it here.
    """
    on_node = {"num_cpus": 0, "scheduling_strategy": nodes.only_on(node)}
    read = ray.remote(_read).options(**on_node)

    def copy(folder: Path) -> None:
        for name in (*manifest.outputs, *manifest.views, NAME):
            target, digest, at = folder / name, hashlib.sha256(), 0
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("wb") as file:
                while True:
                    try:
                        data: bytes = answers.answer(ray, read.remote(str(place / name), at))
                    except ray.exceptions.RayTaskError as error:
                        where = f"{str(place / name)!r} of {node.name}"
                        raise RecordError(f"{where} cannot be fetched: {in_one_line(error.cause)}") from None
                    file.write(data)
                    digest.update(data)
                    at += len(data)
                    if len(data) < _CHUNK:
                        break
            if digest.hexdigest() != manifest.outputs.get(name, digest.hexdigest()):
                raise RecordError(f"{str(place / name)!r} of {node.name} did not arrive as it was written")

    take_in(out, copy)
    answers.answer(ray, ray.remote(remove_place).options(**on_node).remote(str(place)))


def remove_place(place: str) -> None:
    """Remove a folder that `new_place` named, and no other."""
    made = Path(place).parent
    if made.name.startswith(_PREFIX):
        shutil.rmtree(made, ignore_errors=True)


def _read(path: str, at: int) -> bytes:
    with Path(path).open("rb") as file:
        file.seek(at)
        return file.read(_CHUNK)

"""The nodes of the joined cluster, and which of them are used."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sensorium.runtime.cluster.head import check_head


@dataclass(frozen=True)
class Node:
    """A machine of a cluster.

    Attributes:
        id: Ray's name for it.
        host: Name of the machine.
        address: Where it is on the network.
        cpus: Cores that it offers.
        memory_bytes: Memory that it offers to requests (`ray start --memory`).
        is_own: Whether this process runs on it.
    """

    id: str
    host: str
    address: str
    cpus: int
    memory_bytes: int
    is_own: bool

    @property
    def name(self) -> str:
        """For messages."""
        return f"{self.host} ({self.address})"


# Nodes that are left out, by Ray's names
_left_out: set[str] = set()


def alive(ray: Any) -> list[Node]:
    """All nodes that are there, those left out too, in the order of their hosts."""
    check_head(ray)
    own = ray.get_runtime_context().get_node_id()
    found = [
        Node(
            each["NodeID"],
            each["NodeManagerHostname"],
            each["NodeManagerAddress"],
            int(each["Resources"].get("CPU", 0.0)),
            int(each["Resources"].get("memory", 0.0)),
            each["NodeID"] == own,
        )
        for each in ray.nodes()
        if each["Alive"]
    ]
    return sorted(found, key=lambda node: (node.host, node.address, node.id))


def used(ray: Any) -> list[Node]:
    """Nodes that are there and not left out."""
    return [node for node in alive(ray) if node.id not in _left_out]


def leave_out(ids: Iterable[str]) -> None:
    """Exclude some nodes until the cluster is left."""
    _left_out.update(ids)


def left_out() -> frozenset[str]:
    """The excluded nodes by Ray's ids, to be passed to other processes."""
    return frozenset(_left_out)


def forget() -> None:
    """Leave none out."""
    _left_out.clear()


def rooms(ray: Any) -> dict[str, int]:
    """Unreserved memory of each node by Ray's id [bytes]."""
    # Ray has no public function for the free memory of each node
    free = ray._private.state.available_resources_per_node()
    return {node.id: int(free.get(node.id, {}).get("memory", 0.0)) for node in used(ray)}


def only_on(node: Node) -> Any:
    """Options of a task or an actor that must run on one node."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    return NodeAffinitySchedulingStrategy(node.id, soft=False)

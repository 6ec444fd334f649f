"""Ray clusters, started on this machine or joined: nodes, their memory, and waiting for their answers."""

from sensorium.runtime.cluster.joining import LOCAL, installed, joined, running

__all__ = ["LOCAL", "installed", "joined", "running"]

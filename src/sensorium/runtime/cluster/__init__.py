"""Ray, started on this machine or joined where it runs: nodes, their memory, and what becomes of questions to them."""

from sensorium.runtime.cluster.joining import LOCAL, installed, joined, running

__all__ = ["LOCAL", "installed", "joined", "running"]

"""Every node of a cluster, compared with this machine before anything runs there."""

from sensorium.app.node_check.check import Checked, check_nodes

__all__ = ["Checked", "check_nodes"]

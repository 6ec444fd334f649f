"""Probes a cluster from a separate process before joining it.

Ray itself tries for a minute to find a node on a machine without one, for 20 s to connect with a wrong token, and
prints warnings to the terminal. The separate process gets the same answer within a second or two, without output.
"""

import json
import os
import socket
import subprocess
import sys
from typing import Any

from sensorium.runtime.cluster import tokens

# Time limits for an answer from an address, and for the whole probe [s]
_PATIENCE_S, _LOOK_S = 10.0, 60.0

# Ray's own functions, which may change with its version: then the probe gives no answer, and joining reports the error
_LOOK = """\
import json, sys
found = {}
try:
    from ray._private import services
    from ray._raylet import GcsClient
    address = services.canonicalize_bootstrap_address(sys.argv[1])
    infos = GcsClient(address=address).get_all_node_info(timeout=10)
    alive = {key.hex(): info for key, info in infos.items() if info.state == 0}
    found["nodes"] = sorted(f"{info.node_manager_hostname} ({info.node_manager_address})" for info in alive.values())
    found["here"] = bool(set(services.find_node_ids()) & set(alive))
except (ImportError, AttributeError, TypeError):
    found = {}
except Exception as error:
    found["error"] = f"{type(error).__name__}: {error}"
print(json.dumps(found))
"""


def probe(address: str) -> None:
    """Raise OSError, in one sentence, where joining a cluster from this machine would fail.

    Args:
        address: `auto` or `host:port`; others are not looked at.
    """
    host, colon, port = address.rpartition(":")
    if "/" in address or not (address == "auto" or (colon and port.isdigit())):
        return
    if colon:
        socket.create_connection((host, int(port)), timeout=_PATIENCE_S).close()
    here = socket.gethostname()
    found = _look(address)
    if "InvalidAuthToken" in found.get("error", ""):
        raise OSError(tokens.missing(address, here))
    if "error" in found:
        raise OSError(" ".join(found["error"].split())[:300])
    if found and not found["here"]:
        nodes = ", ".join(found["nodes"]) or "none"
        make = "" if address == "auto" else f", or make it one with `ray start --address={address}`"
        raise OSError(f"this machine, {here}, is none of its nodes ({nodes}); run the command on a node{make}")


def _look(address: str) -> dict[str, Any]:
    """The answer of the other process."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", _LOOK, address],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_LOOK_S,
            check=False,
            env=os.environ | tokens.shown_token(),
        )
    except subprocess.TimeoutExpired:
        return {"error": f"there was no answer within {_LOOK_S:g} s"}
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    try:
        return json.loads(lines[-1]) if lines else {}
    except ValueError:
        return {}

"""A look at a cluster before it is joined, from a process of its own.

Ray by itself tries for a minute to find a node on a machine that is none, for 20 s to be let in with the wrong token,
and writes what it thinks of that to the terminal. The process here is asked the same in a second or two, and quietly.
"""

import json
import os
import socket
import subprocess
import sys
from typing import Any

from sensorium.runtime.cluster import tokens

# How long to wait for an answer from an address, and for the whole look [s]
_PATIENCE_S, _LOOK_S = 10.0, 60.0

# Ray's own functions, which may be others in another version: then nothing is known, and joining tells
_LOOK = """\
import json, sys
told = {}
try:
    from ray._private import services
    from ray._raylet import GcsClient
    address = services.canonicalize_bootstrap_address(sys.argv[1])
    infos = GcsClient(address=address).get_all_node_info(timeout=10)
    alive = {key.hex(): info for key, info in infos.items() if info.state == 0}
    told["nodes"] = sorted(f"{info.node_manager_hostname} ({info.node_manager_address})" for info in alive.values())
    told["here"] = bool(set(services.find_node_ids()) & set(alive))
except (ImportError, AttributeError, TypeError):
    told = {}
except Exception as error:
    told["error"] = f"{type(error).__name__}: {error}"
print(json.dumps(told))
"""


def knock(address: str) -> None:
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
    told = _look(address)
    if "InvalidAuthToken" in told.get("error", ""):
        raise OSError(tokens.missing(address, here))
    if "error" in told:
        raise OSError(" ".join(told["error"].split())[:300])
    if told and not told["here"]:
        nodes = ", ".join(told["nodes"]) or "none"
        make = "" if address == "auto" else f", or make it one with `ray start --address={address}`"
        raise OSError(f"this machine, {here}, is none of its nodes ({nodes}); run the command on a node{make}")


def _look(address: str) -> dict[str, Any]:
    """What the other process found."""
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

"""Ray's tokens: a cluster with a token obeys only processes that present it.

Ray demands a token of every process if its head found one at its start: in RAY_AUTH_TOKEN, in the file that
RAY_AUTH_TOKEN_PATH names, or in ~/.ray/auth_token. From 2.60 on a cluster started in a program writes that last file,
readable by all users of the machine, and the next `ray start --head` demands it of machines that have none. So a local
cluster gets a token of its own here, in a file that only this user can read and that is removed when the cluster ends.
"""

import contextlib
import os
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path

MODE, TOKEN, PATH = "RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"

_DISABLED, _BY_TOKEN = "disabled", "token"


@contextlib.contextmanager
def own_token() -> Iterator[dict[str, str | None]]:
    """Variables for a local cluster with a token of its own; none where RAY_AUTH_MODE turns tokens off.

    The file of the token must stay as long as the cluster: each process that the cluster starts reads it.
    """
    if os.environ.get(MODE, "").lower() == _DISABLED:
        yield {MODE: os.environ[MODE]}
        return
    with tempfile.TemporaryDirectory(prefix="sensorium-token-") as folder:  # mode 700
        path = Path(folder) / "token"
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_hex(32))
        yield {MODE: _BY_TOKEN, PATH: str(path), TOKEN: None}


def shown_token() -> dict[str, str]:
    """Variables for a cluster that is joined: the token that this machine has is shown, if it has any.

    Ray by itself does not look for one where it is given an address. A cluster without tokens does not mind one.
    """
    if MODE in os.environ or not _where():
        return {}
    return {MODE: _BY_TOKEN}


def missing(address: str, host: str) -> str:
    """Instructions for a cluster that refuses this machine's token, or its lack of one."""
    has = _where()
    if os.environ.get(MODE, "").lower() == _DISABLED:
        return f"{address} demands a token, and {MODE} is 'disabled' on {host}; unset it there"
    first = f"the token of {host}, {has}, is not that of {address}" if has else f"{address} demands a token"
    copy = f"copy ~/.ray/auth_token of its head to ~/.ray/auth_token on {host} (mode 600)"
    return f"{first}; {copy}, or name a copy in {PATH} there"


def forget() -> None:
    """Let Ray look at variables and files again: it reads them once in a process."""
    with contextlib.suppress(ImportError, AttributeError):  # Ray before 2.52 has no tokens
        from ray import _raylet

        _raylet.Config.initialize("")  # type: ignore[attr-defined]  # compiled, without types
        _raylet.AuthenticationTokenLoader.instance().reset_cache()  # type: ignore[attr-defined]


def _where() -> str:
    """Location of this machine's token, by Ray's rules; empty without one."""
    if os.environ.get(TOKEN):
        return f"in {TOKEN}"
    named = os.environ.get(PATH)
    path = Path(named) if named else Path.home() / ".ray" / "auth_token"
    return f"in {str(path)!r}" if path.is_file() else ""

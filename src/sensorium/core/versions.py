"""Versions that may change a number: Sensorium's own source, Python and packages."""

import functools
import hashlib
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

# Packages whose version may change a number, where they are installed
_PACKAGES = (
    "sensorium",
    "numpy",
    "scipy",
    "numba",
    "llvmlite",
    "embreex",
    "pillow",
    "DracoPy",
    "pydantic",
    "mcap",
    "rosbags",
    "mujoco",
    "bsk",
)


def installed_versions() -> dict[str, str]:
    """Versions of Sensorium, Python and the packages that may change a number."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


@functools.cache
def source_hash() -> str:
    """SHA-256 of all files of the package but compiled ones, by their paths; 16 hexadecimal digits."""
    root, digest = Path(__file__).parents[1], hashlib.sha256()
    for path in sorted(root.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(root).as_posix()}\0{path.stat().st_size}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]

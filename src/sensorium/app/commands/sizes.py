"""Human-readable file sizes."""

from pathlib import Path


def size_of(path: Path) -> str:
    """Size of a file: 312 bytes, 4.2 kB, 17.0 MB."""
    size = path.stat().st_size
    if size < 1000:
        return f"{size} bytes"
    return f"{size / 1e3:.1f} kB" if size < 1e6 else f"{size / 1e6:.1f} MB"

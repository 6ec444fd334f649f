"""Software properties of a machine that affect the bytes of a result."""

from sensorium.core.versions import installed_versions, source_hash
from sensorium.tracing.embree import library


def software() -> dict[str, str]:
    """Names and values that must be the same on all machines of a cluster: source, versions, width of packets."""
    width = str(library.load().packet_width)
    return {"source of sensorium": source_hash(), **installed_versions(), "packet width": width}


def differing(own: dict[str, str], other: dict[str, str]) -> str:
    """Differences of another machine, in words; empty if there are none."""
    names = sorted({*own, *other})
    return ", ".join(
        f"{name} {other.get(name, 'none')} instead of {own.get(name, 'none')}"
        for name in names
        if own.get(name) != other.get(name)
    )

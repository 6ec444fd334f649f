"""What a node says of itself. Sent as it stands here: the node may have another Sensorium, or none."""

from typing import Any


def facts(paths: tuple[str, ...], probe: str | None) -> dict[str, Any]:
    """What of a machine decides results, and whether it can work on a run.

    Args:
        paths: Files that the run reads.
        probe: A file that the asking process wrote for this.

    Returns:
        `software` as `tracing/partitioned/software.py` tells it, or `error` where there is none; number of `kernels`
        that are compiled; `cpus`; `memory_bytes`; for each of `files` its SHA-256, or None without it; whether it
        `sees` the probe.
    """
    import hashlib
    import os

    told: dict[str, Any] = {"cpus": os.cpu_count() or 1, "memory_bytes": 0, "kernels": 0, "files": {}}
    if hasattr(os, "sched_getaffinity"):
        told["cpus"] = len(os.sched_getaffinity(0))
    if hasattr(os, "sysconf"):
        told["memory_bytes"] = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for path in paths:
        try:
            with open(path, "rb") as file:
                told["files"][path] = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            told["files"][path] = None
    told["sees"] = probe is not None and os.path.isfile(probe)
    try:
        from sensorium.runtime.kernel_cache import cache_folder
        from sensorium.tracing.partitioned.software import software

        told["software"] = software()
        told["kernels"] = len(list(cache_folder().glob("*.nbi")))
    except Exception as error:
        told["error"] = f"no Sensorium that could be asked ({type(error).__name__}: {error})"
    return told

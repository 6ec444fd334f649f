"""Facts of a node about itself. This source is sent to the node, which may have another Sensorium, or none."""

from typing import Any


def facts(paths: tuple[str, ...], probe: str | None) -> dict[str, Any]:
    """Facts of a machine that decide results, and whether it can work on a run.

    Args:
        paths: Files that the run reads.
        probe: A file that the asking process wrote for this.

    Returns:
        `software` as reported by `tracing/partitioned/software.py`, or `error` if there is none; number of `kernels`
        that are compiled; `cpus`; `memory_bytes`; for each of `files` its SHA-256, or None without it; whether it
        `sees` the probe.
    """
    import hashlib
    import os

    found: dict[str, Any] = {"cpus": os.cpu_count() or 1, "memory_bytes": 0, "kernels": 0, "files": {}}
    if hasattr(os, "sched_getaffinity"):
        found["cpus"] = len(os.sched_getaffinity(0))
    if hasattr(os, "sysconf"):
        found["memory_bytes"] = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for path in paths:
        try:
            with open(path, "rb") as file:
                found["files"][path] = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            found["files"][path] = None
    found["sees"] = probe is not None and os.path.isfile(probe)
    try:
        from sensorium.runtime.kernel_folders import cache_folder
        from sensorium.tracing.partitioned.software import software

        found["software"] = software()
        found["kernels"] = len(list(cache_folder().glob("*.nbi")))
    except Exception as error:
        found["error"] = f"no Sensorium that could be asked ({type(error).__name__}: {error})"
    return found

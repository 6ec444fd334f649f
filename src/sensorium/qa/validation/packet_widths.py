"""How far outputs differ between Embree's packets of 16 and of 8 rays, for docs/runtime.md.

    python -m sensorium.qa.validation.packet_widths

Two worlds of the drive of `sample_run`, each width in a process of its own. On a CPU without AVX-512 both have 8.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_NARROW = {"SENSORIUM_EMBREE_CONFIG": "isa=avx2", "SENSORIUM_PREBUILT": "0"}


class Difference(NamedTuple):
    """How far one output of a sensor differs."""

    output: str
    """Name of the sensor, and number of the output in the order of its sample."""
    values: int
    different: int
    largest: float
    """Greatest absolute difference, in the output's own unit."""
    relative: float
    """Greatest difference over the value."""


def differences() -> list[Difference]:
    """Compare all outputs, those that differ by number of values first."""
    with tempfile.TemporaryDirectory() as folder:
        wide, narrow = (_outputs(Path(folder) / f"{len(add)}.npz", add) for add in ({}, _NARROW))
    return sorted((_difference(name, wide[name], narrow[name]) for name in wide), key=lambda one: -one.different)


def _outputs(path: Path, variables: dict[str, str]) -> dict[str, NDArray[Any]]:
    subprocess.run([sys.executable, "-m", __spec__.name, str(path)], env={**os.environ, **variables}, check=True)
    with np.load(path) as arrays:
        return dict(arrays)


def _difference(name: str, wide: NDArray[Any], narrow: NDArray[Any]) -> Difference:
    if wide.shape != narrow.shape:  # one width has a return more
        return Difference(name, wide.size, wide.size, np.inf, np.inf)
    a, b = wide.astype(np.float64), narrow.astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        off = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
        relative = np.where(off > 0.0, off / np.abs(a), 0.0)
    return Difference(name, a.size, int(np.count_nonzero(off)), float(off.max()), float(relative.max()))


def main() -> None:
    """Print the outputs that differ, or save all in a process of one width."""
    if len(sys.argv) > 1:
        from sensorium.qa.validation.sample_run import outputs, samples

        arrays = {}
        for sensor, parts in outputs(worlds=2).items():
            kinds = len(samples()[sensor][1].outputs)
            for number in range(kinds):
                arrays[f"{sensor} {number}"] = np.concatenate([np.ravel(part) for part in parts[number::kinds]])
        np.savez(sys.argv[1], **arrays)
        return
    for one in differences():
        if one.different:
            print(f"{one.output:16} {one.different:7} of {one.values:7}  {one.largest:.2g}  {one.relative:.2g} of it")


if __name__ == "__main__":
    main()

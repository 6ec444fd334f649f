"""A part in its process: built only from the files and by the software that are meant, in the memory that was asked."""

import socket
import subprocess
import sys

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import BackendError, SceneError
from sensorium.tracing.partitioned.part_processes import PartProcess, expected, memory_needed


def split(folder, seed=0, size=20, parts=2):
    heights = np.random.default_rng(seed).uniform(0, 1, (size, size))
    return sn.split_scene([sn.SceneObject(sn.shapes.heightfield(heights, 10.0, 10.0))], folder, parts=parts)


def build(folder, wanted, number=0):
    return PartProcess(str(folder), number, wanted, 1, 1.0).ask("report")


def test_a_part_is_built_from_what_was_split(tmp_path):
    index = split(tmp_path / "parts")
    wanted = expected(tmp_path / "parts")
    reports = [build(tmp_path / "parts", wanted, number) for number in range(2)]
    assert [report.faces for report in reports] == [part.faces for part in index.parts]
    assert {report.host for report in reports} == {socket.gethostname()}
    for report, part in zip(reports, index.parts, strict=True):
        assert report.mesh_bytes == sum(file.mesh_bytes for file in part.files)


def test_what_is_not_the_same_is_refused(tmp_path):
    folder = tmp_path / "parts"
    split(folder)
    wanted, where = expected(folder), f"part 0 of '{folder}' cannot be built on {socket.gethostname()}: "
    file = next((folder / "part-0").iterdir())
    good = file.read_bytes()
    with pytest.raises(BackendError, match=r"it has numpy .* instead of 1.0; install the same there"):
        build(folder, wanted._replace(software={**wanted.software, "numpy": "1.0"}))
    for number in np.random.default_rng(0).integers(0, len(good), 5).tolist():
        file.write_bytes(good[:number] + bytes([good[number] ^ 1]) + good[number + 1 :])
        with pytest.raises(SceneError, match="is another file than was split") as told:
            build(folder, wanted)
        assert str(told.value).startswith(where)
    file.unlink()
    with pytest.raises(SceneError, match="there is no such file"):
        build(folder, wanted)
    file.write_bytes(good)
    build(folder, wanted)
    split(folder, seed=1)
    with pytest.raises(SceneError, match=r"parts.json' is another than that of the asking machine"):
        build(folder, wanted)
    for path in folder.rglob("parts.json"):
        path.unlink()
    with pytest.raises(SceneError, match="every machine must find the parts under the same path"):
        build(folder, wanted)


PEAK = (
    "import resource, sys; from pathlib import Path; "
    "from sensorium.tracing.partitioned.part_processes import PartProcess, expected; "
    "part = PartProcess(sys.argv[1], 0, expected(Path(sys.argv[1])), 1, 1.0); print(part.ask('report').peak_bytes)"
)


@pytest.mark.slow
def test_the_memory_that_is_asked_for_is_enough_and_not_far_too_much(tmp_path):
    for size, parts in ((4, 1), (600, 1), (1500, 2)):
        index = split(tmp_path / "parts", size=size, parts=parts)
        words = [sys.executable, "-c", PEAK, tmp_path / "parts"]
        large = np.ones(2**28, np.uint8)  # of the process that asks, which does not count
        for _ in range(2):  # the first may compile kernels, which nodes do before parts are placed
            peak = int(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
        asked = memory_needed(index.parts[0])
        assert large.all()
        print(f"{index.parts[0].faces} faces: asks for {asked / 1e6:.0f} MB, takes {peak / 1e6:.0f} MB at its peak")
        assert peak < asked < 1.8 * peak

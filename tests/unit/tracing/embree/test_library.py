import subprocess
import sys

import pytest

from sensorium.tracing.embree import library

PROBE = """
import numpy as np
import sensorium as sn
from sensorium.tracing.embree import library, packet
scene = sn.Scene()
scene.add(sn.shapes.sphere(1.0))
rng = np.random.default_rng(0)
d = rng.normal(size=(1000, 3))
hits = sn.RayCaster(scene).cast(np.zeros((1000, 3)), d, coherent=True)
assert hits.hit.all(), hits.hit.mean()
print(library.load().packet_width, packet.WIDTH, round(float(hits.range_m.sum()), 2))
"""


def run(code, **variables):
    import os

    return subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **variables}, capture_output=True, text=True, timeout=300
    )


def test_the_library_is_one_this_package_can_use():
    embree = library.load()
    assert embree.version >= 40400
    assert embree.packet_width in (4, 8, 16)
    assert library.load() is embree


@pytest.fixture(scope="module")
def here():
    """The probe on this machine as it is."""
    return run(PROBE)


@pytest.mark.slow
@pytest.mark.parametrize(("isa", "width"), [("sse2", 4), ("avx2", 8)])
def test_narrower_machines_get_narrower_packets_and_the_same_ranges(here, isa, width):
    there = run(PROBE, SENSORIUM_EMBREE_CONFIG=f"isa={isa}")
    assert there.returncode == 0, there.stderr
    assert there.stdout.split()[:2] == [str(width)] * 2
    assert there.stdout.split()[2] == here.stdout.split()[2]


def test_a_wrong_library_file_is_named():
    done = run("from sensorium.tracing.embree import library; library.load()", SENSORIUM_EMBREE_LIBRARY="missing.so")
    assert done.returncode != 0
    assert "BackendError" in done.stderr
    assert "missing.so" in done.stderr
    assert "embreex" in done.stderr


def test_an_embree_error_is_raised_with_what_was_being_done():
    embree = library.load()
    embree.api.rtcNewGeometry(embree.device, 9999)
    with pytest.raises(library.BackendError, match="while making a strange geometry"):
        embree.check("making a strange geometry")
    embree.check("nothing")  # the error was taken off

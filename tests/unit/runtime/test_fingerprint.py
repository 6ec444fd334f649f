"""The fingerprint of a kernel: flags, constants of other files and the packet width are part of it."""

import os
import subprocess
import sys
import types

from sensorium.runtime import jit
from sensorium.runtime.fingerprint import fingerprint


def test_constants_in_another_file_of_a_third_party_are_part_of_the_fingerprint():
    constants = types.ModuleType("acme.constants")
    scope = {"__name__": "acme.kernels", "constants": constants}
    exec("def scaled(x): return constants.GAIN * x", scope)
    stamps = set()
    for constants.GAIN in (2.0, 3.0, 2.0):
        stamps.add(fingerprint(scope["scaled"], {}))
    assert len(stamps) == 2


def test_flags_are_part_of_the_fingerprint():
    def add(x, y):
        return x + y

    kinds = {fingerprint(add, options) for options in ({}, {"fastmath": True}, {"fastmath": {"nsz"}})}
    assert len(kinds) == 3

    @jit.function
    def called(x):
        return x * x + x

    found = set()
    for inner in (called, jit.inlined(called.py_func)):

        def outer(x):
            return inner(x)  # noqa: B023  # it is looked at at once

        found.add(fingerprint(outer, {}))
    assert len(found) == 2


def test_another_packet_width_has_kernels_of_its_own():
    code = (
        "from sensorium.runtime.fingerprint import fingerprint\n"
        "from sensorium.tracing.embree.packet import WIDTH\n"
        "from sensorium.tracing.kernels.sweep import sweep\n"
        "print(WIDTH, fingerprint(sweep.py_func, {}))"
    )
    words = []
    for config in ("isa=sse4.2", "isa=avx2"):
        variables = {**os.environ, "SENSORIUM_EMBREE_CONFIG": config}
        done = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=True)
        words.append(done.stdout.split())
    assert words[0][0] != words[1][0]
    assert words[0][1] != words[1][1]

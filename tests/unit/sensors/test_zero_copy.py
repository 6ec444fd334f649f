"""Readings are handed on without a copy, nobody writes into one that is held, and nothing imports torch."""

import subprocess
import sys

import numpy as np
import pytest

import sensorium as sn


@pytest.fixture
def env():
    scene = sn.Scene()
    scene.add(sn.shapes.box(1, 1, 1), body="box", label="box")
    world = sn.worlds.Kinematic({"box": sn.paths.Line((3, 0, 0), velocity=(1, 0, 0))}, step_s=0.1)
    return sn.Environment(scene, world, worlds=3, seed=1)


@pytest.fixture
def camera(env):
    lens = sn.patterns.Pinhole.from_fov(8, 6, 60.0, rate_hz=10.0)
    return env.attach(sn.DepthCamera(pattern=lens, outputs={"depth", "segmentation"}))


def test_dlpack_shares_the_memory_of_a_reading(env, camera):
    env.step()
    image = camera.read()
    for array in (image.depth_m, image.segmentation):
        shared = np.from_dlpack(array)
        assert shared.ctypes.data == array.ctypes.data
        assert (shared.shape, shared.dtype) == (array.shape, array.dtype)
        np.testing.assert_array_equal(shared, array)


def test_what_was_handed_on_outlives_the_reading(env, camera):
    """Not the reading but the memory is held: it must not be used for another image while anybody sees it."""
    env.step()
    handed = np.from_dlpack(camera.read().depth_m)
    first = handed.copy()
    addresses = set()
    for _ in range(8):
        env.step()
        addresses.add(camera.read().depth_m.ctypes.data)
        assert camera.read().depth_m.min() > first.min()
    np.testing.assert_array_equal(handed, first)
    assert handed.ctypes.data not in addresses


def test_memory_is_used_again_once_nobody_holds_it(env, camera):
    addresses = []
    for _ in range(12):
        env.step()
        addresses.append(camera.read().depth_m.ctypes.data)
    assert len(set(addresses)) < len(addresses)


def test_nothing_imports_torch():
    code = """
import sys, pathlib, importlib, sensorium as sn
for name in dir(sn):
    getattr(sn, name)
assert not {name.split(".")[0] for name in sys.modules} & {"torch", "jax", "tensorflow", "gymnasium"}
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)

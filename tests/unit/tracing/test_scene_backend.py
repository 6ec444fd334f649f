"""A placement of the scene backend can be cast into again, when the world has gone on."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.frames import Pose
from sensorium.tracing.aim import Aim
from sensorium.tracing.kernels.sweep import Heads, RayTables, SweepOutputs
from sensorium.tracing.scene_backend import scene_backend
from sensorium.tracing.tracer import Tracer
from sensorium.worlds.base import WorldState
from sensorium.worlds.history import History

MS = 1_000_000
RAYS = 700  # more than a block
LIMITS = np.array([0.1, 100.0], np.float32)


def state(time_ns, x):
    """One body at a distance along x."""
    zeros = np.zeros((1, 1, 3))
    none = np.zeros((1, 0))
    return WorldState(time_ns, Pose(np.array([[[x, 0.0, 0.0]]])), zeros, zeros, zeros, zeros, none, none)


@pytest.fixture
def backend():
    """A wall 4 m high on a body that goes from 5 m to 9 m away in 100 ms."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(1.0, 4.0, 4.0), body="wall", label="wall")
    history = History(state(0, 5.5), worlds=1)
    history.be_read()
    history.add(state(100 * MS, 9.5), read=True)
    return scene_backend(scene, 1, ("wall",), history)


def aim():
    """Rays from the origin along x and a little up, all at the start of the interval."""
    slope = np.linspace(0.0, 0.1, RAYS)
    length = np.sqrt(1.0 + slope**2)
    x, y, z = (values.astype(np.float32) for values in (1.0 / length, 0.0 * slope, slope / length))
    matrix = np.eye(3, 4, dtype=np.float32).reshape(1, 1, 12)
    rays = RayTables(x, y, z, np.zeros(RAYS, np.float32), np.zeros((0, 3), np.float32))
    heads = Heads(matrix, np.zeros(1, np.float32), np.zeros(1, np.int32), np.zeros(1, np.float32))
    return Aim(rays, heads, np.zeros((1, 3)), 2, np.zeros(1, np.int64), Pose())


def cast(placement, hide=()):
    """Ranges of these rays."""
    shape = (1, RAYS)
    ids = [np.zeros(shape, np.int32) for _ in range(3)]
    out = SweepOutputs(np.zeros(shape, np.float32), np.zeros((*shape, 3), np.float32), *ids)
    placement.cast_sweep(aim(), hide, LIMITS, None, None, out, in_world=False)
    return out.range_m[0]


def expected(distance_m):
    """Range of the wall's near face."""
    return distance_m * np.sqrt(1.0 + np.linspace(0.0, 0.1, RAYS) ** 2)


def test_a_scene_in_memory_has_a_tracer_that_gives_normals(backend):
    assert isinstance(backend, Tracer)
    assert backend.gives_normals
    backend.close()  # nothing to end


def test_a_placement_is_cast_into_again_when_the_scene_was_placed_otherwise(backend):
    early = backend.placement(0, 0, np.zeros((1, 3)))
    first = cast(early)
    np.testing.assert_allclose(first, expected(5.0), rtol=1e-5)
    late = backend.placement(100 * MS, 100 * MS, np.zeros((1, 3)))
    np.testing.assert_allclose(cast(late), expected(9.0), rtol=1e-5)
    with early.restored():
        np.testing.assert_array_equal(cast(early), first)
    # and the next placement is made again, not taken from what was restored
    np.testing.assert_allclose(cast(backend.placement(100 * MS, 100 * MS, np.zeros((1, 3)))), expected(9.0), rtol=1e-5)


def test_hidden_bodies_are_passed(backend):
    backend.register_hidden(("wall",))
    assert not cast(backend.placement(0, 0, np.zeros((1, 3))), hide=("wall",)).any()


def test_worlds_that_were_redrawn_since_are_named(backend):
    placement = backend.placement(0, 0, np.zeros((1, 3)))
    assert not placement.redrawn_worlds().any()
    backend.redraw(backend.layout, np.ones(1, np.bool_))
    assert placement.redrawn_worlds().all()

"""What an environment hands to its sensors of gravity and magnetism."""

import dataclasses

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.sensors.common.rig import Rig


class Engine(sn.worlds.Static):
    """A world that applies a gravity of its own."""

    def __init__(self, gravity_W):
        super().__init__()
        self.gravity_W = np.array(gravity_W, np.float64)

    def state(self):
        return dataclasses.replace(super().state(), gravity_W=self.gravity_W)


def rig_of(env, monkeypatch):
    """The rig that an attached sensor gets."""
    seen = []
    made = Rig.__init__
    monkeypatch.setattr(Rig, "__init__", lambda self, **fields: (made(self, **fields), seen.append(self))[0])
    pattern = sn.patterns.Spinning(elevation_deg=(0.0,), columns=8, rate_hz=10)
    env.attach(sn.Lidar(pattern=pattern))
    return seen[0]


def environment(world=None, **fields):
    scene = sn.Scene()
    scene.add(sn.shapes.box(1, 1, 1))
    return sn.Environment(scene, world, **fields)


def test_by_default_gravity_is_standard_and_there_is_no_magnetic_field(monkeypatch):
    env = environment()
    assert env.gravity == sn.fields.UniformGravity((0, 0, -9.80665))
    assert env.magnetic is None
    rig = rig_of(env, monkeypatch)
    assert rig.magnetic is None
    np.testing.assert_array_equal(rig.gravity_at(np.zeros((2, 1, 3)), None), np.full((2, 1, 3), (0, 0, -9.80665)))


def test_fields_reach_the_sensors(monkeypatch):
    gravity = sn.fields.PointMassGravity(center=(0, 0, -6378137.0))
    magnetic = sn.fields.UniformMagnetic((20e-6, 0, -44e-6))
    env = environment(gravity=gravity, magnetic=magnetic)
    assert env.gravity is gravity
    assert env.magnetic is magnetic
    rig = rig_of(env, monkeypatch)
    assert rig.magnetic is magnetic
    p_W = np.array([[0.0, 0.0, 100.0], [3.0, 4.0, 5.0]])
    np.testing.assert_array_equal(rig.gravity_at(p_W, None), gravity.at(p_W))


def test_the_world_s_own_gravity_comes_first(monkeypatch):
    env = environment(Engine((0, 0, -1.62)), gravity=sn.fields.UniformGravity((0, 0, -3.7)))
    rig = rig_of(env, monkeypatch)
    p_W = np.ones((4, 2, 3))
    own_W = rig.history.newest.gravity_W
    g_W = rig.gravity_at(p_W, own_W)
    np.testing.assert_array_equal(g_W, np.full((4, 2, 3), (0, 0, -1.62)))
    g_W[...] = 0.0
    np.testing.assert_array_equal(rig.gravity_at(p_W[0, 0], own_W), (0, 0, -1.62))

    # Also where it is none at all
    free = rig_of(environment(Engine((0, 0, 0))), monkeypatch)
    np.testing.assert_array_equal(free.gravity_at(p_W, free.history.newest.gravity_W), np.zeros((4, 2, 3)))


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"gravity": (0, 0, -9.81)}, "gravity is a tuple; it must be a gravity field of sn.fields"),
        ({"gravity": sn.fields.UniformMagnetic((0, 0, 1))}, "gravity is a UniformMagnetic"),
        ({"magnetic": (0, 0, 1)}, "magnetic is a tuple; it must be a magnetic field of sn.fields"),
        ({"magnetic": sn.fields.UniformGravity()}, "magnetic is a UniformGravity"),
    ],
)
def test_what_is_no_field_is_refused(fields, rule):
    with pytest.raises(SpecError, match=rule):
        environment(**fields)

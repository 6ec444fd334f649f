"""Spacecraft in files, as Basilisk flies them."""

from pathlib import Path

import numpy as np
import pytest

from sensorium.app.scenario.basilisk import BasiliskSpec
from sensorium.app.scenario.document import Files
from sensorium.app.scenario.motions import Orbit
from sensorium.core.errors import SpecError
from sensorium.physics.fields import J2Gravity
from sensorium.worlds.basilisk.messages import quaternion_of_mrp

pytest.importorskip("Basilisk")

START = {
    "orbit": {"semi_major_axis_m": 6.9e6, "eccentricity": 0.01, "inclination_deg": 51.6, "true_anomaly_deg": 10},
    "euler_deg": (10, 170, 230),
    "rate": (0.3, -0.1, 0.2),
}


def flown(steps=200, **changed):
    spec = {"mass": 100, "inertia": (10, 10, 14), **START}
    gravity = changed.pop("gravity", {"kind": "point_mass"})
    world = BasiliskSpec(kind="basilisk", step_s=0.05, gravity=gravity, spacecraft={"sat": {**spec, **changed}}).make(
        Files(Path())
    )
    world.start(1)
    for _ in range(steps):
        world.step()
        state = world.state()
    return state


def test_round_a_point_mass_it_flies_as_the_path_of_the_library():
    state = flown()
    motion = Orbit(kind="orbit", inertia_ratio=1.4, **START).make().motion(10.0)
    assert np.allclose(state.X_WB.position[0, 0], motion.pose.position, atol=1e-6)
    assert np.allclose(state.v_WB[0, 0], motion.v_WB, atol=1e-9)
    assert np.allclose(state.w_WB[0, 0], motion.w_WB, atol=1e-8)
    assert abs(state.X_WB.quaternion[0, 0] @ motion.pose.quaternion) == pytest.approx(1.0, abs=1e-12)


def test_the_bulge_pulls_as_our_own_field():
    state = flown(1, gravity={"kind": "j2"})
    position, velocity = state.X_WB.position[0, 0], state.v_WB[0, 0]
    midway = position - 0.025 * velocity
    assert np.allclose(state.gravity_W[0, 0], J2Gravity().at(midway), atol=1e-7)
    assert np.linalg.norm(J2Gravity().at(midway) - J2Gravity(j2=0.0).at(midway)) > 1e-3


def test_forces_push_and_torques_turn():
    quiet, pushed = flown(20, rate=(0, 0, 0)), flown(20, rate=(0, 0, 0), force=(50, 0, 0), torque=(0, 0, 2.8))
    gained = pushed.v_WB[0, 0] - quiet.v_WB[0, 0]
    assert np.linalg.norm(gained) == pytest.approx(0.5, rel=0.01)
    assert np.linalg.norm(pushed.w_WB[0, 0]) == pytest.approx(0.2, rel=1e-6)


def test_attitudes_survive_the_parameters_of_basilisk():
    from sensorium.app.scenario.basilisk import mrp_of

    for quaternion in np.random.default_rng(1).normal(size=(20, 4)):
        unit = quaternion / np.linalg.norm(quaternion)
        assert abs(quaternion_of_mrp(mrp_of(unit)) @ unit) == pytest.approx(1.0)


def test_what_users_may_not_write():
    with pytest.raises(SpecError, match="no moment may exceed the sum of the other two"):
        flown(inertia=(1, 1, 3))
    with pytest.raises(SpecError, match=r"gravity.center is \(1.0, 0.0, 0.0\); Basilisk's planet is at the origin"):
        flown(gravity={"kind": "point_mass", "center": (1, 0, 0)})

"""Free fall and free turning against their laws of conservation and numbers of their own."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from sensorium.core.errors import SpecError
from sensorium.core.rotations import rotation_from_quaternion
from sensorium.worlds.paths import Orbit

MU = 3.986004418e14
START = ((7e6, 1e5, -2e5), (100.0, 5e3, 5.6e3))
TIMES_S = np.array([-700.0, 0.0, 1.0, 500.0, 3000.0, 4321.0, 60_000.0])


def tumbling(ratio=1.4):
    return Orbit(*START, quaternion=(0.5, 0.5, -0.5, 0.5), rate=(0.3, -0.1, 0.2), inertia_ratio=ratio)


def test_it_begins_as_given():
    motion = tumbling().motion(0.0)
    assert np.allclose(motion.pose.position, START[0], rtol=1e-15)
    assert np.allclose(motion.v_WB, START[1], rtol=1e-15)
    R_WB = rotation_from_quaternion(motion.pose.quaternion)
    assert np.allclose(R_WB.T @ motion.w_WB, (0.3, -0.1, 0.2))


def test_energy_and_both_angular_momenta_stay():
    motion = tumbling().motion(TIMES_S)
    p, v = motion.pose.position, motion.v_WB
    energy = 0.5 * (v**2).sum(axis=-1) - MU / np.linalg.norm(p, axis=-1)
    assert np.allclose(energy, energy[1], rtol=1e-13)
    assert np.allclose(np.cross(p, v), np.cross(p, v)[1], rtol=1e-12, atol=1e-3)
    R_WB = rotation_from_quaternion(motion.pose.quaternion)
    w_B = np.einsum("tij,ti->tj", R_WB, motion.w_WB)
    h_W = np.einsum("tij,tj->ti", R_WB, w_B * (1.0, 1.0, 1.4))
    assert np.allclose(h_W, h_W[1], atol=1e-11)
    assert np.allclose(w_B[:, 2], 0.2)


def test_it_falls_as_integrated_step_by_step():
    def fall(_, state):
        return np.concatenate([state[3:], -MU * state[:3] / np.linalg.norm(state[:3]) ** 3])

    end_s = 4321.0
    done = solve_ivp(fall, (0.0, end_s), np.concatenate(START), rtol=1e-12, atol=1e-6, method="DOP853")
    motion = tumbling().motion(end_s)
    assert np.allclose(motion.pose.position, done.y[:3, -1], atol=1e-2)
    assert np.allclose(motion.v_WB, done.y[3:, -1], atol=1e-5)


def test_it_comes_round_after_one_period():
    path = Orbit(*START)
    assert path.period_s == pytest.approx(5880.0, rel=0.05)
    once, twice = path.motion(path.period_s), path.motion(2.0 * path.period_s)
    assert np.allclose(once.pose.position, START[0], atol=1e-5)
    assert np.allclose(twice.pose.position, START[0], atol=1e-5)


def test_derivatives_are_those_of_the_motion():
    path, h = tumbling(), 1e-3
    now, before, after = path.motion(TIMES_S), path.motion(TIMES_S - h), path.motion(TIMES_S + h)
    assert np.allclose((after.pose.position - before.pose.position) / (2 * h), now.v_WB, atol=1e-5)
    assert np.allclose((after.v_WB - before.v_WB) / (2 * h), now.a_WB, atol=1e-8)
    assert np.allclose((after.w_WB - before.w_WB) / (2 * h), now.alpha_WB, atol=1e-7)
    turn = (after.pose @ before.pose.inverse()).quaternion
    turn = np.where(turn[:, :1] < 0.0, -turn, turn)
    assert np.allclose(2.0 * turn[:, 1:] / (2 * h), now.w_WB, atol=1e-6)


def test_an_eccentric_orbit_finds_its_place():
    low = 6.6e6
    speed = np.sqrt(MU * 1.98 / low)  # eccentricity 0.98
    path = Orbit((low, 0, 0), (0, speed, 0))
    t = np.linspace(0.0, path.period_s, 2001)
    motion = path.motion(t)
    energy = 0.5 * (motion.v_WB**2).sum(axis=-1) - MU / np.linalg.norm(motion.pose.position, axis=-1)
    assert np.allclose(energy, energy[0], rtol=1e-9)
    assert np.linalg.norm(motion.pose.position, axis=-1).max() == pytest.approx(low * 1.98 / 0.02, rel=1e-6)


def test_a_batch_of_orbits_is_that_many():
    position = np.array([START[0], (0, 7.2e6, 0)])
    velocity = np.array([START[1], (-7e3, 0, 1e3)])
    both = Orbit(position, velocity, rate=[(0.1, 0, 0.2), (0, 0.3, 0)], inertia_ratio=0.7).motion(np.full(2, 900.0))
    for i in range(2):
        one = Orbit(position[i], velocity[i], rate=[(0.1, 0, 0.2), (0, 0.3, 0)][i], inertia_ratio=0.7).motion(900.0)
        assert np.array_equal(both.pose.position[i], one.pose.position)
        assert np.allclose(both.pose.quaternion[i], one.pose.quaternion, atol=1e-15)
        assert np.allclose(both.alpha_WB[i], one.alpha_WB, atol=1e-15)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"position": (0, 0, 0)}, "where the planet is"),
        ({"velocity": (0, 2e4, 0)}, "leaves for good"),
        ({"mu": 0.0}, "mu is 0.0"),
        ({"inertia_ratio": 2.1}, "inertia_ratio is 2.1"),
        ({"rate": (1, 2)}, "rate has shape"),
    ],
)
def test_what_users_may_not_do(changed, says):
    with pytest.raises(SpecError, match=says):
        Orbit(**{"position": START[0], "velocity": START[1], **changed})

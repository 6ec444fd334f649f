"""The Gymnasium example steps for real: spaces, seeds, flights that end and begin anew, by Gymnasium's own checks."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

gym = pytest.importorskip("gymnasium")
from gymnasium.utils import env_checker  # noqa: E402
from gymnasium.utils.passive_env_checker import check_obs  # noqa: E402
from gymnasium.wrappers.vector import RecordEpisodeStatistics  # noqa: E402

EXAMPLE = Path(__file__).parents[2] / "examples" / "drones_in_a_forest.py"
WORLDS = 8


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("drones_in_a_forest", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def envs(example):
    return example.ForestEnv(WORLDS, trees=20)


def test_gymnasiums_own_checks_pass(envs):
    """Those of `check_env` that a vector environment can be asked; the whole is for single ones."""
    env_checker.check_space_limit(envs.single_action_space, "action")
    env_checker.check_space_limit(envs.single_observation_space, "observation")
    env_checker.check_seed_deprecation(envs)
    env_checker.check_reset_return_info_deprecation(envs)
    env_checker.check_reset_return_type(envs)
    env_checker.check_reset_options(envs)
    env_checker.check_reset_seed_determinism(envs)
    seen, _ = envs.reset(seed=3)
    check_obs(seen, envs.observation_space, "reset")
    for _ in range(3):
        seen, reward, terminated, truncated, info = envs.step(envs.action_space.sample())
        check_obs(seen, envs.observation_space, "step")
        assert seen in envs.observation_space
        assert reward.shape == terminated.shape == truncated.shape == (WORLDS,)
        assert terminated.dtype == truncated.dtype == np.bool_
        assert np.isfinite(reward).all()
        assert isinstance(info, dict)


def test_readings_of_earlier_steps_keep_their_values(envs):
    """Arrays are used again only when nobody holds them."""
    first, _ = envs.reset(seed=1)
    kept = first["depth"].copy()
    for _ in range(8):
        seen = envs.step(np.ones((WORLDS, 3), np.float32))[0]
    np.testing.assert_array_equal(first["depth"], kept)
    assert not np.array_equal(seen["depth"], kept)


def test_a_push_moves_the_drone_by_its_law(envs, example):
    """After a step response of lag and drag, to what five explicit substeps a step leave."""
    envs.reset(seed=2)
    start = envs.drones.position.copy()
    steps, a, lag_s, drag_s = 20, 6.0, example.Drones.lag_s, example.Drones.drag_s
    for _ in range(steps):
        envs.step(np.tile(np.float32([0.0, 0.5, 0.0]), (WORLDS, 1)))
    t = 0.05 * steps
    # v' = a (1 - exp(-t / lag)) - v / drag from rest
    k = 1.0 / (1.0 / drag_s - 1.0 / lag_s)
    speed = 0.5 * a * (drag_s * (1 - np.exp(-t / drag_s)) - k * (np.exp(-t / lag_s) - np.exp(-t / drag_s)))
    alive = envs._steps == steps
    assert alive.sum() > WORLDS // 2
    np.testing.assert_allclose(envs.drones.velocity[alive, 1], speed, rtol=0.02)
    assert (envs.drones.position[alive, 1] > start[alive, 1] + 0.5).all()
    np.testing.assert_allclose(envs.drones.velocity[alive][:, [0, 2]], 0.0, atol=1e-9)


def test_depth_is_that_of_the_ground_where_no_tree_is(envs, example):
    """Level at a height h, a row that looks down by a tangent k has depth h / k."""
    seen, _ = envs.reset(seed=5)
    row = example.HEIGHT - 1
    tangent = (row - 0.5 * (example.HEIGHT - 1)) / (0.5 * example.WIDTH)
    height = envs.drones.position[:, 2]
    expected = height / tangent / example.FAR_M
    deepest = seen["depth"][:, row].max(axis=1)
    np.testing.assert_allclose(deepest, expected, rtol=1e-4)


def test_a_flight_that_ends_begins_anew_in_another_forest(envs):
    """Full speed ahead: every drone crashes or arrives; in the step after, its world has restarted."""
    envs.reset(seed=7)
    before = envs.env.scene.pose.position.copy()
    ended = np.zeros(WORLDS, np.bool_)
    for _ in range(200):
        over_before = envs._over.copy()
        seen, reward, terminated, truncated, _ = envs.step(np.tile(np.float32([1, 0, 0]), (WORLDS, 1)))
        assert not (terminated | truncated)[over_before].any()
        assert (reward[over_before] == 0.0).all()
        np.testing.assert_allclose(seen["velocity"][over_before], 0.0, atol=1e-6)
        assert (np.abs(envs.drones.position[over_before, 0]) <= 1.0).all()
        assert (reward[terminated] != 0.0).all()
        ended |= over_before
        if ended.all():
            break
    assert ended.all()
    moved = np.abs(envs.env.scene.pose.position - before).max(axis=(1, 2))
    assert (moved > 1.0).all()


def test_a_flight_is_cut_off_and_counted_by_gymnasiums_wrapper(example):
    envs = RecordEpisodeStatistics(example.ForestEnv(3, trees=1, most_steps=4))
    envs.reset(seed=1)
    for step in range(1, 11):
        *_, truncated, info = envs.step(np.zeros((3, 3), np.float32))
        assert truncated.all() == (step % 5 == 4)
        if step % 5 == 4:
            assert info["episode"]["l"].tolist() == [4, 4, 4]


def test_the_plain_policy_gets_through(example):
    envs = example.ForestEnv(16, trees=15)
    seen, _ = envs.reset(seed=11)
    arrived = ended = 0
    for _ in range(270):
        seen, _, terminated, truncated, info = envs.step(example.steer(seen))
        arrived, ended = arrived + info["arrived"].sum(), ended + (terminated | truncated).sum()
    assert ended >= 16
    assert arrived > 0.6 * ended


def test_one_seed_is_one_flight(envs):
    """Gymnasium's own check of this wants single environments."""
    flights = []
    for seed in (3, 3, 4):
        envs.reset(seed=seed)
        flights.append([envs.step(np.tile(np.float32([1, 0, 0]), (WORLDS, 1)))[:4] for _ in range(40)])
    assert env_checker.data_equivalence(flights[0], flights[1], exact=True)
    assert not env_checker.data_equivalence(flights[0], flights[2])

"""Adaptive cruise control: its law, whom it follows, and the closed loop."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.app.controllers import AdaptiveCruise
from sensorium.app.controllers.adaptive_cruise import Follower
from sensorium.core.errors import SpecError

CRUISE = AdaptiveCruise(body="car", radar="radar", set_speed_m_s=30.0)


def test_a_free_road_gives_the_set_speed_and_the_wanted_gap_is_an_equilibrium():
    assert CRUISE.acceleration(30.0, None) == 0.0
    assert CRUISE.acceleration(20.0, None) == CRUISE.most_m_s2
    assert CRUISE.acceleration(20.0, 5.0 + 1.6 * 20.0, 0.0) == pytest.approx(0.0)
    assert CRUISE.acceleration(20.0, 10.0, -8.0) == -CRUISE.brake_m_s2
    assert CRUISE.acceleration(30.0, 500.0, 5.0) == 0.0  # never faster than the set speed


def test_rows_of_such_cars_pass_on_less_than_the_first_does():
    """|G(i w)| <= 1 of the linear law, from the speed ahead to one's own."""
    w = 1j * np.logspace(-3, 2, 400)
    k_d, k_r, h = CRUISE.gap_gain_per_s2, CRUISE.rate_gain_per_s, CRUISE.time_gap_s
    gain = (k_r * w + k_d) / (w**2 + (k_r + k_d * h) * w + k_d)
    assert np.abs(gain).max() <= 1.0 + 1e-9


def test_the_follower_takes_up_what_moves_keeps_it_when_it_stops_and_lets_go_in_the_end():
    follower = Follower()
    follower.update([40.0], [-20.0], 20.0, 0.1)  # a post: stands still
    assert follower.range_m is None
    follower.update([40.0, 60.0], [-20.0, -2.0], 20.0, 0.1)
    assert follower.range_m == 60.0
    for step in range(1, 120):
        speed = max(18.0 - 0.2 * step, 0.0)  # the car ahead stops, ours goes on at 20
        expected = follower.range_m + follower.rate_m_s * 0.1
        follower.update([expected, 15.0], [speed - 20.0, -20.0], 20.0, 0.1)
    assert follower.rate_m_s == pytest.approx(-20.0, abs=0.1)
    for _ in range(7):
        assert follower.range_m is not None
        follower.update([], [], 20.0, 0.1)
    assert follower.range_m is None


@pytest.mark.parametrize("speed_m_s", [8.0, 0.0])
def test_the_closed_loop_ends_at_the_wanted_gap(speed_m_s):
    scene = sn.Scene()
    scene.add(sn.shapes.box(4.0, 1.8, 1.4), pose=sn.Pose((2.0, 0.0, 0.0)), body="lead", label="car")
    world = sn.worlds.Commanded(
        {"car": sn.Pose(), "lead": sn.Pose((50.0, 0.0, 0.0))},
        velocities={"car": (15.0, 0, 0), "lead": (12.0, 0, 0)},
        step_s=0.05,
    )
    env = sn.Environment(scene, world, seed=2)
    chirp = sn.radar.Chirp(bandwidth_hz=150e6, ramp_s=24e-6, samples=96, chirps=32)
    timing = sn.Timing(rate_hz=10.0)
    env.attach(sn.Radar(source="cone", chirp=chirp, antennas=4, timing=timing), body="car", name="radar")
    cruise = CRUISE.start(env)
    for _ in env.run(25.0):
        slower = max(speed_m_s, 12.0 - 1.5 * max(env.time_s - 4.0, 0.0))
        world.command("lead", velocity=(slower, 0.0, 0.0))
        cruise.step(env)
    gap_m = env.state.X_WB.position[0, 1, 0] - env.state.X_WB.position[0, 0, 0]
    assert env.state.v_WB[0, 0, 0] == pytest.approx(speed_m_s, abs=0.4)
    assert gap_m == pytest.approx(5.0 + 1.6 * speed_m_s, abs=1.5)
    assert min(gap for gap in cruise.log.gap_m if np.isfinite(gap)) > 3.0


def test_what_is_not_there_is_refused():
    env = sn.Environment(sn.Scene(), sn.worlds.Commanded({"car": sn.Pose()}))
    with pytest.raises(SpecError, match="radar is 'radar'; the sensors are none"):
        CRUISE.start(env)
    env.attach(sn.Imu(timing=sn.Timing(rate_hz=10.0)), body="car", name="imu")
    with pytest.raises(SpecError, match="radar is 'imu', of kind Imu; it must be a Radar"):
        AdaptiveCruise(body="car", radar="imu", set_speed_m_s=10.0).start(env)
    env.attach(sn.Radar(), body="car", name="radar")
    with pytest.raises(SpecError, match="bodies that take commands are car"):
        AdaptiveCruise(body="van", radar="radar", set_speed_m_s=10.0).start(env)

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from sensorium.core.errors import SpecError
from sensorium.corruption import TemperatureDrift


def _series(model, times_s, signal=(0.0,)):
    x = np.tile(np.asarray(signal, float), (len(times_s), 1))
    times_ns = np.round(1e9 * np.asarray(times_s)).astype(int)
    return model.series(x, times_ns=times_ns, state=model.init((x.shape[1],), seed=1))[0]


def test_bias_and_scale_follow_the_temperature():
    model = TemperatureDrift(
        bias_per_k=(0.1, 0.0, -0.2), scale_per_k=(0.0, 0.01, 0.01), reference_c=20.0, ambient_c=50.0
    )
    out = _series(model, [0.0], (1.0, 2.0, 3.0))[0]
    np.testing.assert_allclose(out, [1.0 + 3.0, 2.0 * 1.3, 3.0 * 1.3 - 6.0], rtol=1e-14)


def test_at_the_reference_temperature_nothing_happens():
    out = _series(TemperatureDrift(bias_per_k=1.0, scale_per_k=1.0), np.arange(5.0), (7.0,))
    assert (out == 7.0).all()


def test_a_profile_is_straight_between_its_points_and_level_beyond():
    times, values = (10.0, 20.0, 50.0), (0.0, 30.0, -30.0)
    model = TemperatureDrift(bias_per_k=1.0, reference_c=0.0, times_s=times, ambient_c=values)
    at = np.array([0.0, 10.0, 12.5, 20.0, 21.0, 35.0, 49.9, 50.0, 80.0])
    np.testing.assert_allclose(_series(model, at)[:, 0], np.interp(at, times, values), atol=1e-12)


def test_a_sensor_warms_up_as_a_first_order_lag_however_samples_follow():
    at = np.concatenate([[0.0], np.cumsum(np.random.default_rng(1).exponential(5.0, 40))])
    model = TemperatureDrift(bias_per_k=1.0, reference_c=0.0, ambient_c=20.0, self_heating_k=12.0, tau_s=60.0)
    np.testing.assert_allclose(_series(model, at)[:, 0], 32.0 - 12.0 * np.exp(-at / 60.0), rtol=1e-9)
    model.start_c = -40.0
    np.testing.assert_allclose(_series(model, at)[:, 0], 32.0 - 72.0 * np.exp(-at / 60.0), rtol=1e-9)


def test_without_a_lag_it_is_warm_at_once():
    out = _series(TemperatureDrift(bias_per_k=1.0, reference_c=0.0, ambient_c=20.0, self_heating_k=12.0), [0.0, 9.0])
    np.testing.assert_array_equal(out[:, 0], [32, 32])


def test_a_lag_behind_a_changing_profile_solves_its_equation():
    times, values = (0.0, 30.0, 40.0, 100.0), (20.0, 50.0, 50.0, -10.0)
    at = np.arange(0.0, 130.0, 2.5)
    model = TemperatureDrift(
        bias_per_k=1.0, reference_c=0.0, times_s=times, ambient_c=values, self_heating_k=5.0, tau_s=15.0
    )
    solved = solve_ivp(
        lambda t, y: (np.interp(t, times, values) + 5.0 - y) / 15.0,
        (0, 130),
        [20.0],
        t_eval=at,
        rtol=1e-10,
        atol=1e-10,
        max_step=0.5,
    )
    np.testing.assert_allclose(_series(model, at)[:, 0], solved.y[0], atol=1e-5)


def test_each_world_warms_up_from_its_own_reset():
    model = TemperatureDrift(bias_per_k=1.0, reference_c=0.0, ambient_c=20.0, self_heating_k=10.0, tau_s=10.0)
    state = model.init((2, 1), seed=1)
    _, state = model.series(np.zeros((10, 2, 1)), times_ns=10**9 * np.arange(10), state=state)
    state.program.restart(state, np.array([True, False]))
    out, _ = model.apply(np.zeros((2, 1)), time_ns=10 * 10**9, state=state)
    np.testing.assert_allclose(out[:, 0], [20.0, 30.0 - 10.0 * np.exp(-1.0)], rtol=1e-12)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"ambient_c": (1.0, 2.0)}, "ambient_c has 2 and times_s 0 values"),
        ({"ambient_c": (1.0, 2.0), "times_s": (1.0,)}, "as many times as temperatures"),
        ({"ambient_c": ()}, "as many times as temperatures"),
        ({"ambient_c": 1.0, "times_s": (0.0,)}, "ambient_c has one and times_s 1 values"),
        ({"ambient_c": (1.0, 2.0), "times_s": (1.0, 1.0)}, "it must increase"),
        ({"tau_s": 0.0}, "TemperatureDrift.tau_s is 0"),
        ({"start_c": 5.0}, "start_c is 5 without tau_s"),
        ({"ambient_c": float("nan")}, "ambient_c"),
    ],
)
def test_what_is_no_temperature_is_refused(fields, message):
    with pytest.raises(SpecError, match=message):
        TemperatureDrift(bias_per_k=1.0, **fields)

import copy
import pickle

import numpy as np
import pytest

from sensorium import corruption
from sensorium.core.errors import SpecError
from sensorium.corruption import Bias, BiasInstability, Chain, Corruption, GaussMarkov, Quantize, Saturate, White
from sensorium.corruption.engine.base import Grid, Layout

# One of each kind, as a user would write it
EXAMPLES = {
    "bias": {"value": (0.1, 0.2, 0.3), "std": 0.5},
    "bias_instability": {"instability": (0.1, 0.2, 0.3), "tau_min_s": 2.0, "tau_max_s": 300.0},
    "bounded_walk": {"bound": 1.0, "density": 0.1, "method": "truncate"},
    "chain": {"parts": [{"kind": "bias", "value": 1.0}, {"kind": "chain", "parts": [{"kind": "white", "std": 2.0}]}]},
    "coupling": {"matrix": 0.1 * np.eye(3), "source_column": 0},
    "drift": {"rate": (0.1, 0.2, 0.3), "final": 1.0, "tau_s": 0.1, "density": 0.2},
    "gauss_markov": {"std": 0.1, "tau_s": (10.0, 20.0, 30.0)},
    "intermittent_bias": {"value": (0.1, 0.2, 0.3), "period_s": 0.05, "switching": "periodic"},
    "linear_process": {"propagation": [[0.9, 0.1, 0], [0, 0.9, 0], [0, 0, 0.5]], "covariance": (1.0, 2.0, 3.0)},
    "low_pass": {"cutoff_hz": 10.0, "poles": 2},
    "noise": {"std": (0.1, 0.1, 0.2), "walk": 0.01, "bound": 1.0, "bound_method": "reflect"},
    "nonlinearity": {"full_scale": 10.0, "second": 0.001},
    "overflow": {"min": (-1.0, -1.0, -0.9), "max": 1.0},
    "quantize": {"bits": 12, "min": -1.0, "max": 1.0, "rounding": "to_zero", "carry_error": True},
    "random_walk": {"density": 0.1},
    "saturate": {"min": (-1.0, -1.0, -0.9), "max": 1.0, "check": "average"},
    "scale": {"error": 0.01, "cross_axis": 0.02},
    "temperature_drift": {"bias_per_k": 0.1, "times_s": (0.0, 10.0), "ambient_c": (20.0, 40.0), "tau_s": 3.0},
    "white": {"density": 0.1, "sided": "two", "law": "laplace"},
}

RANDOM = {"bias", "bias_instability", "bounded_walk", "chain", "drift", "gauss_markov", "linear_process", "noise"}
RANDOM |= {"random_walk", "white"}


def _made(kind):
    return Corruption.kinds[kind](**EXAMPLES[kind])


def _series(model, shape=(3,), samples=40, *, seed=1, name="signal", **options):
    state = model.init(shape, seed=seed, name=name, period_s=0.01, **options)
    signals = np.broadcast_to(np.linspace(-2, 2, samples).reshape(-1, *[1] * len(shape)), (samples, *shape))
    return model.series(signals, times_ns=10_000_000 * np.arange(samples), state=state)[0]


def test_every_kind_of_error_has_an_example_here_and_a_public_name():
    ours = {kind for kind, cls in Corruption.kinds.items() if cls.__module__.split(".")[-1] in OURS}
    assert ours == set(EXAMPLES)
    for kind in EXAMPLES:
        assert Corruption.kinds[kind].__name__ in corruption.__all__


OURS = {
    "bias",
    "bounded_walk",
    "chain",
    "couple",
    "drift",
    "flicker",
    "gauss_markov",
    "low_pass",
    "noise",
    "nonlinearity",
    "process",
}
OURS |= {"intermittent_bias", "overflow", "quantize", "random_walk", "saturate", "scale", "temperature", "white"}


@pytest.mark.parametrize("kind", EXAMPLES)
def test_data_and_back_is_the_same_corruption_with_the_same_bytes(kind):
    model = _made(kind)
    again = type(model).model_validate(model.model_dump())
    from_text = type(model).model_validate_json(model.model_dump_json())
    in_a_chain = Chain.model_validate({"parts": [model.model_dump()]}).parts[0]
    assert model == again == from_text == in_a_chain == copy.deepcopy(model) == pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(_series(model), _series(again))


@pytest.mark.parametrize("kind", EXAMPLES)
def test_samples_one_by_one_are_those_of_a_series(kind):
    model = _made(kind)
    rng = np.random.default_rng(4)
    signals, times = rng.normal(size=(30, 2, 3)), np.cumsum(rng.integers(1, 30_000_000, 30))
    whole, end = model.series(signals, times_ns=times, state=model.init((2, 3), seed=5, period_s=0.01))
    state = model.init((2, 3), seed=5, period_s=0.01)
    for k in range(30):
        out, state = model.apply(signals[k], time_ns=int(times[k]), state=state)
        np.testing.assert_array_equal(out, whole[k])
    np.testing.assert_array_equal(state.values, end.values)
    assert (state.tick, state.time_ns) == (end.tick, end.time_ns) == (30, times[-1])


@pytest.mark.parametrize("kind", EXAMPLES)
def test_nothing_given_is_changed_and_a_state_can_be_used_twice(kind):
    model = _made(kind)
    signal, state = np.array([0.3, -0.4, 0.5]), model.init((3,), seed=5, period_s=0.01)
    _, state = model.apply(signal, time_ns=0, state=state)
    before = copy.deepcopy(state.values)
    first, _ = model.apply(signal, time_ns=10_000_000, state=state)
    second, _ = model.apply(signal, time_ns=10_000_000, state=state)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(signal, [0.3, -0.4, 0.5])
    np.testing.assert_array_equal(state.values, before)
    assert (state.tick, state.time_ns) == (1, 0)


@pytest.mark.parametrize("kind", EXAMPLES)
def test_eight_worlds_are_eight_single_runs(kind):
    model = _made(kind)
    whole = _series(model, (8, 3))
    for world in range(8):
        np.testing.assert_array_equal(_series(model, (3,), first_world=world), whole[:, world])
        np.testing.assert_array_equal(_series(model, (1, 3), first_world=world)[:, 0], whole[:, world])
    if kind in RANDOM:
        assert len(np.unique(whole[-1])) > 20


@pytest.mark.parametrize("kind", EXAMPLES)
def test_worlds_and_sensors_make_a_batch_and_each_sensor_has_its_own_draws(kind):
    model = _made(kind)
    whole = _series(model, (5, 4, 3))
    assert whole.shape == (40, 5, 4, 3)
    np.testing.assert_array_equal(_series(model, (2, 4, 3), first_world=3), whole[:, 3:])
    np.testing.assert_array_equal(_series(model, (5, 1, 3))[:, :, 0], whole[:, :, 0])
    if kind in RANDOM:
        assert len(np.unique(whole[-1])) > 50
    else:
        np.testing.assert_array_equal(whole, np.broadcast_to(whole[:, :1, :1], whole.shape))


@pytest.mark.parametrize("kind", EXAMPLES)
def test_off_does_nothing_even_where_something_on_would_be_refused(kind):
    model = _made(kind)
    model.on = False
    state = model.init((3,), seed=1)
    out, _ = model.apply([1.0, 2.0, 3.0], time_ns=0, state=state)
    np.testing.assert_array_equal(out, [1, 2, 3])


@pytest.mark.parametrize("kind", EXAMPLES)
def test_one_channel_and_none_at_all(kind):
    fields = {name: value for name, value in EXAMPLES[kind].items() if name != "parts"}
    for name in PER_CHANNEL & fields.keys():
        fields[name] = fields[name][0] if isinstance(fields[name], tuple) else fields[name]
    fields |= {"linear_process": {"propagation": 0.9}, "coupling": {"matrix": [[0.1]]}}.get(kind, {})
    model = Corruption.kinds[kind](**fields)
    single, _ = model.apply(0.25, time_ns=0, state=model.init((), seed=1, period_s=0.01))
    row, _ = model.apply([0.25], time_ns=0, state=model.init((1,), seed=1, period_s=0.01))
    assert np.shape(single) == ()
    assert float(single) == row[0]
    empty, state = model.series(np.zeros((0, 1)), times_ns=[], state=model.init((1,), seed=1, period_s=0.01))
    assert empty.shape == (0, 1)
    assert state.tick == 0


PER_CHANNEL = {"value", "rate", "std", "instability", "tau_s", "covariance", "min", "max"}


@pytest.mark.parametrize("kind", sorted(RANDOM))
def test_names_and_seeds_make_independent_errors(kind):
    # physics.md E-32: accelerometer and gyroscope of Basilisk share one seed, and so their noise
    model = _made(kind)
    accelerometer, gyroscope = _series(model, name="accelerometer"), _series(model, name="gyroscope")
    other_seed = _series(model, name="accelerometer", seed=2)
    np.testing.assert_array_equal(accelerometer, _series(model, name="accelerometer"))
    for other in (gyroscope, other_seed):
        assert (accelerometer[1:] != other[1:]).all()


def test_two_threads_give_the_same_bytes_as_one():
    from sensorium.runtime import worker_pool

    chain = Chain([_made(kind) for kind in sorted(RANDOM)])
    before = worker_pool.get_threads()
    try:
        worker_pool.set_threads(1)
        alone = _series(chain, (700, 3), 50)
        worker_pool.set_threads(2)
        np.testing.assert_array_equal(_series(chain, (700, 3), 50), alone)
    finally:
        worker_pool.set_threads(before)


@pytest.mark.parametrize(
    ("signal", "shape", "message"),
    [
        ([1.0, float("nan"), 3.0], (3,), r"the signal is nan at \(1,\); every value must be finite"),
        ([1.0, float("inf"), 3.0], (3,), "the signal is inf"),
        ([1.0, 2.0], (3,), r"shape \(2,\); it must have \(3,\)"),
        ([[1.0, 2.0, 3.0]], (3,), r"shape \(1, 3\); it must have \(3,\)"),
    ],
)
def test_signals_that_are_not_finite_or_have_another_shape_are_refused(signal, shape, message):
    model = White(std=1.0)
    with pytest.raises(SpecError, match=message):
        model.apply(signal, time_ns=0, state=model.init(shape, seed=1))


@pytest.mark.parametrize("later", [5, 4, -1])
def test_time_must_increase(later):
    model = White(std=1.0)
    state = model.init((1,), seed=1)
    _, state = model.apply([0.0], time_ns=5, state=state)
    with pytest.raises(SpecError, match=f"time_ns is {later} after 5"):
        model.apply([0.0], time_ns=later, state=state)
    with pytest.raises(SpecError, match=r"time 2 is .* times must increase"):
        model.series(np.zeros((3, 1)), times_ns=[10, 20, 20], state=state)


@pytest.mark.parametrize("time", [0.5, [1, 2]])
def test_times_are_whole_nanoseconds(time):
    model = White(std=1.0)
    with pytest.raises(SpecError, match=r"time_ns is .*; it must be a whole number"):
        model.apply([0.0], time_ns=time, state=model.init((1,), seed=1))
    with pytest.raises(SpecError, match="must be whole numbers in one row"):
        model.series([[0.0]], times_ns=[time], state=model.init((1,), seed=1))


def test_series_are_checked_like_samples():
    model = White(std=1.0)
    with pytest.raises(SpecError, match=r"the signal is nan at \(0, 1\); every value must be finite"):
        model.series([[1.0, float("nan"), 3.0]], times_ns=[0], state=model.init((3,), seed=1))
    with pytest.raises(SpecError, match=r"shape \(1, 2\); it must have \(1, 3\)"):
        model.series([[1.0, 2.0]], times_ns=[0], state=model.init((3,), seed=1))


@pytest.mark.parametrize("shape", [(2, 2, 2, 2), (0,), (3, 0)])
def test_shapes_are_channels_worlds_and_sensors(shape):
    with pytest.raises(SpecError, match="shape is"):
        Bias(1.0).init(shape, seed=1)


def test_counters_that_would_wrap_are_refused():
    with pytest.raises(SpecError, match="first_world is -1"):
        White(std=1.0).init((3,), seed=1, first_world=-1)
    with pytest.raises(SpecError, match="first_world is 16777215; with 2 worlds"):
        White(std=1.0).init((2, 3), seed=1, first_world=2**24 - 1)
    with pytest.raises(SpecError, match="4097 sensors"):
        White(std=1.0).init((1, 4097, 3), seed=1)


@pytest.mark.parametrize("period_s", [0.0, -1.0, float("nan"), float("inf")])
def test_the_period_must_be_positive(period_s):
    with pytest.raises(SpecError, match="period_s is"):
        White(std=1.0).init((3,), seed=1, period_s=period_s)


@pytest.mark.parametrize("model", [White(density=1.0), Quantize(bits=4), Chain([White(density=1.0)])])
def test_what_cannot_be_done_without_rate_or_limits_is_refused_at_the_start(model):
    with pytest.raises(SpecError, match=r"needs the sample rate|without limits"):
        model.init((3,), seed=1)


def test_data_of_an_unknown_kind_or_none_is_refused():
    with pytest.raises(SpecError, match=r"Chain.parts\[1\]: kind is 'pink'; it must be one of bias, "):
        Chain([{"kind": "bias"}, {"kind": "pink"}])
    with pytest.raises(SpecError, match=r"Chain.parts\[0\]: kind is None"):
        Chain([{"std": 1.0}])
    with pytest.raises(SpecError, match=r"White.sdt is 1.0; did you mean std\?"):
        White(sdt=1.0)


def test_grids_name_their_codes_and_end_exactly():
    ends = np.array([-0.1]), np.array([0.3])
    grid = Grid((ends[1] - ends[0]) / 15, ends[0], *ends)
    codes = grid.value(np.arange(-1.0, 18.0)[:, None])[:, 0]
    assert codes[0] == codes[1] == -0.1
    assert codes[-1] == codes[-3] == 0.3
    np.testing.assert_allclose(np.diff(codes[1:-2]), 0.4 / 15)


def test_a_layout_can_be_completed_with_assumptions():
    assumed = Layout(2).assumed()
    assert assumed.period_s > 0
    assert assumed.limits[0].shape == (2,)
    assert Layout(2, 0.5).assumed().period_s == 0.5


def test_switching_one_changes_no_random_number_of_another_of_its_kind():
    parts = [White(std=1.0), GaussMarkov(std=1.0, tau_s=1.0), White(std=2.0), BiasInstability(instability=1.0)]
    parts += [GaussMarkov(std=3.0, tau_s=2.0), Bias(0.0, std=1.0), Saturate(min=-1e9, max=1e9), Bias(0.0, std=2.0)]
    zeros = np.zeros((20, 3))

    def run(off):
        chain = Chain([part.model_copy(update={"on": k not in off}) for k, part in enumerate(parts)])
        return chain.series(zeros, times_ns=np.arange(20), state=chain.init((3,), seed=7, period_s=1e-9))[0]

    everything = run(set())
    for k in range(len(parts)):
        alone = run(set(range(len(parts))) - {k})
        np.testing.assert_allclose(run({k}) + alone, everything, atol=1e-12)


@pytest.mark.parametrize("kind", sorted(set(EXAMPLES) - {"scale", "coupling", "chain"}))
def test_a_value_that_a_fault_made_nan_stays_so_and_leaves_no_trace(kind):
    # Sensors hand on what a dropout before this left; only matrices spread it over channels
    model = _made(kind)
    outs = []
    for middle in (0.2, np.nan):
        state = model.init((3,), seed=1, period_s=0.01)
        for k, value in enumerate((0.2, middle, 0.2, 0.2)):
            x = np.array([[0.1, value, 0.3]])
            state.program.step(x, 10_000_000 * k, state)
            outs.append(x[0])
    clean, dropped = np.reshape(outs, (2, 4, 3))
    assert np.isnan(dropped[1, 1])
    assert np.isfinite(np.delete(dropped, 4)).all()
    np.testing.assert_array_equal(dropped[:, [0, 2]], clean[:, [0, 2]])
    if kind not in ("quantize", "low_pass"):  # these remember the signal
        np.testing.assert_array_equal(dropped[2:], clean[2:])

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.corruption import (
    Bias,
    BiasInstability,
    BoundedWalk,
    Chain,
    GaussMarkov,
    Noise,
    Quantize,
    RandomWalk,
    Saturate,
    White,
)

EVERYTHING = {
    "density": (0.1, 0.2, 0.3),
    "sided": "two",
    "type": "laplace",
    "bias": (1.0, 2.0, 3.0),
    "bias_std": 0.5,
    "walk": 0.3,
    "gauss_markov_std": 0.4,
    "gauss_markov_tau_s": 7.0,
    "instability": 0.2,
    "instability_tau_min_s": 2.0,
    "instability_tau_max_s": 200.0,
}


def _series(model, samples=50, shape=(4, 3)):
    state = model.init(shape, seed=1, period_s=0.01)
    return model.series(np.zeros((samples, *shape)), times_ns=10_000_000 * np.arange(samples), state=state)[0]


def test_it_is_the_chain_of_its_parts_byte_for_byte():
    chain = Chain(
        [
            Bias((1.0, 2.0, 3.0), std=0.5),
            RandomWalk(density=0.3),
            GaussMarkov(std=0.4, tau_s=7.0),
            BiasInstability(instability=0.2, tau_min_s=2.0, tau_max_s=200.0),
            White(density=(0.1, 0.2, 0.3), sided="two", law="laplace"),
        ]
    )
    np.testing.assert_array_equal(_series(Noise(**EVERYTHING)), _series(chain))


@pytest.mark.parametrize("method", ["ou", "reflect", "truncate", "clamp", "exp_pull"])
def test_a_bound_makes_the_walk_a_bounded_one(method):
    name = "soft_bound" if method in ("ou", "exp_pull") else "bound"
    noise = Noise(walk=0.3, bound_method=method, **{name: 0.2})
    np.testing.assert_array_equal(_series(noise), _series(BoundedWalk(density=0.3, method=method, **{name: 0.2})))


def test_a_bound_is_never_passed_unless_it_is_called_soft():
    assert np.abs(_series(Noise(walk=0.3, bound=0.2))).max() <= 0.2
    soft = BoundedWalk(density=0.3, soft_bound=0.2)
    np.testing.assert_array_equal(_series(Noise(walk=0.3, soft_bound=0.2)), _series(soft))


def test_without_a_field_there_is_no_noise():
    assert (_series(Noise()) == 0).all()


def test_the_memos_way_of_writing():
    # R5 to R8: only standard deviations and a type, no factor, an off switch
    noise = Noise()
    noise.type = "normal"
    noise.std = [1.5, 1.1, 1.3]
    noise.bias = [1.0, 2.0, 3.0]
    out = _series(noise, 2, (20_000, 3))[0]
    np.testing.assert_allclose(out.std(axis=0), [1.5, 1.1, 1.3], rtol=5 / np.sqrt(40_000))
    np.testing.assert_allclose(out.mean(axis=0), [1, 2, 3], atol=5 * 1.5 / np.sqrt(20_000))
    noise.on = False
    assert (_series(noise) == 0).all()


@pytest.mark.parametrize("field", ["bias_std", "walk", "gauss_markov_std", "instability", "density"])
def test_leaving_one_part_out_changes_no_byte_of_the_others(field):
    # Two noise objects in a chain: what the first lacks does not change the second
    lost = {field, "gauss_markov_tau_s"}
    lost |= {"instability": {"instability_tau_min_s", "instability_tau_max_s"}, "density": {"type"}}.get(field, set())
    first = {name: value for name, value in EVERYTHING.items() if name not in lost}
    first |= {"sided": "one"} if field == "density" else {}
    first |= {"gauss_markov_tau_s": 7.0} if field != "gauss_markov_std" else {}
    silent = {name: 0.0 for name in ("density", "bias", "bias_std", "walk", "gauss_markov_std", "instability")}
    second = Noise(**EVERYTHING)
    with_it = _series(Chain([Noise(**EVERYTHING | silent), second]))
    np.testing.assert_array_equal(_series(Chain([Noise(**{**silent, **{"gauss_markov_tau_s": 1.0}}), second])), with_it)
    lacking = _series(Chain([Noise(**first), second])) - _series(Noise(**first))
    np.testing.assert_allclose(lacking, with_it, atol=1e-12)


def test_it_sits_in_a_chain_with_discretization_and_saturation():
    # R20's group: noise, quantization, saturation
    chain = Chain([Noise(std=0.3, bias=0.1), Quantize(bits=6), Saturate(min=-0.5, max=0.5)])
    codes = np.unique(_series(chain, 2000))
    assert len(codes) == 64
    assert (codes.min(), codes.max()) == (-0.5, 0.5)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"std": 1.0, "density": 1.0}, "std is 1.0 and density is 1.0; only one of them can be given"),
        ({"std": -1.0}, "std is -1"),
        ({"walk": (1.0, -2.0)}, "walk is -2"),
        ({"bound": 0.0}, "bound is 0; it must be positive"),
        ({"soft_bound": 0.0}, "soft_bound is 0; it must be positive"),
        ({"bound": 1.0, "soft_bound": 1.0}, "only one of them can be given"),
        ({"gauss_markov_tau_s": -1.0}, "gauss_markov_tau_s is -1; it must be positive"),
        ({"type": "pink"}, "Noise.type is 'pink'"),
        ({"bound_method": "wrap"}, "Noise.bound_method is 'wrap'"),
        ({"stdd": 1.0}, r"Noise.stdd is 1.0; did you mean std\?"),
    ],
)
def test_what_is_no_noise_is_refused(fields, message):
    with pytest.raises(SpecError, match=message):
        Noise(**fields)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"bound": 1.0}, "Noise.bound is 1.0 without walk"),
        ({"soft_bound": 1.0}, "Noise.soft_bound is 1.0 without walk"),
        ({"walk": 1.0, "bound": 1.0, "bound_method": "ou"}, "Noise.bound is 1.0 and bound_method is 'ou'; that method"),
        ({"bias": (1.0, 2.0)}, "Noise.bias has 2 values; it must be one number or 3, one for each channel"),
        ({"walk": (1.0, 2.0)}, "Noise.walk has 2 values"),
        ({"walk": 1.0, "bound": (1.0, 2.0)}, "Noise.bound has 2 values"),
        ({"gauss_markov_std": (1.0, 2.0), "gauss_markov_tau_s": 1.0}, "Noise.gauss_markov_std has 2 values"),
        ({"gauss_markov_std": 1.0}, "Noise.gauss_markov_std is 1.0 without gauss_markov_tau_s"),
        ({"gauss_markov_tau_s": 1.0}, "gauss_markov_tau_s is 1.0 without gauss_markov_std"),
        ({"bandwidth_hz": 1.0}, "Noise.bandwidth_hz is 1.0 without density"),
        ({"density": 1.0}, "a spectral density needs the sample rate"),
        ({"instability": 1.0, "instability_tau_max_s": 5.0}, "tau_max_s is 5"),
        ({"std": (1.0, 2.0)}, "std has 2 values"),
    ],
)
def test_fields_that_need_each_other_are_told_at_the_start(fields, message):
    with pytest.raises(SpecError, match=message):
        Noise(**fields).init((3,), seed=1)


def test_fields_may_be_set_one_after_the_other():
    noise = Noise()
    noise.gauss_markov_std = 1.0
    noise.gauss_markov_tau_s = 5.0
    noise.bound = 2.0
    noise.walk = 0.1
    assert np.isfinite(_series(noise)).all()

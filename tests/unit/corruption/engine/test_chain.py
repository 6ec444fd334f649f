import numpy as np

from sensorium.corruption import Bias, Chain, Quantize, Saturate, Scale, White


def _applied(model, signal, **options):
    return model.apply(signal, time_ns=0, state=model.init(np.shape(signal), seed=1, **options))[0]


def test_parts_are_done_in_order():
    assert _applied(Chain([Bias(1.0), Scale(error=1.0)]), [3.0])[0] == 8.0
    assert _applied(Chain([Scale(error=1.0), Bias(1.0)]), [3.0])[0] == 7.0
    assert _applied(Chain(), [3.0])[0] == 3.0


def test_the_contract_of_the_design_works():
    chain = Chain([Bias(0.1), White(std=0.02), Quantize(lsb=0.01)])
    noisy, state = chain.apply([0.0, 1.0, 2.0], time_ns=0, state=chain.init(shape=(3,), seed=1))
    assert noisy.shape == (3,)
    np.testing.assert_allclose(noisy, [0.1, 1.1, 2.1], atol=0.2)
    np.testing.assert_allclose(100 * noisy, np.rint(100 * noisy), atol=1e-9)
    assert state.tick == 1


def test_a_chain_in_a_chain_is_one_chain():
    inner = Chain([White(std=1.0), Bias(1.0)])
    nested, flat = Chain([inner, Quantize(lsb=0.1)]), Chain([White(std=1.0), Bias(1.0), Quantize(lsb=0.1)])
    np.testing.assert_array_equal(_applied(nested, np.zeros((9, 3))), _applied(flat, np.zeros((9, 3))))


def test_bits_divide_the_limits_of_the_saturation_wherever_it_stands():
    for parts in ([Saturate(min=-1, max=1), Quantize(bits=4)], [Quantize(bits=4), Chain([Saturate(min=-1, max=1)])]):
        codes = np.unique(_applied(Chain(parts), np.linspace(-2, 2, 5001)))
        assert len(codes) == 16
        np.testing.assert_allclose(np.diff(codes), 0.133333, atol=5e-7)


def test_limits_and_grid_of_parts_that_are_off_do_not_count():
    chain = Chain([Quantize(lsb=0.1, on=False), Saturate(min=-0.27, max=0.34)])
    np.testing.assert_array_equal(_applied(chain, [-5.0, 5.0]), [-0.27, 0.34])
    chain = Chain([Quantize(bits=2, min=0.0, max=3.0), Saturate(min=-0.27, max=0.34, on=False)])
    np.testing.assert_array_equal(_applied(chain, [-5.0, 5.0]), [0, 3])


def test_other_kinds_may_come_and_go_without_changing_a_byte_of_the_noise():
    plain = _applied(Chain([White(std=1.0)]), np.zeros((5, 3)))
    with_others = _applied(Chain([Scale(error=0.1), White(std=1.0), Bias(0.0)]), np.zeros((5, 3)))
    np.testing.assert_array_equal(plain, with_others)


def test_repeated_noise_is_not_the_same_noise():
    once, twice = _applied(Chain([White(std=1.0)]), [0.0]), _applied(Chain([White(std=1.0)] * 2), [0.0])
    assert abs(twice[0] - 2 * once[0]) > 1e-3


def test_a_state_belongs_to_the_chain_as_it_was_when_started():
    chain = Chain([Bias(1.0)])
    state = chain.init((1,), seed=1)
    chain.parts = (Bias(5.0),)
    assert chain.apply([0.0], time_ns=0, state=state)[0][0] == 1.0

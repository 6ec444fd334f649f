import numba
import numpy as np

from sensorium.random import cos_sin_pi_f32, cos_sin_pi_f64, exp_f32, log_f32, log_f64


@numba.njit
def _log_f32(x, out):
    for i in range(x.size):
        out[i] = log_f32(x[i])


@numba.njit
def _exp_f32(x, out):
    for i in range(x.size):
        out[i] = exp_f32(x[i])


@numba.njit
def _log_f64(x, out):
    for i in range(x.size):
        out[i] = log_f64(x[i])


@numba.njit
def _cos_sin_pi_f32(a, cosine, sine):
    for i in range(a.size):
        cosine[i], sine[i] = cos_sin_pi_f32(a[i])


@numba.njit
def _cos_sin_pi_f64(a, cosine, sine):
    for i in range(a.size):
        cosine[i], sine[i] = cos_sin_pi_f64(a[i])


def _positive_float32() -> np.ndarray:
    """Every 641st positive normal float32, and all near 1 and near the reduction's edge sqrt(1/2)."""
    everywhere = np.arange(0x00800000, 0x7F800000, 641)
    edges = [np.arange(center - 5000, center + 5000) for center in (0x3F800000, 0x3F3504F3)]
    return np.concatenate([everywhere, *edges]).astype(np.uint32).view(np.float32)


def test_log_f32_has_its_stated_error():
    x = _positive_float32()
    out = np.zeros_like(x)
    _log_f32(x, out)
    exact = np.log(x.astype(np.float64))
    some = exact != 0
    assert np.abs(out[some] / exact[some] - 1).max() < 1.2e-7
    assert log_f32(np.float32(1)) == 0


def test_exp_f32_has_its_stated_error_and_limits():
    x = np.linspace(-87.33, 88.37, 2_000_003).astype(np.float32)
    x = x[(x >= np.float32(-87.33)) & (x <= np.float32(88.37))]
    out = np.zeros_like(x)
    _exp_f32(x, out)
    assert np.abs(out / np.exp(x.astype(np.float64)) - 1).max() < 1.2e-7

    assert exp_f32(np.float32(0)) == 1
    assert [exp_f32(np.float32(v)) for v in (-88, -1e30, -np.inf)] == [0, 0, 0]
    assert [exp_f32(np.float32(v)) for v in (88.5, 1e30, np.inf)] == [np.inf] * 3
    assert np.isnan(exp_f32(np.float32(np.nan)))


def test_log_f64_has_its_stated_error():
    rng = np.random.default_rng(1)
    near_one = 1 + rng.uniform(-1, 1, 200_000) * 10.0 ** rng.uniform(-16, -0.5, 200_000)
    x = np.concatenate([10.0 ** rng.uniform(-300, 300, 500_000), rng.uniform(0.5, 2, 500_000), near_one])
    out = np.zeros_like(x)
    _log_f64(x, out)
    # Long double has 11 more bits than float64 on x86; where it has none, libm errs by half an ulp itself
    exact = np.log(x.astype(np.longdouble))
    allowed = 2.3e-16 if np.finfo(np.longdouble).eps < 1e-18 else 4e-16
    some = exact != 0
    assert np.abs(out[some] / exact[some] - 1).max() < allowed
    assert log_f64(1.0) == 0


def test_cos_sin_pi_f32_has_its_stated_error():
    a = np.linspace(-1, 1, 1_000_001).astype(np.float32)
    cosine, sine = np.zeros_like(a), np.zeros_like(a)
    _cos_sin_pi_f32(a, cosine, sine)
    turn = np.pi * a.astype(np.float64)
    assert np.abs(cosine - np.cos(turn)).max() < 1.6e-7
    assert np.abs(sine - np.sin(turn)).max() < 1.6e-7


def test_cos_sin_pi_f64_has_its_stated_error():
    a = np.linspace(-1, 1, 1_000_001)
    cosine, sine = np.zeros_like(a), np.zeros_like(a)
    _cos_sin_pi_f64(a, cosine, sine)
    pi = np.longdouble("3.14159265358979323846264338327950288")
    turn = pi * a.astype(np.longdouble)
    allowed = 3e-16 if np.finfo(np.longdouble).eps < 1e-18 else 7e-16
    assert np.abs(cosine - np.cos(turn)).max() < allowed
    assert np.abs(sine - np.sin(turn)).max() < allowed


def test_quarter_turns_are_exact():
    for cos_sin, number in ((cos_sin_pi_f32, np.float32), (cos_sin_pi_f64, np.float64)):
        turns = [cos_sin(number(a)) for a in (0, 0.5, 1, -0.5, -1)]
        np.testing.assert_allclose(turns, [(1, 0), (0, 1), (-1, 0), (0, -1), (-1, 0)], atol=1.2e-7)
        assert turns[0][1] == turns[1][0] == 0

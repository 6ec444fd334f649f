import numpy as np
import pytest
from scipy.integrate import cumulative_trapezoid
from scipy.special import ndtr, ndtri

from sensorium.core.errors import SpecError
from sensorium.corruption import BoundedWalk, RandomWalk
from sensorium.corruption.errors.bounded_walk import pulled, reflected, truncated
from sensorium.runtime import jit

METHODS = ["ou", "reflect", "truncate", "clamp", "exp_pull"]
SOFT = ("ou", "exp_pull")


def _walk(bound, method, **fields):
    """A walk of a method, whose bound has the name that is right for it."""
    return BoundedWalk(**{"soft_bound" if method in SOFT else "bound": bound}, method=method, **fields)


def _series(model, samples, worlds=500, width=4, period_s=1.0, seed=1):
    times_ns = round(period_s * 1e9) * np.arange(samples)
    signals = np.zeros((samples, worlds, width))
    return model.series(signals, times_ns=times_ns, state=model.init((worlds, width), seed=seed, period_s=period_s))[0]


def _settled(step_over_bound, method, samples=1500, skip=500, **options):
    """Samples of the stationary law, in bounds."""
    model = _walk(2.0, method, step_std=2.0 * step_over_bound)
    return _series(model, samples, **options)[skip:] / 2.0


@pytest.mark.parametrize("method", METHODS)
def test_it_begins_as_the_random_walk_of_the_same_draws_size(method):
    model = _walk(100.0, method, density=(0.5, 1.0, 1.0, 2.0))
    out = _series(model, 11, worlds=5000, period_s=0.1)
    assert (out[0] == 0).all()
    np.testing.assert_allclose(out[-1].var(axis=0), np.square([0.5, 1.0, 1.0, 2.0]), rtol=5 * np.sqrt(2 / 5000))


@pytest.mark.parametrize("method", [None, "reflect", "truncate", "clamp"])
def test_the_bound_is_never_passed(method):
    out = _series(BoundedWalk(bound=(0.3, 1.0, 5.0, 0.1), density=1.0, method=method), 400)
    assert (np.abs(out) <= [0.3, 1.0, 5.0, 0.1]).all()
    assert (np.abs(out).max(axis=(0, 1)) > 0.9 * np.array([0.3, 1.0, 5.0, 0.1])).all()


def test_ou_is_normal_and_beyond_its_bound_for_27_in_ten_thousand():
    x = _settled(0.5, "ou")
    assert x.std() == pytest.approx(1 / 3, rel=0.01)
    assert (np.abs(x) > 1).mean() == pytest.approx(0.0027, abs=0.0003)


def test_ou_by_density_and_by_correlation_time_are_the_same_process():
    # tau = 2 sigma^2 / K^2 with sigma = b / 3
    by_tau = BoundedWalk(soft_bound=3.0, tau_s=8.0)
    by_density = BoundedWalk(soft_bound=3.0, density=0.5)
    np.testing.assert_allclose(_series(by_tau, 20), _series(by_density, 20), rtol=1e-12)
    x = _series(by_tau, 2000, period_s=2.0)[200:]
    for lag in (1, 3, 6):
        assert (x[lag:] * x[:-lag]).mean() == pytest.approx(np.exp(-2.0 * lag / 8.0), abs=0.01)


@pytest.mark.parametrize("step", [0.1, 0.5, 3.0])
def test_reflect_is_uniform(step):
    x = _settled(step, "reflect")
    assert x.std() == pytest.approx(0.57735, abs=0.004)
    share, _ = np.histogram(x, bins=10, range=(-1, 1))
    np.testing.assert_allclose(share / x.size, 0.1, atol=0.003)


def test_truncate_has_the_density_of_what_is_cut_off():
    # Detailed balance: the law is proportional to the chance of staying within the bound; s / b = 0.5 has std 0.5309 b
    x = np.linspace(-1, 1, 200_001)
    density = ndtr((1 - x) / 0.5) - ndtr((-1 - x) / 0.5)
    below = cumulative_trapezoid(density, x, initial=0)
    below /= below[-1]
    std = np.sqrt(np.trapezoid(density * x**2, x) / np.trapezoid(density, x))
    assert std == pytest.approx(0.5309, abs=5e-5)

    measured = _settled(0.5, "truncate")
    assert measured.std() == pytest.approx(std, abs=0.002)
    share, edges = np.histogram(measured, bins=20, range=(-1, 1))
    np.testing.assert_allclose(share / measured.size, np.diff(np.interp(edges, x, below)), atol=0.001)


@pytest.mark.parametrize(("step", "at_bounds", "std"), [(0.1, 0.067, 0.609), (1.0, 0.45, 0.787)])
def test_clamp_leaves_a_share_of_it_at_the_bounds(step, at_bounds, std):
    # The stationary law of the chain on a fine grid with an atom at each bound
    edges = np.linspace(-1, 1, 801)
    points = np.concatenate([[-1], (edges[1:] + edges[:-1]) / 2, [1]])
    below = ndtr((edges[None] - points[:, None]) / step)
    transition = np.concatenate([below[:, :1], np.diff(below, axis=1), 1 - below[:, -1:]], axis=1)
    law = np.linalg.matrix_power(transition, 4096)[0]
    atoms, spread = law[0] + law[-1], np.sqrt((law * points**2).sum())
    assert atoms == pytest.approx(at_bounds, abs=5e-3 if at_bounds > 0.1 else 5e-4)
    assert spread == pytest.approx(std, abs=5e-4)

    x = _settled(step, "clamp", samples=2500)
    assert (np.abs(x) == 1).mean() == pytest.approx(atoms, abs=0.002)
    assert x.std() == pytest.approx(spread, abs=0.004)


def _pulled_law(step):
    """Points and distribution of |x| / b for exp_pull by its density, with P = 3 s."""
    x = np.linspace(1e-6, 3, 30_001)
    pull = np.exp(-2 * np.maximum((2 - x) / x, 0) ** 3)
    density = np.exp(-18 / (3 * step) * cumulative_trapezoid(pull, x, initial=0))
    below = cumulative_trapezoid(density, x, initial=0)
    return x, density, below / below[-1]


def test_exp_pull_has_its_density_and_passes_its_bound():
    x, density, below = _pulled_law(1 / 30)
    std = np.sqrt(np.trapezoid(density * x**2, x) / np.trapezoid(density, x))
    assert std == pytest.approx(0.556, abs=5e-4)

    measured = _settled(1 / 30, "exp_pull", samples=6000, skip=2000, worlds=200)
    assert measured.std() == pytest.approx(std, abs=0.006)
    share, edges = np.histogram(np.abs(measured), bins=12, range=(0, 1.2))
    np.testing.assert_allclose(share / measured.size, np.diff(np.interp(edges, x, below)), atol=0.005)
    assert 1.1 < np.abs(measured).max() < 1.3
    assert np.abs(_settled(1 / 3, "exp_pull")).max() > 2.0


def test_the_memos_factor_is_an_artifact_of_its_bound():
    # physics.md E-29: P = b = 0.1 settles at 0.0631 by luck near P / 1.5 = 0.0667; P = 0.1 b does so at 5.6 P
    assert _settled(1 / 3, "exp_pull").std() * 0.1 == pytest.approx(0.0631, abs=0.0019)
    assert _settled(1 / 30, "exp_pull", samples=6000, skip=2000, worlds=200).std() / 0.1 == pytest.approx(5.6, abs=0.06)


def test_exp_pull_is_not_kicked_at_zero_and_its_law_does_not_depend_on_skipped_samples():
    model = BoundedWalk(soft_bound=1.0, step_std=1e-9, method="exp_pull")
    assert np.abs(_series(model, 50)).max() < 1e-6

    # Every third sample only: the same density and, nearly, the same law
    model = BoundedWalk(soft_bound=1.0, step_std=1 / 30, method="exp_pull")
    state = model.init((200, 4), seed=1, period_s=1.0)
    out, _ = model.series(np.zeros((3000, 200, 4)), times_ns=3 * 10**9 * np.arange(3000), state=state)
    assert out[1000:].std() == pytest.approx(0.556, abs=0.02)


@jit.kernel
def _steps(kind, w, step, z, bound, out):
    for i in range(w.size):
        if kind == 0:
            out[i] = truncated(w[i], step, z[i], bound)
        elif kind == 1:
            out[i] = reflected(w[i], bound)
        else:
            out[i] = pulled(w[i], bound)


@pytest.mark.parametrize("step", [1e-4, 0.01, 0.15, 0.5, 2.0, 50.0, 1e5])
def test_a_truncated_step_is_the_quantile_of_the_cut_law(step):
    rng = np.random.default_rng(1)
    w, z = rng.uniform(-2, 2, 5000), rng.normal(size=5000)
    w[:2] = -2.0, 2.0
    out = np.zeros(5000)
    _steps(0, w, step, z, 2.0, out)
    low, high = ndtr((-2 - w) / step), ndtr((2 - w) / step)
    expected = w + step * ndtri(low + ndtr(z) * (high - low))
    np.testing.assert_allclose(out, np.clip(expected, -2, 2), atol=1e-8 * max(step, 1) if step < 1e3 else 2e-5)
    assert (np.abs(out) <= 2).all()


def test_a_step_of_no_length_stays_also_on_the_bound():
    w, out = np.array([-2.0, 0.0, 2.0]), np.zeros(3)
    _steps(0, w, 0.0, np.ones(3), 2.0, out)
    np.testing.assert_array_equal(out, w)


def test_reflection_folds_as_often_as_need_be():
    w = np.array([0.0, 1.5, 2.5, 5.0, 6.5, 7.0, -2.5, -6.5, 100.0])
    out = np.zeros(9)
    _steps(1, w, 0.0, w, 2.0, out)
    y = np.mod(w + 2, 8)
    np.testing.assert_allclose(out, np.where(y < 4, y, 8 - y) - 2, atol=1e-12)


def test_the_pull_is_smooth_at_zero_and_full_beyond_twice_the_bound():
    w = np.array([0.0, -0.0, 1e-9, 1.0, -1.0, 4.0, -9.0])
    out = np.zeros(7)
    _steps(2, w, 0.0, w, 2.0, out)
    np.testing.assert_allclose(out, [0, 0, 0, np.exp(-2 * 3.0**3), -np.exp(-2 * 3.0**3), 1, -1], rtol=1e-12)


def test_far_from_its_bound_truncate_is_the_walk_without_one():
    free = _series(RandomWalk(density=0.1), 30)
    bounded = _series(BoundedWalk(bound=1e6, density=0.1, method="truncate"), 30)
    assert bounded[-1].std() == pytest.approx(free[-1].std(), rel=0.05)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"bound": 1.0}, "nothing is given; exactly one of density, step_std and tau_s must be"),
        ({"bound": 1.0, "density": 1.0, "step_std": 1.0}, "density and step_std is given"),
        ({"bound": 0.0, "density": 1.0}, "bound is 0; it must be positive"),
        ({"bound": 1.0, "density": -1.0}, "density is -1; it must not be negative"),
        ({"bound": 1.0, "step_std": -1.0}, "step_std is -1; it must not be negative"),
        ({"soft_bound": 1.0, "tau_s": 0.0}, "tau_s is 0; it must be positive"),
        ({"bound": 1.0, "tau_s": 1.0, "method": "clamp"}, "only 'ou' has a correlation time"),
        ({"bound": 1.0, "tau_s": 1.0}, "tau_s is given with method 'truncate'; only 'ou' has a correlation time"),
        ({"bound": 1.0, "density": 1.0, "method": "wrap"}, "BoundedWalk.method is 'wrap'"),
        ({"density": 1.0}, "bound is None and soft_bound is None; exactly one of them must be given"),
        ({"bound": 1.0, "soft_bound": 1.0, "density": 1.0}, "bound is 1.0 and soft_bound is 1.0; exactly one"),
        ({"soft_bound": 0.0, "density": 1.0}, "soft_bound is 0; it must be positive"),
        ({"bound": 1.0, "density": 1.0, "method": "ou"}, "method is 'ou'; that method passes its bound"),
        (
            {"soft_bound": 1.0, "density": 1.0, "method": "clamp"},
            "soft_bound is 1.0 and method is 'clamp'; that method never passes its bound, give bound",
        ),
    ],
)
def test_what_is_no_bounded_walk_is_refused(fields, message):
    with pytest.raises(SpecError, match=message):
        BoundedWalk(**fields)


def test_steps_of_samples_need_the_rate():
    for fields in ({"bound": 1.0, "step_std": 0.1}, {"soft_bound": 1.0, "density": 0.1, "method": "exp_pull"}):
        with pytest.raises(SpecError, match="needs the sample rate"):
            BoundedWalk(**fields).init((3,), seed=1)


@pytest.mark.parametrize(("name", "method"), [("bound", "truncate"), ("soft_bound", "ou")])
def test_a_method_that_is_not_given_is_that_of_the_bound(name, method):
    plain = _series(BoundedWalk(**{name: 1.0}, density=0.7), 30)
    np.testing.assert_array_equal(plain, _series(_walk(1.0, method, density=0.7), 30))

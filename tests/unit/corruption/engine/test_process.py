import numpy as np
import pytest
from scipy.linalg import expm, solve_continuous_lyapunov, solve_discrete_lyapunov

from sensorium.core.errors import SpecError
from sensorium.corruption import LinearProcess
from sensorium.corruption.engine.process import discretize, take_root
from sensorium.runtime import jit

PHI = np.array([[0.9, 0.1, 0.0], [-0.1, 0.8, 0.05], [0.0, 0.0, 0.5]])
Q = np.array([[1.0, 0.3, 0.0], [0.3, 2.0, -0.4], [0.0, -0.4, 0.5]])


def _series(model, samples, worlds=20_000, width=3, times_ns=None):
    times_ns = 10**9 * np.arange(samples) if times_ns is None else times_ns
    state = model.init((worlds, width), seed=1)
    return model.series(np.zeros((samples, worlds, width)), times_ns=times_ns, state=state)[0]


def _covariance(a, b):
    return a.T @ b / len(a)


def test_white_noise_has_no_propagation():
    out = _series(LinearProcess(propagation=0.0, covariance=Q), 3)
    for k in range(3):
        np.testing.assert_allclose(_covariance(out[k], out[k]), Q, atol=5 * 2 * np.sqrt(2 / 20_000))
    assert np.abs(_covariance(out[1], out[0])).max() < 5 * 2 / np.sqrt(20_000)


def test_a_random_walk_propagates_all_of_it():
    # physics.md E-31: with the memo's identity matrix there is no white noise, the variance grows with every sample
    out = _series(LinearProcess(propagation=1.0, covariance=Q), 10)
    np.testing.assert_allclose(_covariance(out[9], out[9]), 10 * Q, rtol=0.05, atol=0.3)


def test_a_first_order_process_settles_at_its_step_over_one_minus_phi_squared():
    # physics.md 9: phi = 0.9, s = sqrt(0.19) has variance 1
    out = _series(LinearProcess(propagation=0.9, covariance=0.19), 60)
    assert out[-1].var() == pytest.approx(1.0, rel=0.02)


def test_full_matrices_propagate_the_covariance():
    out = _series(LinearProcess(propagation=PHI, covariance=Q), 50)
    settled = solve_discrete_lyapunov(PHI, Q)
    np.testing.assert_allclose(_covariance(out[-1], out[-1]), settled, atol=5 * settled.max() * np.sqrt(2 / 20_000))
    lagged = np.linalg.matrix_power(PHI, 3) @ settled
    np.testing.assert_allclose(_covariance(out[-1], out[-4]), lagged, atol=5 * settled.max() * np.sqrt(2 / 20_000))


def test_the_noise_matrix_is_the_root_of_the_covariance_not_the_covariance():
    # physics.md E-30
    root = np.linalg.cholesky(Q)
    out = _series(LinearProcess(propagation=0.0, noise=root), 1)
    np.testing.assert_allclose(_covariance(out[0], out[0]), Q, atol=5 * 2 * np.sqrt(2 / 20_000))
    exactly = LinearProcess(propagation=0.0, noise=[[2.0, 0, 0], [1.0, 0, 0], [0, 0, 0]])
    out = _series(exactly, 1)[0]
    np.testing.assert_allclose(out[:, 0], 2 * out[:, 1], rtol=1e-15)
    assert (out[:, 2] == 0).all()


def test_a_step_is_what_the_matrices_say():
    model = LinearProcess(propagation=PHI, noise=np.zeros((3, 3)))
    state = model.init((3,), seed=1)
    state.values[:] = [1.0, 2.0, 3.0]
    out, after = model.apply([10.0, 20.0, 30.0], time_ns=0, state=state)
    np.testing.assert_allclose(out, np.array([10, 20, 30]) + PHI @ [1, 2, 3], rtol=1e-14)
    np.testing.assert_allclose(after.values[0], PHI @ [1, 2, 3], rtol=1e-14)


@jit.kernel
def _discretize(matrices, dt_s):
    discretize(matrices, dt_s)


def _exact(a, q, dt_s):
    matrices = np.zeros((5, *np.shape(a)))
    matrices[:2] = a, q
    _discretize(matrices, dt_s)
    return matrices[:2]


@pytest.mark.parametrize("dt_s", [0.0, 1e-6, 0.01, 0.3, 2.0, 50.0])
def test_a_step_in_time_is_the_exponential_and_its_integral(dt_s):
    # Van Loan: the exponential of a block matrix holds both
    a = np.array([[-0.5, 1.0, 0.0], [-1.0, -0.5, 0.2], [0.0, 0.0, -3.0]])
    phi, root = _exact(a, Q, dt_s)
    np.testing.assert_allclose(phi, expm(a * dt_s), rtol=1e-11, atol=1e-13)
    settled = solve_continuous_lyapunov(a, -Q)
    np.testing.assert_allclose(root @ root.T, settled - phi @ settled @ phi.T, rtol=1e-9, atol=1e-12)
    assert (np.triu(root, 1) == 0).all()


def test_an_integrator_has_the_covariance_of_its_chain():
    # Position and speed: dt^3 / 3, dt^2 / 2, dt, though the noise enters only the speed
    phi, root = _exact([[0.0, 1.0], [0.0, 0.0]], np.diag([0.0, 4.0]), 0.5)
    np.testing.assert_allclose(phi, [[1, 0.5], [0, 1]], rtol=1e-14)
    np.testing.assert_allclose(root @ root.T, 4 * np.array([[0.125 / 3, 0.125], [0.125, 0.5]]), rtol=1e-13)


@jit.kernel
def _take_root(q):
    take_root(q)


def test_the_root_of_a_singular_covariance_has_empty_columns():
    for q in (np.ones((3, 3)), np.diag([0.0, 2.0, 0.0]), np.zeros((3, 3)), Q):
        root = np.array(q, np.float64)
        _take_root(root)
        np.testing.assert_allclose(root @ root.T, q, atol=1e-14)


def test_matrices_of_a_second_do_not_depend_on_the_sampling():
    a = np.array([[-1.0, 0.5, 0.0], [-0.5, -1.0, 0.0], [0.0, 0.0, -0.2]])
    model = LinearProcess(propagation=a, covariance=Q, per="second")
    fine = _series(model, 41, times_ns=50_000_000 * np.arange(41))
    coarse = _series(model, 3, times_ns=np.array([0, 300_000_000, 2_000_000_000]))
    settled = solve_continuous_lyapunov(a, -Q)
    expected = settled - expm(2 * a) @ settled @ expm(2 * a).T
    for out in (fine, coarse):
        assert (out[0] == 0).all()
        np.testing.assert_allclose(_covariance(out[-1], out[-1]), expected, atol=5 * 3 * np.sqrt(2 / 20_000))


def test_the_channels_may_be_more_than_four():
    rng = np.random.default_rng(3)
    factor = rng.normal(size=(6, 6))
    out = _series(LinearProcess(propagation=0.0, covariance=factor @ factor.T), 1, width=6)
    measured = np.cov(np.linalg.solve(factor, out[0].T))
    np.testing.assert_allclose(measured, np.eye(6), atol=5 * np.sqrt(2 / 20_000))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"propagation": 1.0}, "neither of covariance and noise is given"),
        ({"propagation": 1.0, "covariance": 1.0, "noise": np.eye(3)}, "both of covariance and noise is given"),
        ({"covariance": 1.0}, "propagation is missing"),
        ({"propagation": 1.0, "covariance": 1.0, "per": "hour"}, "LinearProcess.per is 'hour'"),
    ],
)
def test_what_is_no_process_is_refused(fields, message):
    with pytest.raises(SpecError, match=message):
        LinearProcess(**fields)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"propagation": np.eye(2), "covariance": 1.0}, "propagation is 2 x 2; it must be 3 x 3"),
        ({"propagation": 1.0, "covariance": -1.0}, "no negative eigenvalue"),
        ({"propagation": 1.0, "covariance": (1.0, 2.0)}, "covariance has 2 values"),
        ({"propagation": 1.0, "noise": np.eye(4)}, "noise is 4 x 4"),
    ],
)
def test_what_does_not_fit_the_channels_is_refused_at_the_start(fields, message):
    with pytest.raises(SpecError, match=message):
        LinearProcess(**fields).init((3,), seed=1)

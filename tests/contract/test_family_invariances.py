"""What must not change the machines of the family, and what nu promises: properties on generated data."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse

from maxmargin import SVDD, SVR, NuSVC, NuSVR, OneClassSVM
from maxmargin.kernels import RBF
from maxmargin.losses import Huber

SEEDS = st.integers(0, 2**32 - 1)
MACHINES = st.sampled_from(
    [
        SVR(gamma=0.5, C=2.0),
        SVR(kernel="linear", C=0.3, loss="squared_epsilon_insensitive"),
        SVR(kernel="laplacian", gamma=0.4, loss=Huber(0.5, 0.1)),
        NuSVR(gamma=0.5, C=2.0, nu=0.4),
        NuSVC(gamma=0.5, nu=0.8),
        NuSVC(kernel="poly", degree=2, gamma=0.5, coef0=1.0, nu=0.9),
        OneClassSVM(gamma=0.5, nu=0.2),
        OneClassSVM(kernel="linear", nu=0.5),
        SVDD(gamma=0.5, nu=0.2),
        SVDD(kernel="linear", nu=0.3),
    ]
)
NUS = st.floats(0.02, 0.9)


def data(seed, machine, n=40):
    """Rows, with targets as the machine takes them, and a generator."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    numbers = np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=n)
    return X, np.arange(n) % 2 if isinstance(machine, NuSVC) else numbers, rng


def scores(machine, X):
    return machine.decision_function(X) if hasattr(machine, "decision_function") else machine.predict(X)


def same(a, b, X, Z=None):
    """Scores agree, beside the largest: those of a nu-SVC are divided by rho, which can be small."""
    wanted = scores(a, X)
    atol = 1e-5 * (1.0 + float(np.abs(wanted).max()))
    np.testing.assert_allclose(scores(b, X if Z is None else Z), wanted, atol=atol)


def fitted(machine, X, y, weights=None):
    machine = type(machine)(**machine.get_params()).fit(X, y, weights)
    assume(np.all(getattr(machine, "rho_", 1.0) > 1e-3))  # below that a nu-SVC has no margin to speak of
    return machine


@given(SEEDS, MACHINES)
def test_sample_weights_equal_repetition(seed, machine):
    X, y, rng = data(seed, machine)
    weights = 1 + rng.integers(0, 3, size=20).repeat(2)  # as many of one class as of the other: any nu is feasible
    repeated = fitted(machine, X.repeat(weights, axis=0), y.repeat(weights))
    same(fitted(machine, X, y, weights), repeated, X)


@given(SEEDS, MACHINES)
def test_order_of_rows_sparse_rows_and_threads(seed, machine):
    X, y, rng = data(seed, machine)
    X = X * (rng.random(X.shape) < 0.7)
    usual = fitted(machine, X, y)
    order = rng.permutation(len(y))
    same(usual, fitted(machine, X[order], y[order]), X)
    same(usual, fitted(machine, sparse.csr_matrix(X), y), X, sparse.csr_matrix(X))
    alone = fitted(type(machine)(**machine.get_params() | {"n_jobs": 1}), X, y)
    np.testing.assert_array_equal(scores(alone, X), scores(usual, X))


@given(SEEDS, MACHINES)
def test_precomputed_and_callable_kernels(seed, machine):
    X, y, _ = data(seed, machine)
    by_name = fitted(type(machine)(**machine.get_params() | {"kernel": "rbf", "gamma": 0.5}), X, y)
    K = RBF(0.5)(X)
    same(by_name, fitted(type(machine)(**machine.get_params() | {"kernel": "precomputed"}), K, y), X, K)
    same(by_name, fitted(type(machine)(**machine.get_params() | {"kernel": RBF(0.5)}), X, y), X)


@given(SEEDS, st.sampled_from([NuSVC(gamma=0.5, nu=0.8), OneClassSVM(gamma=0.5), SVDD(gamma=0.5), SVR(gamma=0.5)]))
def test_translation_and_rotation(seed, machine):
    X, y, rng = data(seed, machine)
    rotation, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    moved = X @ rotation + rng.normal(scale=100.0, size=3)
    same(fitted(machine, X, y), fitted(machine, moved, y), X, moved)


@given(SEEDS, NUS)
def test_nu_bounds_the_shares_of_a_novelty_machine(seed, nu):
    """Outliers of the training rows <= nu <= support vectors, of predictions and not only on paper."""
    X, _, _ = data(seed, None, n=60)
    for machine in (OneClassSVM(gamma=0.5, nu=nu).fit(X), SVDD(gamma=0.5, nu=nu).fit(X)):
        outside = machine.predict(X) < 0
        assert outside.mean() <= nu + 1e-12
        assert len(machine.support_) / len(X) >= nu - 1e-12
        np.testing.assert_array_equal(outside, machine.decision_function(X) < 0)
        np.testing.assert_allclose(machine.score_samples(X) - machine.offset_, machine.decision_function(X), atol=1e-12)
        np.testing.assert_array_equal(machine.fit_predict(X), machine.predict(X))


@given(SEEDS, NUS)
def test_nu_bounds_the_shares_of_a_classifier(seed, nu):
    X, y, _ = data(seed, NuSVC(), n=60)
    machine = fitted(NuSVC(gamma=0.5, nu=nu), X, y)
    assert np.mean(machine.slacks(X, y) > 1e-6) <= nu + 1e-12
    assert len(machine.support_) / len(X) >= nu - 1e-12
    np.testing.assert_array_equal(
        fitted(machine, X, np.array(["no", "yes"])[y]).predict(X) == "yes", machine.predict(X)
    )


@given(SEEDS, NUS)
def test_nu_bounds_the_shares_of_a_tube(seed, nu):
    X, y, _ = data(seed, NuSVR(), n=60)
    machine = NuSVR(gamma=0.5, nu=nu, C=2.0).fit(X, y)
    errors = np.abs(machine.predict(X) - y)
    width = machine.epsilon_
    assert np.mean(errors > width + 1e-6) <= nu + 1e-12
    assert len(machine.support_) / len(X) >= nu - 1e-12
    tube = SVR(gamma=0.5, C=2.0, epsilon=max(width, 0.0)).fit(X, y)  # the same machine by its width
    np.testing.assert_allclose(
        tube.certificate_.primal + 2.0 * nu * len(X) * width, machine.certificate_.primal, rtol=1e-6
    )


@given(SEEDS, NUS)
def test_the_ball_is_the_plane_where_all_rows_have_one_length(seed, nu):
    """RBF: |phi(x)| = 1, so SVDD and the one-class machine have the same multipliers, and the same set."""
    X, _, rng = data(seed, None, n=60)
    plane, ball = OneClassSVM(gamma=0.5, nu=nu).fit(X), SVDD(gamma=0.5, nu=nu).fit(X)
    Z = rng.normal(size=(200, 3))
    clear = np.abs(plane.decision_function(Z)) > 1e-6 * nu * len(X)
    np.testing.assert_array_equal(ball.predict(Z)[clear], plane.predict(Z)[clear])
    a, b = np.zeros((2, len(X)))
    a[plane.support_], b[ball.support_] = plane.dual_coef_[0], ball.dual_coef_[0]
    np.testing.assert_allclose(a / a.sum(), b / b.sum(), atol=1e-6)


@pytest.mark.parametrize("n", [1000, 3000])
def test_a_small_nu_keeps_what_it_promises(n):
    """scikit-learn calls nearly all rows outliers at nu = 1e-4."""
    X = np.random.default_rng(0).normal(size=(n, 5))
    assert np.mean(OneClassSVM(nu=1e-4, gamma=0.1).fit_predict(X) < 0) <= 1e-4

"""Kernel machines with the logistic loss and with powers of the slack, against machines on explicit features."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import PolynomialFeatures

from maxmargin import SVC, LinearSVC, Status
from maxmargin.kernels import RBF
from maxmargin.losses import PowerHinge
from tests import helpers
from tests.clocks import every_look_takes_time


def quadratic_features(X):
    """phi with phi(x)'phi(z) = (x'z + 1)^2."""
    factors = PolynomialFeatures(2).fit(X)
    mixed = np.sum(factors.powers_ > 0, axis=1) == 2
    return factors.transform(X) * np.where(mixed | (factors.powers_.sum(axis=1) == 1), np.sqrt(2.0), 1.0)


def theirs(features, y, C):
    return LogisticRegression(C=C, tol=1e-12, max_iter=100_000).fit(features, y).decision_function(features)


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_kernel_logistic_regression_is_logistic_regression_on_the_features(C):
    X, y = helpers.overlapping(150, 3)
    linear = SVC(loss="logistic", kernel="linear", C=C).fit(X, y)
    np.testing.assert_allclose(linear.decision_function(X), theirs(X, y, C), atol=1e-5)
    squared = SVC(loss="logistic", kernel="poly", degree=2, gamma=1.0, coef0=1.0, C=C).fit(X, y)
    np.testing.assert_allclose(squared.decision_function(X), theirs(quadratic_features(X), y, C), atol=2e-5)
    K = RBF(0.5)(X)
    values, vectors = np.linalg.eigh(K)
    curved = SVC(loss="logistic", gamma=0.5, C=C).fit(X, y)
    np.testing.assert_allclose(
        curved.decision_function(X), theirs(vectors * np.sqrt(np.maximum(values, 0.0)), y, C), atol=1e-4
    )
    for machine in (linear, squared, curved):
        assert machine.status_ is Status.CONVERGED
        assert machine.certificate_.relative_gap < 1e-8


@pytest.mark.parametrize("p", [1.05, 1.2, 1.5, 1.9])
@pytest.mark.parametrize("bias", [True, False, "regularized"])
def test_powers_of_the_slack_are_those_of_the_linear_machine(p, bias):
    X, y = helpers.cancer()
    kernel = SVC(loss=PowerHinge(p), kernel="linear", C=0.3, fit_intercept=bias).fit(X, y)
    linear = LinearSVC(loss=PowerHinge(p), C=0.3, fit_intercept=bias, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(kernel.coef_, linear.coef_, atol=1e-5)
    np.testing.assert_allclose(kernel.intercept_, linear.intercept_, atol=1e-5)
    assert kernel.certificate_.primal == pytest.approx(linear.certificate_.primal, rel=1e-8)


def test_the_ends_of_the_powers():
    X, y = helpers.moons(150)
    for p, loss in ((1, "hinge"), (2.0, "squared_hinge")):
        power, named = SVC(loss=PowerHinge(p)).fit(X, y), SVC(loss=loss).fit(X, y)
        np.testing.assert_array_equal(power.dual_coef_, named.dual_coef_)
    close = [SVC(loss=PowerHinge(p)).fit(X, y).decision_function(X) for p in (1.0001, 1.9999)]
    for found, loss in zip(close, ("hinge", "squared_hinge"), strict=True):
        np.testing.assert_allclose(found, SVC(loss=loss).fit(X, y).decision_function(X), atol=5e-3)


@pytest.mark.parametrize("loss", ["logistic", PowerHinge(1.3)])
def test_what_every_machine_does(loss, monkeypatch):
    """Weights equal repetition, classes, class weights, warm starts, limits, and errors that say what to do."""
    X, y = load_iris(return_X_y=True)
    counts = np.arange(150) % 3 + 1
    weighted = SVC(loss=loss, C=2.0).fit(X, y, sample_weight=counts)
    repeated = SVC(loss=loss, C=2.0).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted._decisions(X), repeated._decisions(X), atol=1e-6)
    for way in ("ovr", "codes"):
        machine = SVC(loss=loss, multi_class=way, class_weight={0: 0.0}).fit(X, y)
        assert machine.status_ is Status.CONVERGED
        assert not np.isin(machine.support_, np.flatnonzero(y == 0)).any()
    warm = SVC(loss=loss, warm_start=True).fit(X, y)
    steps = warm.n_iter_.sum()
    assert warm.set_params(C=1.1).fit(X, y).n_iter_.sum() < steps
    with pytest.raises(ValueError, match="needs a positive semidefinite kernel: "):
        SVC(loss=loss, kernel="sigmoid", gamma=1.0, coef0=-1.0).fit(helpers.standardised(X), y)
    with pytest.raises(ValueError, match="takes loss 'hinge' or 'squared_hinge'"):
        SVC(loss=loss, multi_class="crammer_singer").fit(X, y)
    every_look_takes_time(monkeypatch)
    with pytest.warns(match="time_limit"):
        stopped = SVC(loss=loss, time_limit=0.01).fit(X, y)
    assert stopped.status_ is Status.TIME_LIMIT


def test_the_hard_margin():
    X, y = helpers.separable(60)
    power, hinge = (SVC(loss=loss, kernel="linear", C=np.inf).fit(X, y) for loss in (PowerHinge(1.5), "hinge"))
    np.testing.assert_array_equal(power.coef_, hinge.coef_)
    with pytest.raises(ValueError, match="has no hard margin"):
        SVC(loss="logistic", C=np.inf).fit(X, y)

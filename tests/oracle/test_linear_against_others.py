"""Linear machines against a conic solver, scikit-learn and LIBLINEAR's objective."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC as Theirs
from sklearn.svm import LinearSVR as TheirRegressor

from maxmargin import SVC, LinearSVC, LinearSVR
from maxmargin.losses import EpsilonInsensitive, Hinge, Huber, PowerHinge, SquaredEpsilonInsensitive, SquaredHinge
from tests import helpers
from tests.linear_helpers import BIASES, optimum_by_clarabel

FITS = {"free": True, "none": False, "regularized": "regularized"}


@pytest.mark.parametrize("bias", BIASES, ids=lambda b: b.value)
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize(
    ("name", "loss"),
    [
        ("hinge", Hinge()),
        ("squared_hinge", SquaredHinge()),
        *[(PowerHinge(p), PowerHinge(p)) for p in (1.05, 1.5, 1.9)],
    ],
)
def test_classifiers_reach_the_optimum_of_a_conic_solver(name, loss, bias, C):
    X, y = helpers.overlapping(60, 4)
    machine = LinearSVC(loss=name, C=C, fit_intercept=FITS[bias.value]).fit(X, y)
    optimum = optimum_by_clarabel(X, y, np.full(60, C), loss, bias)
    assert machine.certificate_.primal == pytest.approx(optimum, rel=1e-7)
    assert machine.certificate_.dual == pytest.approx(optimum, rel=1e-7)


@pytest.mark.parametrize("bias", BIASES, ids=lambda b: b.value)
@pytest.mark.parametrize(
    ("name", "loss"),
    [
        ("epsilon_insensitive", EpsilonInsensitive(0.3)),
        ("squared_epsilon_insensitive", SquaredEpsilonInsensitive(0.3)),
        ("huber", Huber(1.0, 0.3)),
        (Huber(0.2, 0.5), Huber(0.2, 0.5)),
    ],
)
def test_regressors_reach_the_optimum_of_a_conic_solver(name, loss, bias):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    y = X @ [1.0, -2.0, 0.5] + 1.0 + rng.normal(size=50)
    machine = LinearSVR(loss=name, C=2.0, epsilon=0.3, fit_intercept=FITS[bias.value]).fit(X, y)
    optimum = optimum_by_clarabel(X, y, np.full(50, 2.0), loss, bias)
    assert machine.certificate_.primal == pytest.approx(optimum, rel=1e-7)


@pytest.mark.parametrize("bias", BIASES, ids=lambda b: b.value)
def test_l1_reaches_the_optimum_of_a_conic_solver(bias):
    X, y = helpers.overlapping(80, 6)
    machine = LinearSVC(penalty="l1", C=0.05, tol=1e-9, fit_intercept=FITS[bias.value]).fit(X, y)
    optimum = optimum_by_clarabel(X, y, np.full(80, 0.05), SquaredHinge(), bias, "l1")
    assert machine.certificate_.primal == pytest.approx(optimum, rel=1e-7)


def test_the_linear_kernel_machine_is_the_same_machine():
    X, y = helpers.cancer()
    linear, kernel = LinearSVC(loss="hinge", C=0.3).fit(X, y), SVC(kernel="linear", C=0.3).fit(X, y)
    np.testing.assert_allclose(linear.coef_, kernel.coef_, atol=1e-6)
    np.testing.assert_allclose(linear.intercept_, kernel.intercept_, atol=1e-6)
    squared = LinearSVC(C=0.3, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(
        squared.coef_, SVC(kernel="linear", loss="squared_hinge", C=0.3).fit(X, y).coef_, atol=1e-6
    )


def test_logistic_regression_equals_scikit_learns():
    X, y = load_breast_cancer(return_X_y=True)
    X = helpers.standardised(X)
    theirs = LogisticRegression(C=0.7, tol=1e-10, max_iter=10_000).fit(X, y)
    ours = LinearSVC(loss="logistic", C=0.7, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)


def objective(X, y, w, b, C, penalty):
    slack = np.maximum(0.0, 1.0 - y * (X @ w + b))
    norm = 0.5 * (w @ w + b * b) if penalty == "l2" else np.abs(w).sum() + abs(b)
    return norm + C * (slack**2).sum()


@pytest.mark.parametrize("penalty", ["l2", "l1"])
@pytest.mark.parametrize("C", [0.01, 1.0])
@pytest.mark.parametrize("case", [helpers.cancer, helpers.digits_pair, helpers.overlapping])
def test_objectives_equal_liblinears_at_tight_tolerance(case, C, penalty):
    X, y = case()
    ours = LinearSVC(penalty=penalty, C=C, fit_intercept="regularized", tol=1e-8).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = Theirs(penalty=penalty, C=C, dual=False, tol=1e-10, max_iter=100_000).fit(X, y)
    found = objective(X, y, ours.coef_[0], ours.intercept_[0], C, penalty)
    assert found == pytest.approx(ours.certificate_.primal, rel=1e-10)
    assert found <= objective(X, y, theirs.coef_[0], theirs.intercept_[0], C, penalty) * (1 + 1e-6)
    if penalty == "l1":
        proved = ours.zero_features_
        assert not np.any(ours.coef_[0][proved])
        assert not np.any(np.abs(theirs.coef_[0][proved]) > 1e-6)
        assert proved.sum() >= 0.9 * np.count_nonzero(ours.coef_[0] == 0)


def test_regression_is_no_worse_than_scikit_learns():
    X, y = load_diabetes(return_X_y=True)
    for loss in ("epsilon_insensitive", "squared_epsilon_insensitive"):
        ours = LinearSVR(loss=loss, C=1.0, epsilon=5.0, fit_intercept="regularized").fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = TheirRegressor(loss=loss, C=1.0, epsilon=5.0, max_iter=100_000, tol=1e-8, random_state=0).fit(X, y)
        slack = np.maximum(0.0, np.abs(y - theirs.predict(X)) - 5.0)
        b = float(np.ravel(theirs.intercept_)[0])
        value = 0.5 * (theirs.coef_ @ theirs.coef_ + b * b) + (slack ** (1 + loss.startswith("squared"))).sum()
        assert ours.certificate_.primal <= value * (1 + 1e-9)


@pytest.mark.parametrize("load", [load_iris, load_digits])
def test_several_classes_are_one_versus_the_rest(load):
    X, y = load(return_X_y=True)
    X = X / X.std()
    machine = LinearSVC(C=0.1, tol=1e-7).fit(X, y)
    assert len(machine.certificate_.parts) == len(machine.classes_) == len(machine.coef_)
    for k in machine.classes_[:3]:
        alone = LinearSVC(C=0.1, tol=1e-7).fit(X, y == k)
        np.testing.assert_allclose(machine.coef_[k], alone.coef_[0], atol=1e-4)
    assert machine.score(X, y) > 0.9

"""Machines for many classes against a conic solver, LIBLINEAR (through scikit-learn) and scikit-learn's reductions."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC as TheirSVC
from sklearn.svm import LinearSVC as Theirs

from maxmargin import SVC, LinearSVC
from maxmargin.losses import Hinge, SquaredHinge
from maxmargin.losses.multiclass import JointLoss
from tests.joint_helpers import blobs, features_of, joint_optimum_by_clarabel

JOINT = [(m, loss) for m in ("crammer_singer", "weston_watkins") for loss in (Hinge(), SquaredHinge())]
SETS = {"iris": load_iris, "digits": load_digits}


def joint_loss(multi_class, loss):
    return JointLoss(multi_class == "crammer_singer", isinstance(loss, SquaredHinge))


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("C", [0.1, 1.0])
def test_crammer_singer_equals_liblinear(name, C):
    X, y = SETS[name](return_X_y=True)
    X = X / X.max()
    ours = LinearSVC(multi_class="crammer_singer", C=C, tol=1e-7, random_state=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        theirs = Theirs(multi_class="crammer_singer", C=C, tol=1e-9, max_iter=200_000, random_state=0).fit(X, y)
    norm = 0.5 * (np.sum(theirs.coef_**2) + np.sum(theirs.intercept_**2))
    objective = norm + C * JointLoss(True, False).value(X @ theirs.coef_.T + theirs.intercept_, y).sum()
    assert ours.certificate_.primal == pytest.approx(objective, rel=1e-5)
    assert ours.certificate_.relative_gap <= 1e-7
    agreed = ours.predict(X) == theirs.predict(X)
    assert agreed.mean() > 0.99


@pytest.mark.parametrize(("multi_class", "loss"), JOINT)
@pytest.mark.parametrize("C", [0.05, 1.0, 50.0])
@pytest.mark.parametrize("bias", [True, False])
def test_linear_joint_machines_reach_the_optimum_of_a_conic_solver(multi_class, loss, C, bias):
    X, labels = blobs(n=40, d=3, k=4, seed=7)
    machine = LinearSVC(multi_class=multi_class, loss=loss, C=C, fit_intercept=bias).fit(X, labels)
    wide = np.column_stack([X, np.ones(40)]) if bias else X
    optimum = joint_optimum_by_clarabel(wide, labels, np.full(40, C), joint_loss(multi_class, loss))
    assert machine.certificate_.primal == pytest.approx(optimum, rel=1e-6)
    assert machine.certificate_.dual == pytest.approx(optimum, rel=1e-6)
    scores = X @ machine.coef_.T + machine.intercept_
    norm = 0.5 * (np.sum(machine.coef_**2) + np.sum(machine.intercept_**2))
    value = norm + C * joint_loss(multi_class, loss).value(scores, labels).sum()
    assert value == pytest.approx(machine.certificate_.primal, rel=1e-9)


@pytest.mark.parametrize(("multi_class", "loss"), JOINT)
@pytest.mark.parametrize("C", [0.5, 20.0])
@pytest.mark.parametrize("bias", [True, False])
def test_kernel_joint_machines_reach_the_optimum_of_a_conic_solver(multi_class, loss, C, bias):
    X, labels = blobs(n=35, d=2, k=4, seed=5)
    machine = SVC(multi_class=multi_class, loss=loss, C=C, gamma=0.4, fit_intercept=bias).fit(X, labels)
    K = np.exp(-0.4 * np.square(X[:, None] - X).sum(axis=2)) + (1.0 if bias else 0.0)
    optimum = joint_optimum_by_clarabel(features_of(K), labels, np.full(35, C), joint_loss(multi_class, loss))
    assert machine.certificate_.primal == pytest.approx(optimum, rel=1e-6)
    assert machine.certificate_.dual == pytest.approx(optimum, rel=1e-6)
    scores = machine.decision_function(X)
    square = np.sum(machine.dual_coef_ @ K[np.ix_(machine.support_, machine.support_)] * machine.dual_coef_)
    value = 0.5 * square + C * joint_loss(multi_class, loss).value(scores, labels).sum()
    assert value == pytest.approx(machine.certificate_.primal, rel=1e-8)


@pytest.mark.parametrize(("multi_class", "loss"), JOINT)
def test_the_linear_kernel_machine_is_the_same_machine(multi_class, loss):
    X, labels = blobs(n=120, d=4, k=5, seed=2)
    settings = {"multi_class": multi_class, "loss": loss, "C": 0.5}
    linear, kernel = LinearSVC(**settings).fit(X, labels), SVC(kernel="linear", **settings).fit(X, labels)
    np.testing.assert_allclose(linear.coef_, kernel.coef_, atol=1e-4)
    np.testing.assert_allclose(linear.intercept_, kernel.intercept_, atol=1e-4)
    assert linear.certificate_.primal == pytest.approx(kernel.certificate_.primal, rel=1e-8)


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=repr)
@pytest.mark.parametrize("multi_class", ["crammer_singer", "weston_watkins"])
def test_two_classes_are_one_machine_with_half_the_weights(multi_class, loss):
    """With k = 2 both losses are max(0, 1 - y (w_1 - w_0)'x)^p: a machine in w_1 - w_0 whose norm counts half."""
    X, labels = blobs(n=60, d=3, k=2, seed=4)
    joint = LinearSVC(multi_class=multi_class, loss=loss, C=0.3).fit(X, labels)
    binary = LinearSVC(loss=loss, C=0.6, fit_intercept="regularized").fit(X, labels)
    np.testing.assert_allclose(joint.coef_, binary.coef_, atol=1e-5)
    np.testing.assert_allclose(joint.intercept_, binary.intercept_, atol=1e-5)
    assert 2.0 * joint.certificate_.primal == pytest.approx(binary.certificate_.primal, rel=1e-7)
    np.testing.assert_array_equal(joint.predict(X), binary.predict(X))


def test_kernel_one_versus_rest_equals_scikit_learns():
    X, y = load_digits(return_X_y=True)
    X = X / 16.0
    ours = SVC(multi_class="ovr", C=5.0, gamma=0.05, tol=1e-5).fit(X, y)
    theirs = OneVsRestClassifier(TheirSVC(C=5.0, gamma=0.05, tol=1e-5)).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=2e-3)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    for k, binary in enumerate(theirs.estimators_):
        assert ours.certificate_.parts[k].dual == pytest.approx(_dual(binary, X, y == k), rel=1e-5)


def _dual(binary, X, positive):
    K = np.exp(-binary.gamma * np.square(binary.support_vectors_[:, None] - binary.support_vectors_).sum(axis=2))
    beta = binary.dual_coef_[0]
    return np.abs(beta).sum() - 0.5 * beta @ K @ beta


def test_linear_pairs_equal_the_pairs_of_the_linear_kernel():
    X, y = load_iris(return_X_y=True)
    linear = LinearSVC(multi_class="ovo", loss="hinge").fit(X, y)
    kernel = SVC(kernel="linear", break_ties=True).fit(X, y)
    np.testing.assert_allclose(linear.coef_, kernel.coef_, atol=1e-6)
    np.testing.assert_allclose(linear.decision_function(X), kernel.decision_function(X), atol=1e-5)
    np.testing.assert_array_equal(linear.predict(X), kernel.predict(X))


@pytest.mark.parametrize("multi_class", ["ovo", "ovr", "codes"])
def test_linear_and_kernel_reductions_agree(multi_class):
    X, labels = blobs(n=80, d=3, k=4, seed=1)
    linear = LinearSVC(multi_class=multi_class, loss="hinge", C=0.7).fit(X, labels)
    kernel = SVC(multi_class=multi_class, kernel="linear", C=0.7, break_ties=True).fit(X, labels)
    np.testing.assert_allclose(linear.coef_, kernel.coef_, atol=1e-5)
    np.testing.assert_allclose(linear.decision_function(X), kernel.decision_function(X), atol=1e-4)
    assert linear.certificate_.primal == pytest.approx(kernel.certificate_.primal, rel=1e-7)


def test_float32_tiles_prove_as_much():
    """Above 1,000 rows kernel values are float32; the certificate is still worked out in float64."""
    X, labels = blobs(n=1500, d=4, k=5, seed=0)
    for multi_class in ("crammer_singer", "weston_watkins"):
        machine = SVC(multi_class=multi_class, C=2.0, gamma=0.5, tol=1e-4).fit(X, labels)
        K = np.exp(-0.5 * np.square(X[:, None] - X).sum(axis=2))
        exact = SVC(multi_class=multi_class, C=2.0, kernel="precomputed", tol=1e-4).fit(K, labels)
        assert machine.certificate_.violation <= 1e-4 * (1 + 1e-6)
        assert machine.certificate_.relative_gap < 1e-4
        assert machine.certificate_.primal == pytest.approx(exact.certificate_.primal, rel=2e-4)


def test_sparse_rows_are_the_same_problem():
    X, y = load_digits(return_X_y=True)
    for multi_class in ("crammer_singer", "weston_watkins"):
        dense = LinearSVC(multi_class=multi_class, loss="hinge", C=0.01, random_state=0, tol=1e-6).fit(X, y)
        packed = LinearSVC(multi_class=multi_class, loss="hinge", C=0.01, random_state=0, tol=1e-6)
        packed.fit(sparse.csr_array(X), y)
        assert dense.certificate_.primal == pytest.approx(packed.certificate_.primal, rel=2e-6)

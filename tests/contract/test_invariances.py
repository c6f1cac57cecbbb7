"""What must not change the machine, and what must follow from it: properties on generated data."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from maxmargin import SVC, certify, margins, soft_margin
from maxmargin.gram import Gram
from maxmargin.kernels import RBF, Linear
from tests.helpers import multipliers

SEEDS = st.integers(0, 2**32 - 1)
MACHINES = st.sampled_from(
    [
        {"gamma": 0.5},
        {"kernel": "linear", "C": 0.3},
        {"kernel": "laplacian", "gamma": 0.4, "C": 5.0},
        {"kernel": "poly", "degree": 2, "gamma": 0.5, "coef0": 1.0},
        {"gamma": "scale", "loss": "squared_hinge", "C": 2.0},
        {"gamma": 0.5, "fit_intercept": False},
        {"gamma": 0.5, "fit_intercept": "regularized", "loss": "squared_hinge"},
    ]
)


def data(seed, n=40, d=3, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n) > 0.8).astype(int) + (classes > 2) * (X[:, 2] > 0.8)
    y[:classes] = np.arange(classes)
    return X, y, rng


def same(a, b, X, atol=1e-6):
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), atol=atol)


@given(SEEDS, MACHINES, st.sampled_from([2, 3]))
def test_sample_weights_equal_repetition(seed, settings, classes):
    X, y, rng = data(seed, classes=classes)
    weights = rng.integers(0, 4, size=len(y))
    weights[:classes] = 1
    repeated = SVC(**settings).fit(X.repeat(weights, axis=0), y.repeat(weights))
    same(SVC(**settings).fit(X, y, weights), repeated, X)


@given(SEEDS, MACHINES)
def test_balanced_class_weights_equal_repetition(seed, settings):
    X, y, rng = data(seed)
    weights = rng.integers(1, 4, size=len(y))
    settings = settings | {"class_weight": "balanced"}
    repeated = SVC(**settings).fit(X.repeat(weights, axis=0), y.repeat(weights))
    same(SVC(**settings).fit(X, y, weights), repeated, X)


@given(SEEDS, MACHINES, st.sampled_from([2, 3]))
def test_order_of_rows_and_names_of_labels(seed, settings, classes):
    X, y, rng = data(seed, classes=classes)
    machine = SVC(**settings).fit(X, y)
    order = rng.permutation(len(y))
    shuffled = SVC(**settings).fit(X[order], y[order])
    same(machine, shuffled, X)
    assert set(order[shuffled.support_]) == set(machine.support_)
    names = np.array(["ant", "bee", "cat"])
    named = SVC(**settings).fit(X, names[y])
    same(machine, named, X)
    np.testing.assert_array_equal(named.predict(X), names[machine.predict(X)])


@given(SEEDS, MACHINES)
def test_swapped_labels_flip_the_sign(seed, settings):
    X, y, _ = data(seed)
    np.testing.assert_allclose(
        SVC(**settings).fit(X, y).decision_function(X), -SVC(**settings).fit(X, 1 - y).decision_function(X), atol=1e-6
    )


@given(SEEDS, st.floats(-1e3, 1e3), st.sampled_from(["hinge", "squared_hinge"]))
def test_translation_and_rotation(seed, shift, loss):
    X, y, rng = data(seed)
    rotation, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    moved = X @ rotation + shift
    settings = {"gamma": 0.5, "loss": loss}
    a, b = SVC(**settings).fit(X, y), SVC(**settings).fit(moved, y)
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(moved), atol=1e-5)


@given(SEEDS, MACHINES)
def test_sparse_equals_dense(seed, settings):
    X, y, rng = data(seed)
    X = X * (rng.random(X.shape) < 0.6)
    a, b = SVC(**settings).fit(X, y), SVC(**settings).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(sparse.csr_matrix(X)), atol=1e-6)


@given(SEEDS, MACHINES)
def test_the_support_vectors_alone_give_the_same_hyperplane(seed, settings):
    X, y, _ = data(seed)
    settings = settings | {"gamma": 0.5}  # "scale" would change with the rows
    machine = SVC(**settings).fit(X, y)
    alone = SVC(**settings).fit(X[machine.support_], y[machine.support_])
    same(machine, alone, X, atol=1e-5)


@given(SEEDS, st.floats(0.01, 100.0))
def test_slacks_bound_the_training_errors(seed, C):
    X, y, _ = data(seed)
    signs = np.where(y == 1, 1.0, -1.0)
    machine = SVC(kernel=RBF(0.5), C=C).fit(X, y)
    alpha = multipliers(machine, len(y))
    slacks = margins(soft_margin(Gram(RBF(0.5), X), signs, C), alpha).slacks
    assert slacks.sum() >= np.sum(machine.predict(X) != y) - 1e-6
    assert np.all(slacks[machine.predict(X) != y] >= 1 - 1e-6)


@given(SEEDS)
def test_gaussian_hard_margin_separates_any_distinct_points(seed):
    rng = np.random.default_rng(seed)
    X = rng.permutation(np.stack(np.meshgrid(np.arange(6.0), np.arange(6.0)), axis=-1).reshape(-1, 2))[:20]
    y = rng.integers(0, 2, size=20)
    y[:2] = [0, 1]
    machine = SVC(kernel=RBF(1.0), C=float("inf")).fit(X, y)
    signs = np.where(y == 1, 1.0, -1.0)
    assert np.min(signs * machine.decision_function(X)) >= 1 - 1e-6
    assert machine.certificate_.relative_gap < 1e-6


@given(SEEDS)
def test_the_hard_margin_separates_or_proves_that_nothing_does(seed):
    """Random labels in the plane: compare with a linear program that looks for any separating line."""
    from scipy.optimize import linprog

    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(8, 2)).round(1), np.array([0, 1] * 4)
    signs = np.where(y == 1, 1.0, -1.0)
    rows = -signs[:, None] * np.column_stack([X, np.ones(8)])
    exists = linprog(np.zeros(3), A_ub=rows, b_ub=-np.ones(8), bounds=(None, None)).status == 0
    machine = SVC(kernel="linear", C=float("inf"))
    if exists:
        assert np.min(signs * machine.fit(X, y).decision_function(X)) >= 1 - 1e-6
    else:
        with pytest.raises(ValueError, match="no hyperplane separates"):
            machine.fit(X, y)


@given(SEEDS, st.sampled_from([0.1, 1.0, 50.0]))
def test_complementary_slackness(seed, C):
    X, y, _ = data(seed)
    signs = np.where(y == 1, 1.0, -1.0)
    machine = SVC(kernel=RBF(0.5), C=C).fit(X, y)
    alpha = multipliers(machine, len(y))
    problem = soft_margin(Gram(RBF(0.5), X), signs, C)
    seen = margins(problem, alpha)
    np.testing.assert_allclose(alpha * (signs * seen.decision - 1 + seen.slacks), 0.0, atol=1e-6 * C)
    np.testing.assert_allclose(seen.slack_multipliers * seen.slacks, 0.0, atol=1e-6 * C)
    assert abs(signs @ alpha) < 1e-9 * C
    np.testing.assert_allclose(machine.decision_function(X), seen.decision, atol=1e-6)


@pytest.mark.parametrize("n", [300, 2000, 3000])
def test_classes_that_overlap_are_refused(n):
    from sklearn.datasets import make_classification

    X, y = make_classification(n, 20, flip_y=0.1, random_state=0)
    for fit_intercept, message in (
        (True, "convex hulls of the classes meet"),
        (False, "hyperplane through the origin"),
    ):
        with pytest.raises(ValueError, match=message):
            SVC(kernel="linear", C=float("inf"), fit_intercept=fit_intercept).fit(X, y)


def test_a_separable_large_problem_is_solved_with_the_hard_margin():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 4))
    y = (X @ [1.0, -2.0, 0.5, 1.0] > 0).astype(int)
    X[y == 1] += 0.05
    machine = SVC(kernel=Linear(), C=float("inf")).fit(X, y)
    signs = np.where(y == 1, 1.0, -1.0)
    assert np.min(signs * machine.decision_function(X)) > 0.998
    assert machine.certificate_.relative_gap < 1e-2
    problem = soft_margin(Gram(Linear(), X), signs, np.inf)
    alpha = multipliers(machine, 6000)
    assert certify(problem, alpha).relative_gap == pytest.approx(machine.certificate_.relative_gap, rel=1e-3)


@pytest.mark.parametrize("offset", [1e6, 1e8])
def test_linear_machines_do_not_depend_on_the_origin(offset):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(int)
    X[:, 0] += np.where(y == 1, 0.2, -0.2)
    for C in (1.0, float("inf")):
        near, far = SVC(kernel="linear", C=C).fit(X, y), SVC(kernel="linear", C=C).fit(X + offset, y)
        np.testing.assert_allclose(near.coef_, far.coef_, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(near.decision_function(X), far.decision_function(X + offset), atol=1e-4)
    two = SVC(kernel="linear", C=float("inf")).fit([[offset], [offset + 1]], [0, 1])
    np.testing.assert_array_equal(two.predict([[offset], [offset + 1]]), [0, 1])


def test_the_hard_margin_without_bias():
    machine = SVC(kernel="linear", C=float("inf"), fit_intercept=False)
    with pytest.raises(ValueError, match="no hyperplane through the origin separates class 0 from class 1"):
        machine.fit([[1.0], [2.0]], [0, 1])
    np.testing.assert_allclose(machine.fit([[-1.0], [2.0]], [0, 1]).coef_, [[1.0]])


def test_near_points_are_distinct_points():
    X, y = np.array([[0.0], [1e-5], [3.0], [4.0]]), np.array([0, 1, 0, 1])
    machine = SVC(C=float("inf"), gamma=1.0).fit(X, y)
    np.testing.assert_array_equal(machine.predict(X), y)

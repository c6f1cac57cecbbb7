"""The losses of all classes at once: the notes' example, gradients, and the exact step of one row."""

import clarabel
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from maxmargin.losses.multiclass import (
    JointLoss,
    best_row,
    max_hinge,
    max_hinge_gradient,
    row_inside,
    row_terms,
    row_violation,
    squared_sum_hinge,
    squared_sum_hinge_gradient,
    sum_hinge,
    sum_hinge_gradient,
)
from tests.joint_helpers import JOINT_LOSSES, name_of

# Notes 004: the scores of (cat, car, frog) for a picture of each.
SCORES = np.array([[3.2, 5.1, -1.7], [1.3, 4.9, 2.0], [2.2, 2.5, -3.1]])
LABELS = np.array([0, 1, 2])


@pytest.mark.parametrize(
    ("loss", "rows", "mean"),
    [
        (sum_hinge, [2.9, 0.0, 12.9], 5.27),
        (max_hinge, [2.9, 0.0, 6.6], 3.17),
        (squared_sum_hinge, [8.41, 0.0, 83.25], 30.55),
    ],
)
def test_the_worked_example_of_the_notes(loss, rows, mean):
    np.testing.assert_allclose(loss(SCORES, LABELS), rows, atol=1e-12)
    assert loss(SCORES, LABELS).mean() == pytest.approx(mean, abs=0.005)


def test_the_questions_of_the_notes():
    moved = SCORES.copy()
    moved[1] += [0.1, -0.1, 0.1]  # the car's scores a bit: its margins of 2.6 and 1.9 remain
    for loss in JOINT_LOSSES:
        assert loss.value(moved, LABELS)[1] == 0.0
        assert loss.value(2.0 * SCORES, LABELS)[1] == 0.0  # W is not unique: 2W has no loss either
    for k in (2, 3, 10):  # small weights at the start: all scores 0
        nothing, labels = np.zeros((4, k)), np.arange(4) % k
        np.testing.assert_array_equal(sum_hinge(nothing, labels), k - 1)
        np.testing.assert_array_equal(max_hinge(nothing, labels), 1)
    far = np.array([[100.0, 0.0, -5.0]])
    assert sum_hinge(far, [0])[0] == 0.0  # the least a loss can be; there is no largest
    assert sum_hinge(-1e6 * far, [0])[0] > 1e8


@pytest.mark.parametrize(
    ("value", "gradient"),
    [
        (max_hinge, max_hinge_gradient),
        (sum_hinge, sum_hinge_gradient),
        (squared_sum_hinge, squared_sum_hinge_gradient),
        (JointLoss(True, True).value, JointLoss(True, True).gradient),
    ],
)
def test_gradients_are_those_of_differences(value, gradient):
    rng = np.random.default_rng(0)
    scores, labels, h = rng.normal(size=(30, 5)), rng.integers(0, 5, 30), 1e-6
    found = gradient(scores, labels)
    for j in range(5):
        step = np.zeros(5)
        step[j] = h
        difference = (value(scores + step, labels) - value(scores - step, labels)) / (2.0 * h)
        np.testing.assert_allclose(found[:, j], difference, atol=1e-5)
    np.testing.assert_allclose(found.sum(axis=1), 0.0, atol=1e-12)


@pytest.mark.parametrize("loss", JOINT_LOSSES, ids=name_of)
def test_gradients_support_the_loss_from_below(loss):
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 4, 50)
    here, there = rng.normal(size=(50, 4)), rng.normal(size=(50, 4))
    below = loss.value(here, labels) + np.sum(loss.gradient(here, labels) * (there - here), axis=1)
    assert np.all(loss.value(there, labels) >= below - 1e-12)


@pytest.mark.parametrize(
    ("scores", "labels", "words"),
    [
        (np.zeros(3), [0], "a row per label"),
        (np.zeros((2, 3)), [0], "a row per label"),
        (np.zeros((1, 1)), [0], "at least two classes"),
        (np.zeros((1, 3)), [3], "class indices"),
        (np.zeros((1, 3)), [0.5], "class indices"),
    ],
)
def test_bad_scores_and_labels(scores, labels, words):
    with pytest.raises(ValueError, match=words):
        sum_hinge(scores, np.asarray(labels))


def row_optimum(loss, c, q, t, a):
    """max over a' of the row's part of the dual: sum_j d_j t_j - q/2 (||d||^2 + (sum d)^2) - paid, d = a' - a."""
    m = len(t)
    H = q * (np.eye(m) + 1.0)
    linear = -(t + q * a + q * a.sum())
    if loss.squared:
        H = H + (np.ones((m, m)) if loss.maximum else np.eye(m)) / (2.0 * c)
    bounds, limits = [-np.eye(m)], [np.zeros(m)]
    if not loss.squared:
        bounds.append(np.ones((1, m)) if loss.maximum else np.eye(m))
        limits.append(np.full(1 if loss.maximum else m, c))
    settings_ = clarabel.DefaultSettings()
    settings_.verbose = False
    settings_.tol_gap_abs = settings_.tol_gap_rel = settings_.tol_feas = 1e-11
    A, b = sparse.csc_matrix(np.vstack(bounds)), np.concatenate(limits)
    cones = [clarabel.NonnegativeConeT(len(b))]
    solver = clarabel.DefaultSolver(sparse.csc_matrix(np.triu(H)), linear, A, b, cones, settings_)
    return np.array(solver.solve().x), lambda x: 0.5 * x @ H @ x + linear @ x


@pytest.mark.parametrize("loss", JOINT_LOSSES, ids=name_of)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 8), c=st.floats(0.01, 100.0), q=st.floats(0.01, 100.0))
@settings(max_examples=40, deadline=None)
def test_the_step_of_a_row_is_the_optimum_of_a_conic_solver(loss, seed, k, c, q):
    rng = np.random.default_rng(seed)
    y = int(rng.integers(k))
    scores, beta = rng.normal(size=k) * rng.choice([0.1, 1.0, 10.0]), -c * rng.uniform(0, 1, k) / k
    row_inside(loss, c, y, beta)
    u, new = np.empty(k), np.empty(k)
    best_row(loss, c, q, y, scores, beta, u, new)
    others = np.arange(k) != y
    expected, cost = row_optimum(loss, c, q, 1.0 + scores[others] - scores[y], -beta[others])
    found = -new[others]
    assert np.all(found >= 0.0)
    assert new[y] == pytest.approx(found.sum(), rel=1e-12, abs=1e-15)
    scale = max(1.0, abs(cost(expected)))
    assert cost(found) <= cost(expected) + 1e-7 * scale
    inside = new.copy()
    row_inside(loss, c, y, inside)
    np.testing.assert_allclose(inside, new, rtol=1e-12)
    # At the new point the scores of the row have moved by q times the change, and its conditions hold.
    moved = scores + q * (new - beta)
    size = 1.0 + np.abs(moved).max() + q * np.abs(new).max()
    assert row_violation(loss, c, y, moved, new) <= 1e-9 * size
    assert row_terms(loss, c, y, moved, new)[2] <= 1e-8 * size * c * size


@pytest.mark.parametrize("loss", JOINT_LOSSES, ids=name_of)
def test_a_row_of_zeros_gets_the_multipliers_of_its_loss(loss):
    scores, beta, u, new = np.zeros(3), np.zeros(3), np.empty(3), np.empty(3)
    best_row(loss, 2.0, 0.0, 1, scores, beta, u, new)
    np.testing.assert_allclose(new, -2.0 * loss.gradient(np.zeros((1, 3)), np.array([1]))[0])
    assert row_terms(loss, 2.0, 1, scores, new)[2] == pytest.approx(0.0, abs=1e-12)
    assert row_violation(loss, 2.0, 1, scores, new) == pytest.approx(0.0, abs=1e-12)

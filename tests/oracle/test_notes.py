"""The lecture notes' worked examples."""

import numpy as np
import pytest

from maxmargin import SVC, certify, margins, soft_margin
from maxmargin.gram import Gram
from maxmargin.kernels import RBF, Linear, Polynomial
from tests.helpers import NOTES_ALPHA, NOTES_SUPPORT, NOTES_X, NOTES_Y, multipliers


@pytest.fixture(scope="module")
def machine():
    return SVC(kernel="linear", C=float("inf")).fit(NOTES_X, NOTES_Y)


def test_example_23_3_hyperplane(machine):
    np.testing.assert_allclose(machine.coef_, [[5 / 6, 1 / 3]], atol=1e-6)
    np.testing.assert_allclose(machine.intercept_, [-10 / 3], atol=1e-6)
    assert machine.certificate_.dual == pytest.approx(29 / 72, abs=1e-6)
    assert machine.certificate_.primal == pytest.approx(29 / 72, abs=1e-6)
    assert machine.margin_ == pytest.approx(1 / np.hypot(5 / 6, 1 / 3), abs=1e-6)


def test_example_23_3_rows_on_the_margin(machine):
    slack = np.abs(NOTES_Y * machine.decision_function(NOTES_X) - 1)
    assert set(np.flatnonzero(slack <= 1e-6)) == NOTES_SUPPORT
    assert set(machine.support_) <= NOTES_SUPPORT


def test_example_23_3_printed_multipliers():
    problem = soft_margin(Gram(Linear(), NOTES_X), NOTES_Y, np.inf)
    proof = certify(problem, NOTES_ALPHA)
    assert proof.dual == pytest.approx(29 / 72, abs=1e-6)
    assert 0 <= proof.relative_gap < 1e-3
    seen = margins(problem, NOTES_ALPHA)
    np.testing.assert_allclose(seen.bias, -3.332, atol=2e-3)
    assert seen.width == pytest.approx(2 * seen.margin)


def test_distance_to_the_hyperplane(machine):
    w, b = machine.coef_[0], machine.intercept_[0]
    by_hand = np.abs(NOTES_X @ w + b) / np.linalg.norm(w)
    np.testing.assert_allclose(machine.distance(NOTES_X), by_hand, rtol=1e-9)
    assert by_hand.min() == pytest.approx(machine.margin_, rel=1e-9)


def test_quadratic_feature_map():
    x, z = np.array([[0.5, -1.25]]), np.array([[2.0, 0.75]])
    kernel = Polynomial(degree=2, gamma=1.0, coef0=1.0)
    phi = kernel.feature_map(x)[0]
    notes = [1, np.sqrt(2) * 0.5, np.sqrt(2) * -1.25, 0.25, 1.25**2, np.sqrt(2) * 0.5 * -1.25]
    np.testing.assert_allclose(np.sort(phi), np.sort(notes))
    np.testing.assert_allclose(kernel.feature_map(x) @ kernel.feature_map(z).T, kernel(x, z))
    np.testing.assert_allclose(kernel(x, z), (1 + x @ z.T) ** 2)


def test_xor_becomes_separable_with_the_quadratic_kernel():
    X, y = np.array([[0, 0], [1, 1], [0, 1], [1, 0]]), np.array([0, 0, 1, 1])
    with pytest.raises(ValueError, match="no hyperplane separates"):
        SVC(kernel="linear", C=float("inf")).fit(X, y)
    machine = SVC(kernel="poly", degree=2, coef0=1, gamma=1.0, C=float("inf")).fit(X, y)
    np.testing.assert_array_equal(machine.predict(X), y)


def test_width_of_the_gaussian_kernel():
    X = np.array([[0.0, 0.0], [3.0, 4.0]])
    np.testing.assert_allclose(RBF(sigma=2.0)(X)[0, 1], np.exp(-25 / (2 * 2.0**2)))
    with pytest.raises(ValueError, match="not both"):
        RBF(gamma=1.0, sigma=1.0)


def test_leave_one_out_bound_and_slack_multipliers():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0], [1.2], [1.8]]), np.array([-1, -1, 1, 1, 1, -1.0])
    problem = soft_margin(Gram(Linear(), X), y, 2.0)
    machine = SVC(kernel="linear", C=2.0).fit(X, y)
    alpha = multipliers(machine, 6)
    seen = margins(problem, alpha)
    assert seen.leave_one_out == len(machine.support_) / 6
    np.testing.assert_allclose(seen.slack_multipliers, 2.0 - alpha, atol=1e-12)
    np.testing.assert_allclose(seen.slack_multipliers * seen.slacks, 0, atol=1e-7)  # complementary slackness
    np.testing.assert_allclose(alpha * (y * seen.decision - 1 + seen.slacks), 0, atol=1e-7)
    assert set(seen.free) | set(seen.bounded) == set(machine.support_)
    assert np.all(np.abs(y[seen.free] * seen.decision[seen.free] - 1) < 1e-7)

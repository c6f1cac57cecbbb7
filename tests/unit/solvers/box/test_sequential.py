"""Sequences of quadratic models: every power, bias and cost to the last digits, whole or in chunks."""

import numpy as np
import pytest

from maxmargin.gram import Gram
from maxmargin.kernels import RBF, Linear
from maxmargin.losses import Logistic, PowerHinge
from maxmargin.models import Bias, soft_margin
from maxmargin.problems.solution import Status
from maxmargin.solvers import Options, solve
from maxmargin.solvers.box.sequential import length_of
from tests import helpers
from tests.linear_helpers import BIASES, name_of, problem

LOSSES = [PowerHinge(1.05), PowerHinge(1.2), PowerHinge(1.5), PowerHinge(1.9), Logistic()]


def test_a_search_ends_where_the_slope_is_next_to_nothing():
    assert length_of(lambda t: 1.0 - 0.5 * t, 1.0) == 1.0  # still rising at the end
    assert length_of(lambda t: 1.0 - t, 1.0) == 1.0
    assert length_of(lambda t: 1.0 - 8.0 * t, 1.0) == pytest.approx(0.125, abs=0.02)
    assert length_of(lambda t: -1.0, 0.0) == 0.0
    assert 0.0 < length_of(lambda t: 1.0 if t < 1e-6 else -1.0, 1.0) <= 1e-6


@pytest.mark.parametrize("loss", LOSSES, ids=name_of)
@pytest.mark.parametrize("bias", BIASES, ids=name_of)
@pytest.mark.parametrize("C", [0.01, 1.0, pytest.param(100.0, marks=pytest.mark.large)])
@pytest.mark.large
def test_the_linear_kernel_is_the_linear_machine(loss, bias, C):
    X, y = helpers.overlapping(80, 4)
    kernel = Linear() + 1.0 if bias is Bias.REGULARIZED else Linear()
    found = solve(soft_margin(Gram(kernel, X), y, C, loss, bias), Options(tol=1e-6))
    linear = solve(problem(X, y, loss, bias, C), Options(tol=1e-10))
    assert found.status is Status.CONVERGED
    assert found.solver == "sqp"
    assert found.certificate.violation < 1e-6
    assert found.certificate.primal == pytest.approx(linear.certificate.primal, rel=1e-6)
    assert found.certificate.dual == pytest.approx(linear.certificate.primal, rel=1e-6)
    np.testing.assert_allclose(found.beta @ X, linear.point.v[:4], atol=1e-4 * np.abs(linear.point.v).max())


@pytest.mark.large
@pytest.mark.parametrize("loss", [PowerHinge(1.05), PowerHinge(1.5), Logistic()], ids=name_of)
@pytest.mark.parametrize("bias", [Bias.FREE, Bias.NONE], ids=name_of)
def test_chunks_and_float32_reach_the_same_optimum(loss, bias):
    X, y = helpers.moons(1300)
    whole = solve(soft_margin(Gram(RBF(1.0), X), y, 1.0, loss, bias), Options(tol=1e-5))
    options = Options(tol=1e-3, working_rows=200, shrinking=False)
    parts = solve(soft_margin(Gram(RBF(1.0), X, accuracy=1e-3, budget=1 << 20), y, 1.0, loss, bias), options)
    assert whole.status is parts.status is Status.CONVERGED
    assert parts.certificate.violation <= 1e-3 * (1 + 1e-6)
    assert parts.certificate.dual <= whole.certificate.primal
    assert parts.certificate.dual == pytest.approx(whole.certificate.dual, rel=1e-5)
    assert len(parts.trace) > len(whole.trace)


@pytest.mark.parametrize("loss", [PowerHinge(1.5), Logistic()], ids=name_of)
def test_rows_without_cost_do_not_count(loss):
    X, y = helpers.overlapping(60, 3)
    costs = np.where(np.arange(60) % 3, 1.5, 0.0)
    found = solve(soft_margin(Gram(RBF(0.5), X), y, costs, loss))
    some = solve(soft_margin(Gram(RBF(0.5), X[costs > 0]), y[costs > 0], 1.5, loss))
    assert not found.beta[costs == 0].any()
    assert found.certificate.primal == pytest.approx(some.certificate.primal, rel=1e-9)


@pytest.mark.large
@pytest.mark.parametrize("loss", [PowerHinge(1.2), Logistic()], ids=name_of)
def test_unscaled_rows_and_weights_of_all_sizes_end(loss):
    rng = np.random.default_rng(0)
    X = 30.0 * rng.normal(size=(150, 4)) + 100.0
    y = np.where(X[:, 0] + 30.0 * rng.normal(size=150) > 100.0, 1.0, -1.0)
    found = solve(soft_margin(Gram(Linear(), X - X.mean(axis=0)), y, 0.1, loss))
    assert found.status is Status.CONVERGED
    weighted = solve(soft_margin(Gram(RBF(1e-3), X), y, 10.0 ** rng.uniform(-3, 2, 150), loss))
    assert weighted.status is Status.CONVERGED
    assert weighted.certificate.relative_gap < 1e-6


def test_limits_and_starts():
    X, y = helpers.overlapping(200, 4)
    stated = soft_margin(Gram(RBF(0.5), X), y, 5.0, PowerHinge(1.3))
    stopped = solve(stated, Options(tol=1e-6, max_iter=100))
    assert stopped.status is Status.ITERATION_LIMIT
    assert stopped.iterations <= 100
    best = solve(stated, Options(tol=1e-6))
    assert stopped.certificate.dual <= best.certificate.dual <= stopped.certificate.primal
    again = solve(stated, Options(tol=1e-6, start=best.point))
    assert again.status is Status.CONVERGED
    assert again.iterations < best.iterations / 4
    same = solve(
        soft_margin(Gram(RBF(0.5), np.repeat(X[:1], 4, axis=0)), np.array([1.0, -1.0, 1.0, 1.0]), 1.0, Logistic())
    )
    assert same.status is Status.CONVERGED  # equal rows of both classes

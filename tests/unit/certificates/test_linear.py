"""The duality gap of linear machines: a bound for any point, tight at the optimum."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.certificates import certify, prove
from maxmargin.certificates.linear import balanced, best_bias, doubt_of_sums, rounding, row_multipliers
from maxmargin.losses import (
    EpsilonInsensitive,
    Hinge,
    Huber,
    HuberHinge,
    Logistic,
    PowerHinge,
    SquaredEpsilonInsensitive,
    SquaredHinge,
)
from maxmargin.losses.base import dual_step, total
from maxmargin.problems.box import Bias
from maxmargin.problems.solution import Point
from maxmargin.solvers import Options, solve
from tests.linear_helpers import BIASES, LOSSES, data, name_of, optimum_by_clarabel, problem

CONIC = [
    Hinge(),
    SquaredHinge(),
    PowerHinge(1.5),
    EpsilonInsensitive(0.1),
    SquaredEpsilonInsensitive(0.1),
    Huber(0.3, 0.1),
]


def some_multipliers(task, rng):
    """Multipliers within their domains: dual steps from zero at random scores."""
    each = zip(task.y, task.costs, rng.normal(size=task.n), strict=True)
    return np.array([dual_step(task.loss, y, c, z, 0.0, 0.5) for y, c, z in each])


def by_definition(task, X, v):
    """Omega(w) + sum c l(y, Xw + b), with the loss written for arrays; what the norm counts includes a paid bias."""
    A = X if task.bias is Bias.NONE else np.column_stack([X, np.ones(len(X))])
    paid = v[:-1] if task.bias is Bias.FREE else v
    norm = np.abs(paid).sum() if task.penalty == "l1" else 0.5 * paid @ paid
    return norm + task.costs @ defined(task.loss, task.y, A @ v)


def defined(loss, y, z):
    """l(y, z) of every loss, as textbooks write it."""
    if isinstance(loss, Logistic):
        return np.log1p(np.exp(-y * z))
    if isinstance(loss, HuberHinge):
        m = y * z
        return np.where(m < 1 - loss.h, 1 - m, np.where(m > 1 + loss.h, 0.0, (1 + loss.h - m) ** 2 / (4 * loss.h)))
    short = np.maximum(0.0, 1 - y * z if loss.one_sided else np.abs(y - z) - loss.epsilon)
    if isinstance(loss, Huber):
        return np.where(short < loss.delta, short**2 / (2 * loss.delta), short - loss.delta / 2)
    if isinstance(loss, PowerHinge):
        return short**loss.p
    return short**2 if isinstance(loss, SquaredHinge | SquaredEpsilonInsensitive) else short


@pytest.mark.parametrize("loss", CONIC, ids=name_of)
@pytest.mark.parametrize("bias", BIASES, ids=name_of)
@pytest.mark.parametrize("seed", [0, 1])
def test_any_point_brackets_the_optimum_of_a_conic_solver(loss, bias, seed):
    X, y = data(loss, n=25, d=3, seed=seed)
    rng = np.random.default_rng(seed)
    costs = rng.uniform(0.2, 2.0, len(y))
    task = problem(X, y, loss, bias, costs)
    optimum = optimum_by_clarabel(X, y, costs, loss, bias)
    for _ in range(5):
        point = Point(rng.normal(size=task.d), some_multipliers(task, rng))
        proof = certify(task, point)
        assert proof.dual <= optimum + 1e-7 <= proof.primal + 2e-7
        assert proof.primal == pytest.approx(by_definition(task, X, point.v), rel=1e-12)
        assert proof.gap >= proof.primal - optimum - 1e-7
        assert proof.gap == pytest.approx(proof.primal - proof.dual, rel=1e-9)  # a sum of terms of its own


@pytest.mark.parametrize("loss", [SquaredHinge()], ids=name_of)
@pytest.mark.parametrize("bias", BIASES, ids=name_of)
def test_l1_points_bracket_the_optimum_of_a_conic_solver(loss, bias):
    X, y = data(loss, n=30, d=3)
    rng = np.random.default_rng(0)
    costs = rng.uniform(0.02, 0.2, len(y))
    task = problem(X, y, loss, bias, costs, "l1")
    optimum = optimum_by_clarabel(X, y, costs, loss, bias, "l1")
    for _ in range(5):
        v = 0.1 * rng.normal(size=task.d)
        proof = certify(task, Point(v, some_multipliers(task, rng)))
        assert proof.dual <= optimum + 1e-7 <= proof.primal + 2e-7
        assert proof.primal == pytest.approx(by_definition(task, X, v), rel=1e-12)
        assert proof.gap >= proof.primal - optimum - 1e-7
        assert proof.gap == pytest.approx(proof.primal - proof.dual, rel=1e-9)  # a sum of terms of its own


@pytest.mark.parametrize("loss", LOSSES, ids=name_of)
@given(seed=st.integers(0, 10**6), size=st.floats(1e-3, 10.0))
@settings(max_examples=15, deadline=None)
def test_gaps_are_sums_of_terms_that_are_never_negative(loss, seed, size):
    rng = np.random.default_rng(seed)
    X, y = data(loss, n=20, d=3, seed=seed)
    task = problem(X, y, loss, Bias.REGULARIZED, size)
    here, other = (size * rng.normal(size=task.d) for _ in range(2))
    proof = certify(task, Point(here))
    assert proof.gap >= 0.0
    value = by_definition(task, X, here)
    assert proof.primal == pytest.approx(value, rel=1e-12)
    for v in (other, np.zeros(task.d), 0.5 * here):  # no point anywhere is better by more than the gap
        assert by_definition(task, X, v) >= value - proof.gap * (1.0 + 1e-9)


@pytest.mark.parametrize(
    "loss", [SquaredHinge(), Logistic(), PowerHinge(1.3), SquaredEpsilonInsensitive(0.2), Huber()], ids=name_of
)
def test_smooth_losses_have_half_the_squared_gradient_as_gap(loss):
    X, y = data(loss)
    task = problem(X, y, loss, Bias.NONE)
    v = np.random.default_rng(1).normal(size=task.d)
    beta = row_multipliers(task, X @ v)
    gradient = v - X.T @ beta
    assert certify(task, Point(v)).gap == pytest.approx(0.5 * gradient @ gradient, rel=1e-9)


def test_balancing_scales_the_heavier_side_down():
    X, y = data(Hinge())
    task = problem(X, y, Hinge())
    beta = 0.5 * np.abs(y) * np.where(y > 0, 1.0, -0.3)
    made, moved = balanced(task, beta)
    assert abs(made.sum()) < 1e-12
    assert np.all(np.abs(made) <= np.abs(beta))
    assert 0.0 < moved < 1.0
    one_sided, moved = balanced(task, np.abs(beta))
    assert not one_sided.any()
    assert moved == 1.0


@pytest.mark.parametrize("loss", LOSSES, ids=name_of)
def test_best_bias_is_no_worse_than_its_neighbours(loss):
    X, y = data(loss)
    task = problem(X, y, loss)
    z = 3.0 + X @ np.ones(X.shape[1])
    b = best_bias(task, z)

    def cost(b):
        return total(loss, task.y, task.costs, z + b)

    for other in (b - 1e-3, b + 1e-3, b - 0.5, b + 0.5, 0.0):
        assert cost(b) <= cost(other) + 1e-9


class SlopesOnly:
    """A built-in loss of which only values and slopes are known."""

    def __init__(self, loss):
        self.one_sided, self.value, self.slope = loss.one_sided, loss.value, loss.slope


@pytest.mark.parametrize("loss", LOSSES, ids=name_of)
@pytest.mark.parametrize("bias", BIASES, ids=name_of)
def test_slopes_alone_bound_the_gap(loss, bias):
    """At any weights, also on kinks; at the optimum of a smooth loss the bound is next to nothing."""
    X, y = data(loss, n=40, d=3)
    task, known = problem(X, y, SlopesOnly(loss), bias, 0.4), problem(X, y, loss, bias, 0.4)
    best = solve(known, Options(tol=1e-12))
    rng = np.random.default_rng(0)
    for v in (np.zeros(task.d), 0.3 * rng.normal(size=task.d), best.point.v, best.point.v + 1e-3):
        proof = prove(task, Point(v))
        assert np.isnan(proof.certificate.dual)
        assert "no conjugate" in proof.certificate.reason
        assert proof.certificate.primal == pytest.approx(by_definition(known, X, proof.point.v), rel=1e-12)
        assert proof.certificate.primal <= by_definition(known, X, v) * (1 + 1e-12)
        assert proof.certificate.gap >= proof.certificate.primal - best.certificate.primal - 1e-12
        if loss.smooth and v is best.point.v:
            assert proof.certificate.relative_gap < 1e-9


def test_a_loss_whose_best_bias_is_infinite_has_no_bound():
    class Line(SlopesOnly):
        def __init__(self):
            self.value, self.slope = (lambda y, z: -y * z), (lambda y, z: -y)

    X, y = data(Hinge(), n=21)
    proof = certify(problem(X, y, Line()), Point(np.zeros(X.shape[1] + 1)))
    assert proof.gap == np.inf
    assert "no bias is best" in proof.reason
    with pytest.raises(ValueError, match="l1 penalty needs a loss with a conjugate"):
        problem(X, y, Line(), penalty="l1")


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("scales", [1.0, 1e6, 1e-6])
def test_the_doubt_of_sums_without_a_pass_is_at_least_that_of_every_sum(bias, scales):
    rng = np.random.default_rng(3)
    X, y = data(SquaredHinge())
    X = X * np.where(np.arange(X.shape[1]) % 2, scales, 1.0)
    X[:3] = 0.0  # rows whose score is the bias alone
    task = problem(X, y, SquaredHinge(), bias)
    v, beta = rng.normal(size=task.d), some_multipliers(task, rng)
    _, sizes = task.design.scores_and_sizes(v)
    q, q_sizes = task.design.combine_and_sizes(beta)
    part = task.penalized
    off, error = v[part] - q[part], rounding(task.n, q_sizes)[part]
    each = float((np.abs(q[part]) + np.abs(off)) @ error) + 0.5 * float(error @ error)
    found = doubt_of_sums(task, v, beta, sizes, float(np.linalg.norm(off)))
    assert each <= found * (1 + 1e-12)
    assert found <= 100.0 * max(each, 1e-30)

"""The certificate of curved conjugates: a bound for any point, and zero where it should be."""

import numpy as np
import pytest

from maxmargin.certificates import certify
from maxmargin.gram import Gram
from maxmargin.kernels import RBF
from maxmargin.losses import Logistic, PowerHinge
from maxmargin.losses.base import dual_step
from maxmargin.models import Bias, soft_margin
from maxmargin.problems.solution import Point
from maxmargin.solvers import Options, solve
from tests.linear_helpers import BIASES, name_of, optimum_by_clarabel

KERNEL = RBF(0.5)


def data(n=24, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0, 1.0, -1.0)
    return X, y, rng.uniform(0.2, 2.0, n)


def matrix(X, bias):
    return KERNEL(X) + (bias is Bias.REGULARIZED)


def stated(X, y, costs, loss, bias):
    return soft_margin(Gram(KERNEL + 1.0 if bias is Bias.REGULARIZED else KERNEL, X), y, costs, loss, bias)


def value(loss, y, z):
    return np.logaddexp(0.0, -y * z) if isinstance(loss, Logistic) else np.maximum(0.0, 1.0 - y * z) ** loss.p


@pytest.mark.parametrize("loss", [PowerHinge(1.1), PowerHinge(1.5), Logistic()], ids=name_of)
@pytest.mark.parametrize("bias", BIASES, ids=name_of)
def test_any_point_bounds_every_other_one(loss, bias):
    """The primal value by its definition, and no decision function anywhere below the dual value."""
    X, y, costs = data()
    problem, K, rng = stated(X, y, costs, loss, bias), matrix(X, bias), np.random.default_rng(1)
    for size in (0.1, 1.0):
        given = np.array(
            [dual_step(loss, s, c, z, 0.0, size) for s, c, z in zip(y, costs, rng.normal(size=24), strict=True)]
        )
        proof = certify(problem, Point(beta=given))
        assert proof.gap == pytest.approx(proof.primal - proof.dual, rel=1e-9)
        for _ in range(10):
            w, b = rng.normal(size=24) * rng.choice([0.01, 0.1, 1.0]), rng.normal() * (bias is Bias.FREE)
            assert 0.5 * w @ K @ w + costs @ value(loss, y, K @ w + b) >= proof.dual
    found = certify(problem, Point(beta=np.zeros(24)))
    b = found.bias if bias is Bias.FREE else 0.0
    assert found.primal == pytest.approx(costs @ value(loss, y, np.full(24, b)), rel=1e-9)
    assert found.norm == 0.0


@pytest.mark.parametrize("p", [1.05, 1.5, 1.9])
@pytest.mark.parametrize("bias", BIASES, ids=name_of)
def test_the_optimum_of_a_conic_solver_lies_between_primal_and_dual(p, bias):
    """In the explicit features of the rows, L with K = LL'."""
    X, y, costs = data()
    L = np.linalg.cholesky(KERNEL(X) + 1e-14 * np.eye(len(X)))
    best = optimum_by_clarabel(L, y, costs, PowerHinge(p), bias)
    problem = stated(X, y, costs, PowerHinge(p), bias)
    proof = solve(problem, Options(tol=1e-6)).certificate
    assert proof.dual == pytest.approx(best, rel=1e-6)
    assert proof.primal == pytest.approx(best, rel=1e-6)
    assert proof.violation < 1e-8
    moved = certify(problem, Point(beta=0.9 * solve(problem, Options(tol=1e-6)).beta))
    assert moved.dual <= best <= moved.primal
    assert moved.violation > 1e-3


@pytest.mark.parametrize("loss", [PowerHinge(1.5), Logistic()], ids=name_of)
def test_multipliers_outside_the_constraints_are_brought_inside(loss):
    X, y, costs = data()
    problem = stated(X, y, costs, loss, Bias.FREE)
    proof = certify(problem, Point(beta=10.0 * y * np.arange(24)))
    assert proof.moved > 1.0
    assert np.isfinite([proof.primal, proof.dual, proof.gap]).all()
    wrong = certify(problem, Point(beta=-y))  # of the wrong sign: zero is left
    assert (wrong.norm, wrong.moved) == (0.0, 1.0)

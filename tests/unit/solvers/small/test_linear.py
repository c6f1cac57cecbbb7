"""Small linear machines in one compiled call."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.certificates import certify
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
from maxmargin.problems.box import Bias
from maxmargin.problems.design import design_of
from maxmargin.problems.linear import LinearProblem
from maxmargin.problems.solution import Status
from maxmargin.solvers import Options, solve
from maxmargin.solvers.small import linear
from maxmargin.solvers.small.linear import Narrow, State, narrow_solution, solve_definite, solve_narrow
from tests import helpers

X, Y = helpers.overlapping(120, 5)
T = X @ np.arange(5.0) + 0.3 * np.random.default_rng(1).normal(size=len(Y))
OF_LABELS = [Hinge(), SquaredHinge(), Logistic(), HuberHinge(0.5), PowerHinge(1.5)]
OF_NUMBERS = [EpsilonInsensitive(0.1), SquaredEpsilonInsensitive(0.1), Huber(1.0, 0.0)]
SCALES = {Bias.FREE: 1.0, Bias.NONE: 0.0, Bias.REGULARIZED: 2.0}


def problem(loss, bias=Bias.FREE, C=1.0, rows=X, penalty="l2"):
    targets = Y if loss.one_sided else T
    return LinearProblem(design_of(rows, SCALES[bias]), targets, np.full(len(Y), C), loss, bias, penalty)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("bias", list(Bias), ids=lambda bias: bias.value)
@pytest.mark.parametrize("loss", OF_LABELS + OF_NUMBERS, ids=str)
def test_it_ends_at_a_proof_where_the_loop_ends(loss, bias, C):
    task = problem(loss, bias, C)
    found, loop = narrow_solution(task, Options(1e-4)), solve(task, Options(1e-10), "newton" if loss.smooth else "alm")
    assert found.status is Status.CONVERGED
    assert certify(task, found.point).relative_gap < 1e-11
    assert found.certificate.primal == pytest.approx(loop.certificate.primal, rel=1e-9)
    np.testing.assert_allclose(found.point.v, loop.point.v, atol=2e-5 * (1.0 + np.abs(loop.point.v).max()))
    assert found.trace[-1].iteration == found.iterations > 0


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=str)
def test_storage_does_not_matter(loss):
    dense = narrow_solution(problem(loss), Options(1e-4))
    for rows in (sparse.csr_array(X), X.astype(np.float32).astype(np.float64)):
        other = narrow_solution(problem(loss, rows=rows), Options(1e-4))
        np.testing.assert_allclose(other.point.v, dense.point.v, atol=1e-5)


@pytest.mark.parametrize(
    "options",
    [
        Options(1e-3, watch=lambda seen, point: False),
        Options(1e-3, max_iter=10_000),
        Options(1e-3, time_limit=100.0),
    ],
)
def test_who_watches_or_limits_a_solve_gets_the_loop(options):
    assert narrow_solution(problem(Hinge()), options) is None


def test_other_problems_are_left_to_the_loop(monkeypatch):
    assert narrow_solution(problem(SquaredHinge(), penalty="l1"), Options(1e-4)) is None
    monkeypatch.setattr(linear, "MOST_WEIGHTS", 5)
    assert narrow_solution(problem(Hinge()), Options(1e-4)) is None  # five features and a bias
    monkeypatch.setattr(linear, "MOST_STEPS", 2)
    monkeypatch.setattr(linear, "MOST_WEIGHTS", 6)
    assert narrow_solution(problem(Hinge(), C=1e8, rows=X * [1e-6, 1.0, 1e6, 1.0, 1.0]), Options(1e-12)) is None


def test_it_goes_on_from_a_start():
    first = narrow_solution(problem(Hinge()), Options(1e-4))
    again = narrow_solution(problem(Hinge()), Options(1e-4, start=first.point))
    assert again.iterations <= first.iterations
    np.testing.assert_allclose(again.point.v, first.point.v, atol=1e-6)


def test_systems_are_solved():
    rng = np.random.default_rng(2)
    A = rng.normal(size=(9, 6)) * 10.0 ** np.arange(6)
    H, right = A.T @ A, rng.normal(size=6)
    x = right.copy()
    solve_definite(H.copy(), x)
    np.testing.assert_allclose(x, np.linalg.solve(H, right), rtol=1e-6)


@pytest.mark.parametrize("loss", [EpsilonInsensitive(0.1), SquaredHinge()], ids=str)
def test_the_loop_equals_its_python_text(loss):
    rows, targets = X[:15], (Y if loss.one_sided else T)[:15]
    A = np.column_stack([rows, np.ones(15)])
    machine = Narrow(A, targets, np.ones(15), np.array([1.0, 1, 1, 1, 1, 0]), (A * A).sum(axis=0))
    ends = []
    for loop in (solve_narrow, getattr(solve_narrow, "py_func", solve_narrow)):
        state = State(np.zeros(6), *np.zeros((3, 15)), np.zeros(6), np.zeros(15))
        loop(machine, loss, np.inf if loss.smooth else 0.5, state)
        ends.append(state)
    for one, other in zip(*ends, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)

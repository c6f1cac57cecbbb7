"""Interior points of the box QP: their Newton systems, and what they end at."""

import numpy as np
import pytest

from maxmargin.certificates import prove
from maxmargin.gram import Gram
from maxmargin.kernels import RBF, Linear, Polynomial
from maxmargin.losses import EpsilonInsensitive, SquaredEpsilonInsensitive, SquaredHinge
from maxmargin.losses.box import Box
from maxmargin.models import Bias, regression, soft_margin
from maxmargin.problems.box import BoxQP, no_group, one_group
from maxmargin.problems.solution import Status
from maxmargin.solvers import Options, solve
from maxmargin.solvers.box import systems
from maxmargin.solvers.box.interior import InteriorPoint, Program, State, _System
from maxmargin.solvers.box.systems import LowRank, Whole
from maxmargin.solvers.contract import Refused
from tests import helpers
from tests.box_oracle import optimum

RNG = np.random.default_rng(0)
INF = np.inf


def mixed(n=24, grouped=True, seed=0):
    """Every kind of multiplier: bounded, one-sided, free, fixed, with and without kink and ridge."""
    rng = np.random.default_rng(seed)
    X, kind = rng.normal(size=(n, 3)), np.arange(n) % 8
    lower = np.choose(kind, [0.0, -1.0, -2.0, -INF, -INF, -1.0, 0.5, 0.0])
    upper = np.choose(kind, [1.0, 0.0, 3.0, INF, 1.0, 2.0, 0.5, INF])
    kink = np.where(kind < 5, 0.0, 0.2) + np.where((kind == 3) & (np.arange(n) % 16 < 8), 0.3, 0.0)
    box = Box(rng.normal(size=n), lower, upper, kink, np.where(np.isinf(upper - lower), 0.5, 0.0))
    if not grouped:
        return X, BoxQP(Gram(RBF(0.5), X), box, *no_group(n))
    return X, BoxQP(Gram(RBF(0.5), X), box, np.where(kind == 2, -1, np.arange(n) % 2), np.array([1.0, -0.5]))


def stepped(problem):
    """The steps of one solve, until it comes no further."""
    solver = InteriorPoint(problem, problem.start(), Options())
    while not solver.exhausted:
        solver.step()
        yield solver


@pytest.mark.parametrize("grouped", [True, False])
def test_a_full_step_satisfies_the_linearised_conditions(grouped):
    _, problem = mixed(grouped=grouped)
    program = InteriorPoint(problem, problem.start(), Options()).program
    rng = np.random.default_rng(1)
    begun = program.start()
    state = begun._replace(
        x=begun.x * rng.uniform(0.5, 1.5, len(begun.x)), z=begun.z * rng.uniform(0.5, 1.5, len(begun.z)),
        f=rng.normal(size=len(begun.f)), loose=np.where(program.loose, rng.normal(size=len(begun.f)), 0.0),
    )  # fmt: skip
    z_target, y_target = -0.5 * state.x * state.z, -0.5 * state.s * state.y
    by = program._direction(_System(program, state), program._residuals(state), z_target, y_target)
    for left in program._residuals(state.moved(by, 1.0))[1:]:
        np.testing.assert_allclose(left, 0.0, atol=1e-10)
    np.testing.assert_allclose(program.slopes(state.moved(by, 1.0))[program.loose], 0.0, atol=1e-10)
    np.testing.assert_allclose(state.x * by.z + state.z * by.x, z_target, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(state.s * by.y + state.y * by.s, y_target, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("grouped", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_multipliers_of_every_kind_reach_the_optimum_of_another_solver(grouped, seed):
    X, problem = mixed(40, grouped, seed)
    found = solve(problem, Options(tol=1e-6), "interior_point")
    assert found.status is Status.CONVERGED
    assert found.certificate.gap < 1e-9
    assert found.certificate.dual == pytest.approx(optimum(problem, RBF(0.5)(X)), rel=1e-7)
    assert found.certificate.dual == pytest.approx(found.trace[-1].objective, rel=1e-9)
    fixed = problem.lower == problem.upper
    np.testing.assert_array_equal(found.beta[fixed], problem.lower[fixed])


def test_every_point_on_the_way_is_feasible_and_the_best_is_kept():
    _, problem = mixed(40)
    violations = []
    for solver in stepped(problem):
        assert prove(problem, solver.point).certificate.moved == 0.0
        violations.append(solver.optimality_error)
    assert violations == sorted(violations, reverse=True)
    assert len(violations) < 30
    assert prove(problem, solver.point).certificate.violation == pytest.approx(solver.optimality_error, abs=1e-11)


def test_low_rank_equals_whole(monkeypatch):
    X, y = helpers.overlapping(200, 4)
    problem = soft_margin(Gram(Linear(), X), y, 10.0)
    few = solve(problem, Options(tol=1e-6), "interior_point")
    kinds = [type(InteriorPoint(problem, problem.start(), Options()).program.matrix)]
    monkeypatch.setattr(systems, "MOST_COLUMNS", 1)
    kinds.append(type(InteriorPoint(problem, problem.start(), Options()).program.matrix))
    many = solve(problem, Options(tol=1e-6), "interior_point")
    assert kinds == [LowRank, Whole]
    assert many.status is few.status is Status.CONVERGED
    np.testing.assert_allclose(X.T @ many.beta, X.T @ few.beta, atol=1e-7)
    assert few.certificate.dual == pytest.approx(many.certificate.dual, rel=1e-10)
    np.testing.assert_array_equal(few.beta == 0.0, many.beta == 0.0)  # the same rows are support vectors


@pytest.mark.parametrize(
    "kernel", [RBF(0.5), Linear(), Polynomial(2, 1.0, 1.0), RBF(0.0)], ids=["rbf", "linear", "square", "constant"]
)
def test_equal_rows_and_matrices_without_full_rank(kernel):
    X, y = helpers.duplicated(20)
    X[::7] = 0.0
    for problem in (soft_margin(Gram(kernel, X), y, 3.0), regression(Gram(kernel, X), X[:, 0], 3.0)):
        found = solve(problem, Options(tol=1e-6), "interior_point")
        assert found.status is Status.CONVERGED
        assert found.certificate.dual == pytest.approx(optimum(problem, kernel(X)), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("loss", [EpsilonInsensitive(0.0), SquaredEpsilonInsensitive(0.0)])
def test_regression_without_a_tube(loss):
    """No kinks; and for the square no bounds either, so that it is one linear system."""
    X = RNG.normal(size=(50, 2))
    problem = regression(Gram(RBF(0.5), X), np.sin(X[:, 0]), 2.0, loss)
    found = solve(problem, Options(tol=1e-6), "interior_point")
    assert found.status is Status.CONVERGED
    assert found.certificate.dual == pytest.approx(optimum(problem, RBF(0.5)(X)), rel=1e-7)


@pytest.mark.parametrize("bias", [Bias.FREE, Bias.NONE])
@pytest.mark.parametrize("power", [3, 8])
def test_costs_of_any_size_and_of_zero(bias, power):
    """Not only in all, but beside each other."""
    X, y = helpers.overlapping(80, 3)
    costs = 10.0 ** np.random.default_rng(power).uniform(-power, power, 80)
    costs[::5] = 0.0
    for loss in (None, SquaredHinge()):
        problem = soft_margin(Gram(RBF(0.5), X), y, costs, *([loss] if loss else []), bias=bias)
        found = solve(problem, Options(tol=1e-3), "interior_point")
        assert found.status is Status.CONVERGED
        assert not found.beta[costs == 0.0].any()


def test_a_problem_without_room_to_move_is_solved():
    zero = np.zeros(4)
    problem = BoxQP(Gram(Linear(), np.eye(4)), Box(np.ones(4), np.ones(4), np.ones(4), zero, zero), *one_group(4, 4.0))
    found = solve(problem, Options(), "interior_point")
    assert found.status is Status.CONVERGED
    np.testing.assert_array_equal(found.beta, np.ones(4))


def test_a_start_is_kept_until_there_is_a_better_one():
    X, y = helpers.overlapping(80)
    problem = soft_margin(Gram(RBF(0.2), X), y, 1.0)
    good = solve(problem, Options(tol=1e-6))
    again = solve(problem, Options(tol=1e-6, start=good.point, max_iter=1, to_the_end=False), "interior_point")
    np.testing.assert_array_equal(again.beta, good.beta)
    assert (again.status, again.iterations) == (Status.CONVERGED, 0)
    assert again.trace[0].violation < 1e-9


def test_what_only_the_factor_can_tell_is_refused_then(monkeypatch):
    """A sample of the rows has few columns, all of them have too many."""
    X = np.repeat(RNG.normal(size=(40, 2)), 5, axis=0)
    X[1::2] = RNG.normal(size=(100, 2))
    y = np.where(np.arange(200) % 2, 1.0, -1.0)
    problem = soft_margin(Gram(RBF(5.0), X), y, 1.0)
    monkeypatch.setattr(systems, "MOST_WHOLE", 100)
    monkeypatch.setattr(systems, "needs_more", lambda *_: False)
    assert InteriorPoint.refuses(problem) == ""
    with pytest.raises(Refused, match="cannot be written with 50 columns"):
        InteriorPoint(problem, problem.start(), Options(), whole_rows=100)


def test_numbers_that_leave_float64_end_it():
    X, y = helpers.overlapping(40)
    program = InteriorPoint(*(made := soft_margin(Gram(Linear(), X), y, 1.0), made.start(), Options())).program
    state = program.start()
    spoilt = State(*(np.full_like(part, np.nan) for part in state))
    assert program.newton_step(spoilt)[1] == 0.0


def test_a_program_says_where_it_is():
    _, problem = mixed()
    program = InteriorPoint(problem, problem.start(), Options()).program
    assert isinstance(program, Program)
    state = program.start()
    beta = program.beta(state)
    assert np.all((beta > program.box.lower) & (beta < program.box.upper))
    np.testing.assert_array_equal(program.slopes(state), program.box.p)  # no scores, no biases
    assert program.mu(state) > 0.0

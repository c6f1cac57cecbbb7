"""The solver of the box QP is exchangeable: whoever solves it, the same certificate judges."""

import numpy as np
import pytest
from scipy.optimize import brentq

from maxmargin import Status
from maxmargin.certificates.kkt import gradient, standing
from maxmargin.gram import Gram
from maxmargin.kernels import RBF
from maxmargin.models import soft_margin
from maxmargin.problems.solution import Point
from maxmargin.solvers import Clarabel, Options, Solver, Stage, solve
from tests import helpers
from tests.box_oracle import optimum
from tests.clocks import every_look_takes_time
from tests.contract.test_models import KERNELS, MODELS, rows

SOLVERS = {"smo": "smo", "interior_point": "interior_point", "clarabel": Clarabel}
NAMES = list(KERNELS)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("model", MODELS)
def test_every_model_reaches_the_optimum_of_another_solver(model, solver):
    """Kernels and weights in turn: all of them meet every solver, though not every model."""
    number = list(MODELS).index(model) + list(SOLVERS).index(solver)
    kernel = KERNELS[NAMES[number % len(NAMES)]]
    X, y, t, weights = rows(number, weighted=number % 2 == 0)
    problem = MODELS[model](Gram(kernel, X), y, t, weights)
    found = solve(problem, Options(tol=1e-6), SOLVERS[solver])
    index = np.tile(np.arange(len(X)), problem.n // len(X))
    assert (found.status, found.solver) == (Status.CONVERGED, solver)
    assert found.certificate.gap < 1e-7
    best = optimum(problem, kernel(X)[np.ix_(index, index)])
    assert found.certificate.dual == pytest.approx(best, rel=1e-6, abs=1e-6)
    assert np.all((found.beta >= problem.lower) & (found.beta <= problem.upper))


class ProjectedGradient(Solver):
    """A user's own, for one group with total 0: steps along the gradient, each brought back within the constraints."""

    name = "projected_gradient"

    def __init__(self, problem, start, options, length=1.0):
        self.problem, self.options, self.beta = problem, options, start.beta
        self.length = length / float(np.linalg.eigvalsh(problem.gram.whole()).max())
        self._look()

    @property
    def point(self):
        return Point(beta=self.beta, biases=self.biases)

    def step(self, most):
        for _ in range(int(min(most, 50))):
            aim = self.beta + self.length * self.v
            self.beta = self._within(
                aim - brentq(lambda b, aim=aim: self._within(aim - b).sum(), -9.0, 9.0, xtol=1e-15)
            )
            self.iterations += 1
            self._look()

    def refine(self, goal, proof):
        self.exhausted = True

    def _within(self, beta):
        return np.clip(beta, self.problem.lower, self.problem.upper)

    def _look(self):
        self.v = gradient(self.problem.box, self.problem.gram.scores(self.beta)[0], self.beta)
        at = standing(self.problem, self.beta, self.v)
        self.biases, self.optimality_error = at.biases, at.violation


def small_problem():
    X, y = helpers.overlapping(60)
    return soft_margin(Gram(RBF(0.2), X), y, 1.0)


def test_a_solver_of_the_user_is_driven_and_judged():
    found = solve(small_problem(), Options(tol=1e-3, to_the_end=False), ProjectedGradient)
    best = solve(small_problem(), Options(tol=1e-6))
    assert (found.status, found.solver, found.reason) == (Status.CONVERGED, "projected_gradient", "as asked for")
    assert found.certificate.violation <= 1e-3
    assert found.certificate.dual <= best.certificate.dual <= found.certificate.primal
    assert len(found.trace) > 2


def test_a_solver_of_the_user_that_does_not_get_there_is_not_believed():
    stage = Stage(ProjectedGradient, "a poor length", settings={"length": 1e-9})
    found = solve(small_problem(), Options(tol=1e-3, max_iter=200), stage)
    assert (found.status, found.iterations, found.reason) == (Status.ITERATION_LIMIT, 200, "a poor length")
    assert found.certificate.violation > 1.0

    class Boastful(ProjectedGradient):
        name = "boastful"

        def _look(self):
            super()._look()
            self.optimality_error = 0.0

    assert solve(small_problem(), Options(tol=1e-3), Boastful).status is Status.STALLED


@pytest.mark.parametrize("solver", ["interior_point", ProjectedGradient])
def test_early_stops_keep_the_best_point(solver, monkeypatch):
    problem = small_problem()
    steps = 6 if solver == "interior_point" else 100
    for limits, status in (
        ({"max_iter": steps}, Status.ITERATION_LIMIT),
        ({"watch": lambda seen, point: seen.iteration >= steps}, Status.STOPPED),
    ):
        found = solve(problem, Options(tol=1e-9, **limits), solver)
        assert (found.status, found.iterations) == (status, steps)
        assert np.isfinite(found.certificate.gap)
        assert found.trace[-1].violation <= found.trace[0].violation
        assert found.certificate.violation == pytest.approx(found.trace[-1].violation, abs=1e-9)

    def ctrl_c(seen, point):
        if seen.iteration >= steps:
            raise KeyboardInterrupt

    kept = solve(problem, Options(tol=1e-9, watch=ctrl_c, interrupt="keep"), solver)
    assert kept.status is Status.INTERRUPTED
    np.testing.assert_array_equal(kept.beta, found.beta)
    with pytest.raises(KeyboardInterrupt):
        solve(problem, Options(watch=ctrl_c), solver)
    every_look_takes_time(monkeypatch)
    late = solve(problem, Options(tol=1e-9, time_limit=2e-3), solver)
    assert late.status is Status.TIME_LIMIT
    assert np.isfinite(late.certificate.gap)

"""OSQP as a solver, where it is installed."""

import pytest

from maxmargin.problems.solution import Status
from maxmargin.solvers import OSQP, Options, solve
from tests.unit.solvers.box.test_interior import mixed

pytest.importorskip("osqp")


@pytest.mark.parametrize("grouped", [True, False])
def test_multipliers_of_every_kind(grouped):
    _, problem = mixed(40, grouped)
    found, other = solve(problem, Options(tol=1e-4), OSQP), solve(problem, Options(tol=1e-6), "smo")
    assert (found.status, found.solver) == (Status.CONVERGED, "osqp")
    assert found.certificate.dual == pytest.approx(other.certificate.dual, rel=1e-6)


def test_limits_are_handed_on():
    _, problem = mixed(40)
    few = solve(problem, Options(tol=1e-6, max_iter=25), OSQP)
    assert (few.status, few.iterations) == (Status.ITERATION_LIMIT, 25)
    none = solve(problem, Options(tol=1e-6, time_limit=0.0), OSQP)
    assert none.status is Status.TIME_LIMIT

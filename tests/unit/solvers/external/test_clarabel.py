"""Clarabel as a solver: limits, and bounds of every kind."""

import numpy as np
import pytest

from maxmargin.problems.solution import Status
from maxmargin.solvers import Clarabel, Options, solve
from tests.unit.solvers.box.test_interior import mixed


@pytest.mark.parametrize("grouped", [True, False])
def test_multipliers_of_every_kind(grouped):
    _, problem = mixed(40, grouped)
    found, other = solve(problem, Options(tol=1e-6), Clarabel), solve(problem, Options(tol=1e-6), "smo")
    assert (found.status, found.solver) == (Status.CONVERGED, "clarabel")
    assert found.certificate.dual == pytest.approx(other.certificate.dual, rel=1e-8)
    assert 0 < found.iterations < 100
    fixed = problem.lower == problem.upper
    np.testing.assert_array_equal(found.beta[fixed], problem.lower[fixed])


def test_limits_are_handed_on():
    _, problem = mixed(40)
    few = solve(problem, Options(tol=1e-6, max_iter=3), Clarabel)
    assert (few.status, few.iterations) == (Status.ITERATION_LIMIT, 3)
    assert np.isfinite(few.certificate.gap)
    none = solve(problem, Options(tol=1e-6, time_limit=0.0), Clarabel)
    assert none.status is Status.TIME_LIMIT

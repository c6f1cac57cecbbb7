"""Working sets, and the scores that are kept along with the multipliers."""

import numpy as np
import pytest

from maxmargin import Bias, soft_margin
from maxmargin.certificates.proof import prove
from maxmargin.core import limits
from maxmargin.gram import Gram
from maxmargin.kernels import RBF
from maxmargin.losses import Hinge
from maxmargin.solvers import Options
from maxmargin.solvers.box.smo import SMO
from tests import helpers

pytestmark = pytest.mark.large


@pytest.fixture
def solver():
    """Chunks of a problem with float32 kernel values, three steps on the way."""
    X, y = helpers.moons(1500)
    problem = soft_margin(Gram(RBF(1.0), X, accuracy=1e-3), y, 2.0, Hinge(), Bias.FREE)
    solver = SMO(problem, problem.start(), Options(tol=1e-3, working_rows=200))
    for _ in range(3):
        solver.step()
    return solver


def within_bounds(solver):
    exact = solver.problem.gram.scores(solver.beta, exact=True)[0]
    kept = solver.point.scores
    return kept is not None and bool(np.all(np.abs(kept.f - exact) <= kept.errors))


def test_scores_follow_the_multipliers(solver):
    assert within_bounds(solver)
    before = solver.beta.copy()
    solver.step()
    assert np.any(solver.beta != before)
    assert within_bounds(solver)


@pytest.mark.parametrize("inside", ["pairs", "rows"])
def test_a_step_that_is_stopped_leaves_multipliers_and_scores_together(solver, inside, monkeypatch):
    def stopped(*arguments, **named):
        if inside == "rows":
            arguments[2][:] += 1.0  # some of the rows were added
        raise limits.OutOfTime

    target = "maxmargin.solvers.box.smo.take_steps" if inside == "pairs" else "maxmargin.gram.Gram.accumulate"
    before = solver.beta.copy()
    with monkeypatch.context() as patch:
        patch.setattr(target, stopped if inside == "pairs" else lambda gram, *a, **k: stopped(*a, **k))
        with pytest.raises(limits.OutOfTime):
            solver.step()
    np.testing.assert_array_equal(solver.beta, before)
    assert within_bounds(solver)
    solver.step()
    assert within_bounds(solver)


def test_rows_at_rest_are_not_stored(solver):
    beta = solver.beta
    rows = np.flatnonzero(beta)
    free = solver._lasting(rows, beta[rows])
    np.testing.assert_array_equal(free, (beta[rows] != solver.problem.lower[rows]) & (np.abs(beta[rows]) < 2.0))


def test_refining_keeps_the_bounds(solver):
    solver.refine(1e-3, prove(solver.problem, solver.point))
    assert within_bounds(solver)
    solver.step()
    assert within_bounds(solver)

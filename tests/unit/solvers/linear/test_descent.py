"""Newton steps: a Hessian that is brought up to date is the Hessian."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.core.rows import rows_of
from maxmargin.losses import SquaredHinge
from maxmargin.problems.box import Bias
from maxmargin.problems.design import Design
from maxmargin.problems.linear import LinearProblem
from maxmargin.solvers.linear import descent as module
from maxmargin.solvers.linear.descent import descent_on_losses
from tests.linear_helpers import data


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_the_kept_hessian_is_that_of_the_present_rows(kind, monkeypatch):
    X, y = data(SquaredHinge(), n=500, d=6)
    X *= np.random.default_rng(0).random(X.shape) < 0.2
    stored = rows_of(sparse.csr_array(X) if kind == "sparse" else X, np.float64)
    made = []
    gram = Design.gram
    monkeypatch.setattr(Design, "gram", lambda self, index, *rest: made.append(len(index)) or gram(self, index, *rest))
    problem = LinearProblem(Design(stored, 1.0), y, np.full(500, 0.3), SquaredHinge(), Bias.REGULARIZED)
    descent = descent_on_losses(problem, np.zeros(7))
    A = np.hstack([X, np.ones((500, 1))])
    for step in range(4):
        expected = np.linalg.solve(np.eye(7) + (A.T * descent.kappa) @ A, -descent.gradient)
        direction = descent.direction()
        np.testing.assert_allclose(direction, expected, rtol=1e-8, atol=1e-12)
        descent.move(0.4 * direction if step < 2 else direction)
    assert made[0] == 500
    assert min(made[1:]) < module.FEW_CHANGES * 500


def test_a_factor_that_is_written_over_is_no_longer_kept():
    X, y = data(SquaredHinge(), n=500, d=6)
    problem = LinearProblem(Design(rows_of(X, np.float64), 1.0), y, np.full(500, 0.3), SquaredHinge(), Bias.REGULARIZED)
    descent = descent_on_losses(problem, np.zeros(7))
    index, ridge = np.flatnonzero(descent.kappa), np.ones(7)
    by_sample = descent._by_sample(index, ridge, 100, 1e-10)
    assert descent._kept is not None
    exact = descent.direction()
    np.testing.assert_allclose(by_sample, exact, rtol=1e-6, atol=1e-9)
    assert descent._kept is None
    np.testing.assert_allclose(descent._by_sample(index, ridge, 100, 1e-10), exact, rtol=1e-6, atol=1e-9)

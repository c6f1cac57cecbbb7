"""Margins, slacks and kinds of support vectors against dense formulas."""

import math

import numpy as np
import pytest

from maxmargin import Bias, margins, soft_margin
from maxmargin.certificates import distances
from maxmargin.gram import Gram
from maxmargin.kernels import RBF
from maxmargin.losses import SquaredHinge
from maxmargin.solvers import Options, solve
from tests import helpers

X, Y = helpers.moons(80)
GRAM = Gram(RBF(1.0), X)


def test_margins_and_distances():
    problem = soft_margin(GRAM, Y, 1.0)
    alpha = Y * solve(problem, Options(tol=1e-3)).beta
    seen = margins(problem, alpha)
    K = RBF(1.0)(X)
    assert seen.norm == pytest.approx(math.sqrt((Y * alpha) @ K @ (Y * alpha)))
    np.testing.assert_allclose(seen.slacks, np.maximum(0, 1 - Y * (K @ (Y * alpha) + seen.bias)), atol=1e-9)
    assert seen.margin == pytest.approx(0.5 * seen.width)
    # (3, 4)'x - 5: the origin is 1 away from the line, (3, 4) is 4 beyond it, (0, 1.25) lies on it.
    np.testing.assert_allclose(distances([-5.0, 20.0, 0.0], 5.0), [1.0, 4.0, 0.0])
    np.testing.assert_array_equal(distances([1.0, 0.0], 0.0), [np.inf, np.inf])  # no hyperplane
    assert np.all(alpha[seen.bounded] == 1.0)
    assert np.all((alpha[seen.free] > 0) & (alpha[seen.free] < 1.0))
    squared = soft_margin(GRAM, Y, 1.0, SquaredHinge())
    seen = margins(squared, Y * solve(squared, Options(tol=1e-3)).beta)
    assert len(seen.bounded) == 0
    assert not seen.slack_multipliers.any()


def test_regularised_bias_in_margins():
    problem = soft_margin(Gram(RBF(1.0) + 1.0, X), Y, 1.0, bias=Bias.REGULARIZED)
    beta = solve(problem, Options(tol=1e-3)).beta
    seen = margins(problem, Y * beta)
    assert seen.bias == pytest.approx(beta.sum())
    assert seen.norm == pytest.approx(math.sqrt(beta @ RBF(1.0)(X) @ beta))
    np.testing.assert_allclose(seen.decision, RBF(1.0)(X) @ beta + seen.bias)

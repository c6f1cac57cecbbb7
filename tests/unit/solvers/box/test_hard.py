"""The hard margin: weights that vanish prove that classes overlap, and its solution is that of a large C."""

import numpy as np
import pytest

from maxmargin.certificates import separates
from maxmargin.core import limits
from maxmargin.gram import Gram
from maxmargin.kernels import RBF, Linear
from maxmargin.models import soft_margin
from maxmargin.problems.solution import Status
from maxmargin.solvers import Options, solve
from maxmargin.solvers.box import hard
from maxmargin.solvers.box.hard import vanishing_weights
from tests import helpers


def under_bound(kernel, X, y, bound):
    """The hard margin, its multipliers under a bound, and their scores."""
    beta = solve(soft_margin(Gram(kernel, X), y, bound), Options(tol=1e-3)).beta
    return soft_margin(Gram(kernel, X), y, np.inf), beta, kernel(X) @ beta


@pytest.mark.parametrize(("kernel", "bound"), [(Linear(), 1e2), (RBF(5.0), 1e6)], ids=str)
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.large
def test_weights_of_overlapping_classes_vanish_within_the_constraints(kernel, bound, seed):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(60) % 2 == 0, 1.0, -1.0)
    X = np.round(rng.normal(size=(60, 2)), 1)
    X[1] = X[0]  # rows of both classes at one place: no kernel separates them
    problem, beta, scores = under_bound(kernel, X, y, bound)
    at_bound = np.abs(beta) >= bound
    assert at_bound.any()
    weights = vanishing_weights(problem, beta, bound, scores)
    assert np.all(y * weights >= 0.0)
    assert abs(weights.sum()) < 1e-9 * np.abs(weights).sum()
    assert np.all(np.abs(weights[at_bound]) >= 0.5 * bound)
    assert np.all(np.abs(weights) <= 2.0 * bound)
    K = kernel(X)
    distance = 2.0 * np.sqrt(max(weights @ K @ weights, 0.0)) / np.abs(weights).sum()
    assert distance <= 1e-7 * np.sqrt(K.diagonal().max())
    if isinstance(kernel, Linear):  # the two points in the hulls, in the plane itself
        hulls = [X[y == side].T @ np.abs(weights[y == side]) / np.abs(weights[y == side]).sum() for side in (1, -1)]
        np.testing.assert_allclose(*hulls, atol=1e-6)


@pytest.mark.parametrize("part", ["prove_box", "vanishing_weights"])
def test_a_time_limit_holds_for_proofs_and_weights_too(part, monkeypatch):
    """What takes long looks at the clock: at the limit and some overtime it ends, and what was found is kept."""
    time, work = [0.0], getattr(hard, part)
    monkeypatch.setattr(limits, "now", lambda: time[0])

    def slow(*given):
        for _ in range(100):
            time[0] += 0.5
            limits.checkpoint()
        return work(*given)

    monkeypatch.setattr(hard, part, slow)
    X, y = helpers.overlapping(100)
    found = solve(soft_margin(Gram(Linear(), X), helpers.signs(y), np.inf), Options(time_limit=1.0))
    assert found.status is Status.TIME_LIMIT
    assert time[0] <= 1.0 + limits.OVERTIME + 0.5
    assert np.abs(found.beta).sum() > 0.0
    assert (found.certificate.reason != "") == (part == "prove_box")


def test_weights_of_separable_classes_do_not_vanish():
    X, y = helpers.separable()
    problem, beta, scores = under_bound(Linear(), X, y, 0.01)  # far too small a bound: many multipliers reach it
    assert (np.abs(beta) >= 0.01).sum() > 10
    weights = vanishing_weights(problem, beta, 0.01, scores)
    assert separates(problem, weights, X @ (X.T @ weights))
    assert np.all(y * weights >= 0.0)
    assert abs(weights.sum()) < 1e-12


@pytest.mark.large
def test_a_margin_that_rounding_hides_ends(monkeypatch):
    """Random labels that a Gaussian kernel separates by next to nothing: the multipliers grow, the violation stays."""
    monkeypatch.setattr("maxmargin.solvers.box.smo.LEAST_PATIENCE", 30_000)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 2)), np.where(rng.random(120) < 0.5, 1.0, -1.0)
    for solver in ("smo", "auto"):
        found = solve(soft_margin(Gram(RBF(0.5), X), y, np.inf), Options(tol=1e-3), solver)
        assert found.status is Status.STALLED
        assert found.iterations < 1_000_000

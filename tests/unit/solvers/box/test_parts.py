"""Multipliers as sums of parts that are at least zero."""

import numpy as np
import pytest

from maxmargin.gram import Gram
from maxmargin.kernels import RBF
from maxmargin.losses.box import Box
from maxmargin.problems.box import BoxQP
from maxmargin.solvers.box.parts import movable, parts_of

INF = np.inf
RNG = np.random.default_rng(0)


def box(rows):
    lower, upper, kink = np.array(rows, float).T
    return Box(np.zeros(len(rows)), lower, upper, kink, np.ones(len(rows)))


# lower, upper, kink
EVERY_KIND = [
    (0, 2, 0), (-3, 0, 0), (-1, 2, 0), (1, 2, 0), (-INF, 1, 0), (0, INF, 0), (-INF, INF, 0),
    (0, 2, 0.5), (-3, -1, 0.5), (-1, 2, 0.5), (-INF, 0, 0.5), (-INF, INF, 0.5), (-1, INF, 0.5),
]  # fmt: skip


def test_every_multiplier_is_the_sum_of_its_parts_and_pays_its_kink():
    bounds = box(EVERY_KIND)
    parts = parts_of(bounds)
    for _ in range(20):
        low, high = np.maximum(bounds.lower, -5.0), np.minimum(bounds.upper, 5.0)
        beta = RNG.uniform(low, high)
        split = np.bincount(parts.row, minlength=len(beta)) == 2
        here = parts.sign * (beta - parts.offset)[parts.row]
        x = np.where(split[parts.row], np.maximum(here, 0.0), here)
        assert np.all((x >= 0.0) & (x <= parts.width))
        held = parts.added(np.ones(len(x))) > 0
        np.testing.assert_allclose((parts.offset + parts.joined(x))[held], beta[held])
        # Up to what belongs to the offset, whose multiplier has one sign.
        np.testing.assert_allclose(parts.added(parts.cost * x), bounds.kink * (np.abs(beta) - np.abs(parts.offset)))


def test_who_has_no_bound_and_no_kink_has_no_part():
    parts = parts_of(box(EVERY_KIND))
    assert sorted(set(range(len(EVERY_KIND))) - set(parts.row)) == [6]
    np.testing.assert_array_equal(parts.bounded, np.isfinite(parts.width))


@pytest.mark.parametrize("grouped", [True, False])
def test_what_fixed_multipliers_contribute(grouped):
    n = 12
    X = RNG.normal(size=(n, 2))
    K, fixed = RBF(0.5)(X), np.arange(n) % 3 == 0
    lower, upper = np.full(n, -1.0), np.full(n, 2.0)
    lower[fixed] = upper[fixed] = RNG.uniform(-1.0, 1.0, fixed.sum())
    p, kink, ridge = RNG.normal(size=n), np.full(n, 0.1), np.full(n, 0.3)
    group = np.arange(n) % 2 if grouped else np.full(n, -1)
    problem = BoxQP(Gram(RBF(0.5), X), Box(p, lower, upper, kink, ridge), group, np.ones(2) if grouped else np.empty(0))
    some = movable(problem)
    np.testing.assert_array_equal(some.rows, np.flatnonzero(~fixed))
    beta = some.held.copy()
    beta[some.rows] = moving = RNG.uniform(-1.0, 1.0, len(some.rows))
    Q = K + np.diag(ridge)
    whole = p @ beta - 0.5 * beta @ Q @ beta - kink @ np.abs(beta)
    part = some.box.p @ moving - 0.5 * moving @ Q[np.ix_(some.rows, some.rows)] @ moving - 0.1 * np.abs(moving).sum()
    assert some.value + part == pytest.approx(whole)
    for g, total in enumerate(some.totals):
        assert total == pytest.approx(1.0 - beta[(group == g) & fixed].sum())

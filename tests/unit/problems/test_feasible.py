"""Any multipliers are brought within the constraints: the box, and the totals of the groups."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.certificates import feasible_point
from maxmargin.gram import Gram
from maxmargin.kernels import Linear
from maxmargin.losses.box import Box
from maxmargin.problems.box import BoxQP, one_group
from maxmargin.problems.feasible import spread


def random_problem(rng):
    """Boxes on one or both sides of zero, in up to three groups (and without one), with totals that can be reached."""
    n = int(rng.integers(2, 30))
    ends = np.sort(rng.normal(size=(2, n)) * (rng.random((2, n)) < 0.7), axis=0)
    group = rng.integers(-1, 3, n)
    reach = np.array([[ends[k, group == g].sum() for g in range(3)] for k in range(2)])
    totals = reach[0] + rng.random(3) * (reach[1] - reach[0])
    zero = np.zeros(n)
    return BoxQP(Gram(Linear(), rng.normal(size=(n, 2))), Box(zero, ends[0], ends[1], zero, zero), group, totals)


def assert_feasible(problem, beta):
    slack = 1e-12 * (1.0 + np.abs(beta).sum())
    assert np.all(beta >= problem.lower - slack)
    assert np.all(beta <= problem.upper + slack)
    for g, total in enumerate(problem.totals):
        assert beta[problem.group == g].sum() == pytest.approx(total, abs=1e-9)


@given(st.integers(0, 10_000))
def test_any_point_becomes_feasible_and_a_feasible_one_stays(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng)
    beta = feasible_point(problem, 3.0 * rng.normal(size=problem.n))
    assert_feasible(problem, beta)
    np.testing.assert_allclose(feasible_point(problem, beta), beta, atol=1e-9)
    assert_feasible(problem, problem.start().beta)


def test_zeros_stay_zeros_where_one_side_can_be_scaled_down():
    zero, one = np.zeros(4), np.ones(4)
    problem = BoxQP(Gram(Linear(), np.eye(4)), Box(zero, -one, one, zero, zero), *one_group(4))
    np.testing.assert_allclose(feasible_point(problem, np.array([0.8, 0.4, 0.0, -0.6])), [0.4, 0.2, 0.0, -0.6])


def test_what_is_missing_goes_to_rows_that_already_have_some():
    zero, one = np.zeros(6), np.ones(6)
    problem = BoxQP(Gram(Linear(), np.eye(6)), Box(zero, zero, one, zero, zero), *one_group(6, 2.0))
    given = np.array([1.0, 0.5, 0.0, 0.2, 0.0, 0.0])
    np.testing.assert_allclose(feasible_point(problem, given)[[2, 4, 5]], 0.0)
    less = np.array([1.0, 0.0, 0.0, 0.5, 0.0, 0.0])  # these two cannot hold all of it
    problem = BoxQP(problem.gram, problem.box, *one_group(6, 2.5))
    found = feasible_point(problem, less)
    assert found.sum() == pytest.approx(2.5)
    assert np.count_nonzero(found) == 3


def test_wide_bounds_cost_no_digits():
    low, high, zero = np.full(3, -1e6), np.full(3, 0.1), np.zeros(3)
    problem = BoxQP(Gram(Linear(), np.eye(3)), Box(zero, low, high, zero, zero), *one_group(3, -5.0))
    found = feasible_point(problem, np.array([-1.0, -2.0, -2.0 + 1e-9]))
    assert found.sum() == pytest.approx(-5.0, abs=1e-14)


def test_without_bounds_the_rows_share_what_is_missing():
    zero, far = np.zeros(4), np.full(4, np.inf)
    problem = BoxQP(Gram(Linear(), np.eye(4)), Box(zero, -far, far, zero, np.ones(4)), *one_group(4, 2.0))
    np.testing.assert_allclose(feasible_point(problem, zero), 0.5)
    np.testing.assert_allclose(problem.start().beta, 0.5)


@pytest.mark.parametrize("n", [1, 2, 5, 16, 100, 1000])
def test_every_beginning_of_a_spread_order_isspread(n):
    rows = np.arange(7, 7 + n)
    order = spread(rows)
    assert sorted(order) == list(rows)
    for count in range(1, n + 1):
        gaps = np.diff(np.sort(np.append(order[:count], 7 + n)))
        assert order[:count].min() == 7
        assert gaps.max() <= 4 * n / count


def test_spread_orders_of_eight():
    np.testing.assert_array_equal(spread(np.arange(8)), [0, 4, 2, 6, 1, 5, 3, 7])
    np.testing.assert_array_equal(spread(np.arange(6)), [0, 4, 2, 1, 5, 3])

"""The canonical problem: where a solve starts, and totals out of reach."""

import math
from dataclasses import replace

import numpy as np
import pytest

from maxmargin.gram import Gram
from maxmargin.kernels import Linear
from maxmargin.losses.box import Box
from maxmargin.problems.box import BoxQP, no_group, one_group
from maxmargin.problems.solution import Point


def test_a_total_out_of_reach_is_an_error():
    zero, one = np.zeros(4), np.ones(4)
    with pytest.raises(ValueError, match="must add up to 5, but their bounds allow 0 to 4 only"):
        BoxQP(Gram(Linear(), np.eye(4)), Box(zero, zero, one, zero, zero), *one_group(4, 5.0))


@pytest.mark.parametrize(
    ("change", "group", "words"),
    [
        ({"kink": -np.ones(4)}, np.zeros(4, int), "kinks and ridges must be >= 0"),
        ({"ridge": np.full(4, np.nan)}, np.zeros(4, int), "none of them NaN"),
        ({"lower": np.full(4, 2.0)}, np.zeros(4, int), "lower <= upper"),
        ({}, np.array([0, 0, 1, 0]), "from 0 to 0"),
        ({}, np.array([0, 0, -2, 0]), "-1 for rows without one"),
        ({}, np.zeros(3, int), "4 rows"),
        ({"p": np.zeros(5)}, np.zeros(4, int), "4 entries"),
    ],
)
def test_parts_that_do_not_fit_are_errors(change, group, words):
    zero, one = np.zeros(4), np.ones(4)
    with pytest.raises(ValueError, match=words):
        BoxQP(Gram(Linear(), np.eye(4)), Box(zero, zero, one, zero, zero)._replace(**change), group, np.ones(1))


def problem(lower, upper, group, totals):
    lower, upper = np.asarray(lower, np.float64), np.asarray(upper, np.float64)
    zero = np.zeros(len(lower))
    box = Box(zero, lower, upper, zero, np.where(np.isinf(upper - lower), 1.0, 0.0))
    return BoxQP(Gram(Linear(), np.ones((len(lower), 1))), box, np.asarray(group), np.asarray(totals))


def start(*given):
    return problem(*given).start().beta


def test_a_start_is_zero_where_that_is_feasible():
    np.testing.assert_array_equal(start(-np.ones(5), np.ones(5), *one_group(5)), np.zeros(5))
    np.testing.assert_array_equal(start(-np.ones(5), np.ones(5), *no_group(5)), np.zeros(5))
    np.testing.assert_array_equal(start([0.5, -2.0], [1.0, -1.0], *no_group(2)), [0.5, -1.0])  # the nearest to zero


def test_a_total_is_reached_by_few_rows_spread_over_all():
    beta = start(np.zeros(16), np.ones(16), *one_group(16, 2.5))
    np.testing.assert_array_equal(np.flatnonzero(beta == 1.0), [0, 8])
    assert beta[4] == 0.5
    assert beta.sum() == 2.5
    below = start(-np.ones(16), np.zeros(16), *one_group(16, -2.5))
    np.testing.assert_array_equal(below, -beta)


def test_every_group_reaches_its_own_total():
    group = np.array([0, 1, 0, 1, 0, 1, -1])
    beta = start(-np.ones(7), np.ones(7), group, [1.5, -2.25])
    assert beta[group == 0].sum() == 1.5
    assert beta[group == 1].sum() == -2.25
    assert beta[-1] == 0.0
    assert np.abs(beta).max() <= 1.0


def test_a_total_that_bounds_away_from_zero_exceed_is_approached_from_above():
    beta = start(np.zeros(4), [1.0, 1.0, 2.0, 0.5], *one_group(4, 4.5))
    np.testing.assert_array_equal(beta, [1.0, 1.0, 2.0, 0.5])
    forced = start([1.0, 1.0, -3.0], [2.0, 2.0, 0.0], *one_group(3))  # 1 + 1 - 2
    assert forced.sum() == 0.0
    np.testing.assert_array_equal(forced, [1.0, 1.0, -2.0])


def test_rows_without_bounds_share_what_is_missing():
    far = np.full(5, np.inf)
    np.testing.assert_allclose(start(-far, far, *one_group(5, 2.0)), 0.4)


def test_signs_biases_and_hard_margins():
    two = problem([0.0, -2.0, -1.0], [3.0, 0.0, 1.0], *one_group(3))
    np.testing.assert_array_equal(two.sign, [1.0, -1.0, 1.0])
    np.testing.assert_array_equal(two.point_of([1.0, 2.0, 0.5]).beta, [1.0, -2.0, 0.5])
    point = Point(beta=np.array([1.0, -2.0, 0.5]), biases=np.array([0.7]))
    assert two.bias_of(point) == 0.7
    assert replace(two, appended=True).bias_of(point) == -0.5
    assert problem([0.0], [1.0], *no_group(1)).bias_of(Point(beta=np.ones(1))) == 0.0
    assert math.isnan(problem([0.0, 0.0], [1.0, 1.0], [0, 1], [0.5, 0.5]).bias_of(point))
    assert not two.hard
    box = two.box._replace(upper=np.array([np.inf, 0.0, 1.0]))
    assert replace(two, box=box).hard
    assert not replace(two, box=box._replace(ridge=np.ones(3))).hard  # a square: slack costs, but is allowed

"""Multipliers of an interior point, put at the bounds and kinks that they tend to."""

import numpy as np
import pytest

from maxmargin.losses.box import Box
from maxmargin.solvers.snapping import snapped, unit_of

ZERO = np.zeros(4)
UNIT_BOX = Box(np.ones(4), ZERO, np.ones(4), ZERO, ZERO)


def test_a_slope_pulls_to_the_bound_on_its_side():
    beta, t = np.array([1e-9, 1.0 - 1e-9, 0.5, 1e-9]), np.array([-1.0, 1.0, 1e-12, 1e-12])
    found = snapped(UNIT_BOX, np.full(4, -1), np.empty(0), beta, t, 1.0)
    np.testing.assert_array_equal(found, [0.0, 1.0, 0.5, 1e-9])  # the last one has no slope, so it stays


def test_what_a_sum_loses_is_taken_from_the_free():
    beta, t = np.array([1e-9, 1.0 - 3e-9, 0.5, 0.25]), np.array([-1.0, 1.0, 0.0, 0.0])
    found = snapped(UNIT_BOX, np.zeros(4, np.int64), np.array([beta.sum()]), beta, t, 1.0)
    np.testing.assert_array_equal(found[:2], [0.0, 1.0])
    assert found.sum() == pytest.approx(beta.sum(), abs=1e-15)
    assert 0.5 - found[2] == pytest.approx(2.0 * (0.25 - found[3]))  # in proportion to their room


def test_a_kink_draws_both_sides_to_zero_and_lets_go_beyond_its_slope():
    box = Box(ZERO, np.full(4, -1.0), np.ones(4), np.full(4, 0.1), ZERO)
    beta, t = np.array([1e-9, -1e-9, 0.5, -1.0 + 1e-9]), np.array([0.05, -0.05, 0.1, -0.7])
    found = snapped(box, np.full(4, -1), np.empty(0), beta, t, 0.1)
    np.testing.assert_array_equal(found, [0.0, 0.0, 0.5, -1.0])


def test_without_a_bound_nothing_is_near():
    box = Box(np.ones(4), np.full(4, -np.inf), np.full(4, np.inf), ZERO, np.ones(4))
    beta = np.array([1.0, -2.0, 3.0, 0.0])
    np.testing.assert_array_equal(snapped(box, np.full(4, -1), np.empty(0), beta, np.ones(4), 1.0), beta)


def test_fixed_multipliers_stay_and_zero_ones_do_not_divide():
    box = UNIT_BOX._replace(upper=ZERO)
    np.testing.assert_array_equal(snapped(box, np.full(4, -1), np.empty(0), ZERO, np.ones(4), 1.0), ZERO)


def test_the_unit_of_slopes():
    assert unit_of(UNIT_BOX, np.ones(4)) == 1.0
    assert unit_of(UNIT_BOX._replace(p=ZERO, kink=np.full(4, 0.5)), np.ones(4)) == 0.5
    assert unit_of(UNIT_BOX._replace(p=ZERO), np.full(4, 3.0)) == 3.0
    assert unit_of(UNIT_BOX._replace(p=ZERO, upper=np.full(4, np.inf)), np.ones(4)) == 1.0
    assert unit_of(Box(*(part[:0] for part in UNIT_BOX)), np.empty(0)) == 1.0

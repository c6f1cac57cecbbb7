"""Steps with kinks and in several groups, against plain coordinate formulas and the conditions of optimality."""

import numpy as np
import pytest

from maxmargin.certificates.kkt import standing_of
from maxmargin.solvers.box.groups import take_steps
from maxmargin.solvers.box.steps import Block, pair_steps, single_steps
from tests.unit.solvers.box.small_block import TARGETS, N, block, both, gradient, pairs


@pytest.mark.parametrize("steps", [pair_steps, single_steps])
@pytest.mark.parametrize("kink", [0.0, 0.1])
def test_compiled_equals_python_with_kinks(steps, kink):
    ends = []
    for run in both(steps):
        v, beta = TARGETS.copy(), np.zeros(N)
        run(block(kink), v, beta, 1e-3, 12)  # later the last digit decides between two pairs
        ends.append((v, beta))
    np.testing.assert_allclose(ends[0][0], ends[1][0], atol=1e-12)
    np.testing.assert_allclose(ends[0][1], ends[1][1], atol=1e-12)
    np.testing.assert_allclose(ends[0][0], gradient(ends[0][1]), atol=1e-12)


def test_a_large_kink_keeps_every_multiplier_at_zero():
    v, beta = TARGETS.copy(), np.zeros(N)
    done, violation, _ = single_steps(block(10.0), v, beta, 1e-9, 100)
    assert done == 0
    assert violation == 0.0
    assert not beta.any()


def test_multipliers_pass_zero_through_their_kink():
    """A wrong start: the optimum has the other sign, beyond the kink."""
    one = Block(np.eye(1), np.ones(1), np.zeros(1), np.array([-5.0]), np.array([5.0]), np.array([0.25]))
    v, beta = np.array([2.0 - (-3.0)]), np.array([-3.0])  # p = 2: the optimum is 2 - 0.25
    single_steps(one, v, beta, 1e-12, 100)
    assert beta[0] == pytest.approx(1.75)
    two = Block(np.eye(2), np.ones(2), np.zeros(2), np.full(2, -5.0), np.full(2, 5.0), np.full(2, 0.25))
    p, beta = np.array([2.0, -2.0]), np.array([-3.0, 3.0])
    v = p - beta
    pairs(two, v, beta, 1e-12, 100)
    np.testing.assert_allclose(beta, [1.75, -1.75])


@pytest.mark.parametrize("group", [np.arange(N) % 3 - 1, np.arange(N) % 2, np.arange(N) * 2 // N],
                         ids=["some without a group", "mixed", "one after the other"])  # fmt: skip
@pytest.mark.parametrize("kink", [0.0, 0.1])
def test_groups_keep_their_sums_and_reach_their_optimum(kink, group):
    start = np.where(group == 0, 0.2, np.where(group == 1, -0.1, 0.0))
    v, beta = gradient(start), start.copy()
    _, violation, moving = take_steps(block(kink), group, 2, v, beta, 1e-8, 100_000)
    assert moving
    assert violation <= 1e-8
    for g in (0, 1):
        assert beta[group == g].sum() == pytest.approx(start[group == g].sum(), abs=1e-12)
    np.testing.assert_allclose(v, gradient(beta), atol=1e-10)
    assert standing_of(beta, v, block(kink), group, 2).violation <= 1e-8


@pytest.mark.parametrize("kink", [0.0, 0.1])
def test_groups_in_order_end_where_mixed_ones_do(kink):
    """The same rows in another order: one loop over all groups, or groups in turn."""
    group = np.arange(N) % 2
    start = np.where(group == 0, 0.2, -0.1)
    order = np.argsort(group, kind="stable")
    mixed, sorted_ = block(kink), block(kink)
    sorted_ = Block(sorted_.K[np.ix_(order, order)], *(part[order] for part in sorted_[1:6]))
    v, beta = gradient(start), start.copy()
    take_steps(mixed, group, 2, v, beta, 1e-10, 100_000)
    v_sorted, beta_sorted = gradient(start)[order], start[order]
    take_steps(sorted_, group[order], 2, v_sorted, beta_sorted, 1e-10, 100_000)
    np.testing.assert_allclose(beta_sorted, beta[order], atol=1e-7)


def test_a_group_that_rounding_blocks_does_not_block_the_other():
    """The first pair cannot move: its multipliers are too large for the step that would be left."""
    far, zero = 1e20, np.zeros(4)
    lower, upper = np.array([0.0, -far, 0.0, -2.0]), np.array([far, 0.0, 2.0, 0.0])
    here = Block(np.eye(4), np.ones(4), zero, lower, upper, zero)
    v, beta = np.array([1.0, -1.0, 0.5, -0.5]), np.array([1e17, -1e17, 0.0, 0.0])
    done, violation, moving = take_steps(here, np.array([0, 0, 1, 1]), 2, v, beta, 1e-3, 100)
    assert done >= 1
    np.testing.assert_allclose(beta[2:], [0.5, -0.5])
    assert violation == pytest.approx(2.0)
    assert not moving

"""The Newton polish ends where all free slopes of a group are equal."""

import numpy as np
import pytest

from maxmargin.kernels import RBF
from maxmargin.solvers.box.groups import take_steps
from maxmargin.solvers.box.newton import polish
from maxmargin.solvers.box.steps import Block, single_steps
from tests import helpers
from tests.unit.solvers.box.small_block import TARGETS, N, block, gradient, pairs


@pytest.mark.parametrize("groups", [0, 1, 2])
def test_newton_steps_with_kinks_and_groups(groups):
    group = np.arange(N) % groups if groups else np.full(N, -1)
    here = block(0.05, bound=3.0)
    v, beta = TARGETS.copy(), np.zeros(N)
    take_steps(here, group, groups, v, beta, 1e-3, 10_000)
    before = [beta[group == g].sum() for g in range(groups)]
    polish(here, v, beta, group)
    np.testing.assert_allclose([beta[group == g].sum() for g in range(groups)], before, atol=1e-12)
    np.testing.assert_allclose(v, gradient(beta), atol=1e-10)
    free = (np.abs(beta) < 3.0) & (beta != 0.0)
    slope = v - 0.05 * np.sign(beta)
    for g in range(groups):
        mine = free & (group == g)
        assert mine.sum() > 2
        np.testing.assert_allclose(slope[mine], slope[mine].mean(), atol=1e-9)
    if not groups:
        np.testing.assert_allclose(slope[free], 0.0, atol=1e-9)


def of_classes(rows, labels, C):
    """0 <= label beta <= C on a Gaussian kernel."""
    values, zero = RBF(1.0)(rows), np.zeros(len(labels))
    lower, upper = np.where(labels < 0, -C, 0.0), np.where(labels > 0, C, 0.0)
    return Block(values, np.diag(values).copy(), zero, lower, upper, zero)


@pytest.mark.parametrize("balanced", [True, False])
def test_newton_ends_where_the_free_gradient_is_equal(balanced):
    rows, labels = helpers.moons(30)
    here = of_classes(rows, labels, 5.0)
    v, beta = labels.copy(), np.zeros(30)
    (pairs if balanced else single_steps)(here, v, beta, 1e-2, 1000)
    polish(here, v, beta, np.full(30, 0 if balanced else -1))
    free = (beta > here.lower) & (beta < here.upper)
    assert free.sum() > 3
    np.testing.assert_allclose(v[free], v[free].mean() if balanced else 0.0, atol=1e-10)
    np.testing.assert_allclose(v, labels - here.K @ beta, atol=1e-10)
    if balanced:
        assert abs(beta.sum()) < 1e-12

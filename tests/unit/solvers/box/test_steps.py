"""The innermost loops: compiled and plain Python take the same steps; bounds are met exactly."""

import numpy as np
import pytest

from maxmargin.kernels import RBF
from maxmargin.solvers.box.steps import Block, pair_steps, single_steps
from tests import helpers
from tests.unit.solvers.box.small_block import both, pairs

X, Y = helpers.moons(30)


def block(C=1.0, ridge=0.0, kink=0.0):
    K = RBF(1.0)(X)
    lower, upper = np.where(Y < 0, -C, 0.0), np.where(Y > 0, C, 0.0)
    return Block(K, np.diag(K) + ridge, np.full(30, ridge), lower, upper, np.full(30, kink))


@pytest.mark.parametrize("steps", [pair_steps, single_steps])
@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_compiled_equals_python(steps, ridge):
    results = []
    for run in both(steps):
        v, beta = Y.copy(), np.zeros(30)
        answer = run(block(1.0, ridge), v, beta, 1e-3, 20)  # later, rounding may break ties otherwise
        results.append((answer, v, beta))
    (first, v1, beta1), (second, v2, beta2) = results
    assert first[0] == second[0]
    np.testing.assert_allclose(beta1, beta2, atol=1e-12)
    np.testing.assert_allclose(v1, v2, atol=1e-12)
    exact = Y - (block().K + ridge * np.eye(30)) @ beta1
    np.testing.assert_allclose(v1, exact, atol=1e-12)


def test_bounds_are_met_exactly_and_the_sum_is_kept():
    v, beta = Y.copy(), np.zeros(30)
    _, violation, _ = pairs(block(0.1), v, beta, 1e-6, 10_000)
    assert violation <= 1e-6
    assert abs(beta.sum()) < 1e-12
    assert np.count_nonzero(np.abs(beta) == 0.1) > 5
    assert np.all(np.abs(beta) <= 0.1)


def test_twins_of_both_classes_do_not_divide_by_zero():
    K = np.ones((2, 2))
    lower, upper = np.array([0.0, -2.0]), np.array([2.0, 0.0])
    equal_rows = Block(K, np.ones(2), np.zeros(2), lower, upper, np.zeros(2))
    v, beta = np.array([1.0, -1.0]), np.zeros(2)
    pairs(equal_rows, v, beta, 1e-3, 100)
    np.testing.assert_array_equal(beta, [2.0, -2.0])


@pytest.mark.parametrize("steps", [pair_steps, single_steps])
def test_single_precision_takes_the_same_first_steps(steps):
    wide, narrow = block(1.0), block(1.0)
    narrow = narrow._replace(K=narrow.K.astype(np.float32))
    betas = []
    for here in (wide, narrow):
        v, beta = Y.astype(here.K.dtype), np.zeros(30)
        both(steps)[0](here, v, beta, 1e-2, 10)
        betas.append(beta)
    np.testing.assert_allclose(*betas, atol=1e-4)


def test_a_multiplier_a_rounding_away_from_its_bound_does_not_block_the_others():
    K = np.eye(3)
    lower, upper = np.array([0.0, 0.0, -1.0]), np.array([1.0, 1.0, 0.0])
    v, beta = np.array([2.0, 1.0, -1.0]), np.array([1.0 - 1e-16, 0.2, -0.5])
    _, violation, moving = pairs(Block(K, np.ones(3), np.zeros(3), lower, upper, np.zeros(3)), v, beta, 1e-3, 100)
    assert moving
    assert violation <= 1e-3
    assert beta[0] == 1.0


def test_a_step_that_cannot_move_says_so():
    K = np.array([[1.0, 0.0], [0.0, 1.0]])
    lower, upper = np.array([0.0, -1e20]), np.array([1e20, 0.0])
    stuck = Block(K, np.ones(2), np.zeros(2), lower, upper, np.zeros(2))
    v, beta = np.array([1.0, -1.0]), np.array([1e17, -1e17])
    done, violation, moving = pairs(stuck, v, beta, 1e-3, 100)
    assert (done, violation, moving) == (0, 2.0, False)

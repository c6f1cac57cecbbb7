"""Cholesky factors with another diagonal, raised where rounding asks for it."""

import numpy as np
import pytest

from maxmargin.solvers.cholesky import factor, solution

RNG = np.random.default_rng(0)
A = RNG.normal(size=(8, 8))
K = A @ A.T


def test_solutions_of_the_matrix_with_another_diagonal():
    diagonal = np.diag(K) + RNG.uniform(1.0, 2.0, 8)
    changed = K - np.diag(np.diag(K)) + np.diag(diagonal)
    right = RNG.normal(size=(8, 3))
    before = K.copy()
    L = factor(np.triu(K) + np.tril(np.full((8, 8), np.nan), -1), diagonal)  # the lower triangle is never read
    np.testing.assert_allclose(changed @ solution(L, right), right, atol=1e-10)
    np.testing.assert_allclose(changed @ solution(L, right[:, 0]), right[:, 0], atol=1e-10)
    np.testing.assert_array_equal(K, before)


def test_a_matrix_that_rounding_made_indefinite_is_raised():
    flat = np.ones((6, 6))
    L = factor(flat, np.full(6, 1.0 - 1e-15))
    np.testing.assert_allclose(np.tril(L) @ np.tril(L).T, flat, atol=1e-7)


@pytest.mark.parametrize("diagonal", [np.full(8, -1.0), np.full(8, np.nan)], ids=["indefinite", "no number"])
def test_no_factor(diagonal):
    assert factor(K, diagonal) is None

"""Kernels given from outside: functions and matrices."""

import numpy as np
import pytest

from maxmargin.kernels import GramFunction, PairFunction, Precomputed
from maxmargin.kernels.functions import from_function
from tests.unit.kernels.formulas import RNG, X, Z


def test_functions_of_both_conventions():
    np.testing.assert_allclose(from_function(lambda A, B: A @ B.T, X)(X, Z), X @ Z.T)
    for width in (1, 2, 3, 4):  # rows that happen to fit a matrix product
        made = from_function(lambda a, b: a @ b, X[:, :width])
        np.testing.assert_allclose(made(X[:, :width], Z[:, :width]), X[:, :width] @ Z[:, :width].T)
    letters = from_function(lambda a, b: float(len(set(a) & set(b))), np.array(["ab", "bc", "cd"]))
    np.testing.assert_array_equal(letters(np.array(["ab", "bc"]), np.array(["abc", "d"])), [[2.0, 0.0], [2.0, 0.0]])
    np.testing.assert_allclose(PairFunction(lambda a, b: a @ b)(X, Z), X @ Z.T)
    np.testing.assert_allclose(
        GramFunction(lambda A, B: A @ B.T).diagonal(GramFunction(None).prepare(X)), np.sum(X**2, 1)
    )
    with pytest.raises(ValueError, match="fits neither convention"):
        from_function(lambda A, B: np.zeros((9, 9)), X)
    with pytest.raises(ValueError, match=r"returned an array of shape \(2, 2\) for 7 and 5 points"):
        GramFunction(lambda A, B: np.zeros((2, 2)))(X, Z)
    with pytest.raises(ValueError, match=r"returned nan at position \(0, 0\)"):
        GramFunction(lambda A, B: np.full((len(A), len(B)), np.nan))(X, Z)


def test_precomputed_takes_entries():
    K = RNG.normal(size=(6, 6))
    points = Precomputed().prepare(K)
    some = points.take(np.array([1, 4]))
    np.testing.assert_array_equal(Precomputed().block(some, points), K[[1, 4]])
    np.testing.assert_array_equal(Precomputed().diagonal(points), np.diag(K))

"""Moments of groups of rows, dense and CSR."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from maxmargin.core.rows import rows_of
from maxmargin.preprocessing.moments import Moments, _follow, grouped_moments, moments


@given(st.integers(0, 2**32 - 1))
def test_moments_of_groups_and_of_sparse_columns(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 4)) * [1.0, 1e-3, 10.0, 1.0] + [0.0, 5.0, 1e8, 0.0]
    X[rng.random(30) < 0.5, 3] = 0.0
    X[:, 0] = 0.1  # never varies
    weights, groups = rng.random(30) + 0.1, rng.integers(0, 2, 30)
    found = grouped_moments(X, groups, weights, 3)
    for group in np.unique(groups):
        rows, w = X[groups == group] - [0, 0, 1e8, 0], weights[groups == group]
        mean = np.average(rows, axis=0, weights=w)
        np.testing.assert_allclose(found.means[group] - [0, 0, 1e8, 0], mean, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(found.squares[group], w @ (rows - mean) ** 2, rtol=1e-6, atol=1e-30)
    assert found.weights[2] == 0
    for one in (found.pooled(), moments(sparse.csr_array(X), weights)):
        whole = moments(X, weights)
        np.testing.assert_allclose(one.means, whole.means, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(one.squares, whole.squares, rtol=1e-6, atol=1e-12)
    assert whole.squares[0, 0] == 0


def test_the_loop_of_moments_and_its_python_text():
    rng = np.random.default_rng(0)
    X, weights, groups = rng.normal(size=(20, 2)), rng.random(20) + 0.1, np.arange(20) % 3
    for loop in (_follow, getattr(_follow, "py_func", _follow)):
        origins, found = np.zeros((3, 2)), Moments(np.zeros(3), np.zeros((3, 2)), np.zeros((3, 2)))
        loop(rows_of(X, np.float64), groups, weights, origins, found)
        np.testing.assert_array_equal(origins, X[:3])
        for g in range(3):
            rows, w = X[groups == g], weights[groups == g]
            mean = np.average(rows, axis=0, weights=w)
            np.testing.assert_allclose(origins[g] + found.means[g], mean, rtol=1e-12)
            np.testing.assert_allclose(found.squares[g], w @ (rows - mean) ** 2, rtol=1e-12)

"""Kernels of vectors against formulas written for one pair of points."""

import math

import numpy as np
import pytest
from scipy import sparse

from maxmargin.kernels import RBF, Linear, Polynomial
from maxmargin.kernels.vectors import gaussian32, gaussian64
from tests.unit.kernels.formulas import FORMULAS, RNG, X, Z, by_formula


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_and_diagonals(name, store, dtype):
    kernel, formula = FORMULAS[name]
    A, B = kernel.prepare(store(X), dtype), kernel.prepare(store(Z), dtype)
    tolerance = 1e-5 if dtype is np.float32 else 1e-12
    block = kernel.block(A, B)
    assert block.dtype == dtype
    np.testing.assert_allclose(block, by_formula(formula, X, Z), rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(kernel.diagonal(A), np.diag(by_formula(formula, X, X)), rtol=tolerance, atol=tolerance)


def test_far_from_the_origin():
    near, far = RBF(0.3)(X, Z), RBF(0.3)(X + 1e6, Z + 1e6)
    np.testing.assert_allclose(near, far, rtol=1e-8)
    np.testing.assert_allclose(np.diag(RBF(0.3)(X + 1e8)), 1.0, rtol=1e-6)
    np.testing.assert_allclose(
        Polynomial(2, 1.0, 1.0).feature_map(sparse.csr_array(X)), Polynomial(2, 1.0, 1.0).feature_map(X)
    )


@pytest.mark.parametrize(("d", "degree"), [(2, 2), (3, 3), (4, 1), (2, 4)])
def test_feature_map_reproduces_the_kernel(d, degree):
    A, B = RNG.normal(size=(6, d)), RNG.normal(size=(3, d))
    kernel = Polynomial(degree, 0.7, 1.3)
    assert kernel.feature_map(A).shape == (6, math.comb(d + degree, degree))
    np.testing.assert_allclose(kernel.feature_map(A) @ kernel.feature_map(B).T, kernel(A, B), rtol=1e-10)
    np.testing.assert_allclose(Linear().feature_map(A) @ Linear().feature_map(B).T, Linear()(A, B))


def test_float32_error_bound_holds():
    rng = np.random.default_rng(1)
    A = rng.normal(size=(300, 30)) * 3
    A[:3] *= 20.0
    kernel = RBF(0.02)
    centre = A.mean(axis=0).astype(np.float32)
    single, double = kernel.prepare(A, np.float32, centre), kernel.prepare(A, np.float64, centre)
    exact = kernel.block(double, double)
    seen = np.abs(kernel.block(single, single) - exact) / np.maximum(exact, 2.0**-24)
    bounds = kernel.float32_errors(single)
    assert seen.max() > 0
    assert np.all(seen.max(axis=1) <= bounds)


def test_the_gaussian_of_float64_is_that_of_numpy():
    """The exponent rounds by a share of itself, so does the value."""
    d = np.concatenate([[0.0], np.geomspace(1e-12, 700.0, 2000)])[None, :]
    for run in (gaussian64, getattr(gaussian64, "py_func", gaussian64)):
        values = -0.5 * d
        run(values, np.zeros(1), np.zeros(d.shape[1]), np.log2(np.e))
        assert np.all(np.abs(values / np.exp(-d) - 1.0) <= 2.0**-53 * (4.0 + 2.0 * d))
        assert values[0, 0] == 1.0
    values = np.array([[-1e9]])
    gaussian64(values, np.zeros(1), np.zeros(1), 1.0)
    assert 0.0 < values[0, 0] < 1e-300  # no smaller than the smallest normal number


def test_the_fused_gaussian_is_exact_to_float32():
    rng = np.random.default_rng(1)
    A, B = rng.normal(size=(20, 5)), rng.normal(size=(30, 5))
    A[0] = 1e3  # far away: the value stays at the smallest normal number
    kernel_ = RBF(0.4)
    single = kernel_.block(kernel_.prepare(A, np.float32), kernel_.prepare(B, np.float32))
    double = kernel_.block(kernel_.prepare(A), kernel_.prepare(B))
    np.testing.assert_allclose(single[1:], double[1:], rtol=2e-5)
    assert single[0].max() < 1e-37
    assert single.min() > 0
    tiles = [np.zeros((2, 3), np.float32) for _ in range(2)]
    left, right = np.array([0.5, 130.0], np.float32), np.array([0.0, 0.25, 3.0], np.float32)
    gaussian32(tiles[0], left, right, np.float32(1.0))
    getattr(gaussian32, "py_func", gaussian32)(tiles[1], left, right, np.float32(1.0))
    np.testing.assert_allclose(*tiles, rtol=1e-6)

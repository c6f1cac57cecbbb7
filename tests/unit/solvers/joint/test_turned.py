"""Rows in a basis that begins with their mean: the same inner products, to the last digits."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from maxmargin.core.rows import rows_of
from maxmargin.problems.design import Design
from maxmargin.solvers.joint.turned import turned


@pytest.mark.parametrize("scale", [0.0, 1.0, 1e3])
@pytest.mark.parametrize(("n", "d"), [(30, 4), (30, 1), (5, 12), (1, 3), (7, 6)])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_inner_products_and_weights_are_the_same(scale, n, d, storage):
    rng = np.random.default_rng(0)
    X, B = rng.normal(size=(n, d)) + 3.0, rng.normal(size=n)
    design = Design(rows_of(storage(X), X.dtype), scale)
    rows, basis = turned(design)
    np.testing.assert_allclose(rows @ rows.T, design.outer_gram(), rtol=1e-12)
    assert rows.shape[1] <= n + 1
    np.testing.assert_allclose(basis @ (rows.T @ B), design.combine(B), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(basis.T @ basis, np.eye(rows.shape[1]), atol=1e-12)


def test_rows_around_zero_and_rows_of_zeros():
    for X in (np.array([[1.0, 2.0], [-1.0, -2.0]]), np.zeros((3, 2))):
        rows, _ = turned(Design(rows_of(X, X.dtype), 0.0))
        np.testing.assert_allclose(rows @ rows.T, X @ X.T, atol=1e-14)


def test_an_offset_costs_no_digits():
    """Squared distances of rows around 1e6, against exact fractions; from A A' they have three digits."""
    X = np.random.default_rng(0).normal(size=(6, 3)) + 1e6
    rows, _ = turned(Design(rows_of(X, X.dtype), 1.0))
    for i in range(6):
        for j in range(i):
            exact = float(sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(X[i], X[j], strict=True)))
            assert np.sum((rows[i] - rows[j]) ** 2) == pytest.approx(exact, rel=1e-8)


def test_small_features_are_not_rounded_by_large_ones():
    """Every column has its own size: made equally long, they are far from dependent."""
    X = np.random.default_rng(0).normal(size=(50, 3)) * [1e2, 1.0, 1e-2] + 1e4
    rows, _ = turned(Design(rows_of(X, X.dtype), 1.0))
    shares = rows[:, np.linalg.norm(rows, axis=0) > 1e-9]  # the appended 1 is a combination of the mean alone
    assert shares.shape[1] == 4
    assert np.linalg.svd(shares / np.linalg.norm(shares, axis=0), compute_uv=False)[-1] > 0.1

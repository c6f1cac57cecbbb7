"""Rows without what is usual in their columns."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.core import rows as storage
from maxmargin.core import sparsity

RNG = np.random.default_rng(0)


def mostly_usual(n, d, dtype, share=0.1):
    """Columns with one usual value each, which is not zero."""
    X = np.where(RNG.random((n, d)) < share, RNG.normal(size=(n, d)), 0.0)
    return ((X - 0.3) / 0.7).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_usual_values_leave_zeros(dtype):
    X = mostly_usual(700, 40, dtype)
    usual = sparsity.usual_row(X)
    assert usual is not None
    left = sparsity.sparse_rows(X, np.arange(700), usual)
    assert left.nnz < 0.15 * X.size
    np.testing.assert_allclose(left.toarray(), X - usual, atol=1e-6)
    assert left.dtype == np.float32
    assert left.has_canonical_format
    some = RNG.permutation(700)[:50]
    np.testing.assert_array_equal(sparsity.sparse_rows(X, some, usual).toarray(), left[some].toarray())


def test_a_column_without_a_usual_value_is_about_its_mean():
    X = mostly_usual(700, 40, np.float64)
    X[:, 3] = 5.0 + RNG.normal(size=700)
    usual = sparsity.usual_row(X)
    assert usual is not None
    assert usual[3] == pytest.approx(X[:, 3].mean(), rel=1e-6)


@pytest.mark.parametrize(
    "X",
    [RNG.normal(size=(300, 20)), sparse.csr_array(np.eye(30)), np.zeros((0, 4)), np.zeros((9, 5000))],
    ids=["dense", "sparse already", "no rows", "too wide"],
)
def test_what_does_not_pay_is_left_alone(X):
    assert sparsity.usual_row(X) is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("right", [np.asarray, sparse.csr_array])
def test_products_are_those_of_the_dense_rows(dtype, right):
    A, B = (np.where(RNG.random((n, 30)) < 0.3, RNG.normal(size=(n, 30)), 0.0).astype(dtype) for n in (21, 17))
    A[4] = 0.0
    out = np.full((21, 17), np.nan, dtype)
    sparsity.products(storage.rows_of(sparse.csr_array(A), dtype), storage.rows_of(right(B), dtype), out)
    np.testing.assert_allclose(out, A @ B.T, atol=1e-5 if dtype == np.float32 else 1e-12)


def test_loops_equal_their_python_text():
    X = mostly_usual(12, 9, np.float64, 0.4)
    usual = np.median(X, axis=0)
    found, rows = [], np.array([7, 0, 11, 3])
    for count, store in (
        (sparsity.count_others, sparsity.store_others),
        (getattr(loop, "py_func", loop) for loop in (sparsity.count_others, sparsity.store_others)),
    ):
        ends = np.zeros(len(rows) + 1, np.int64)
        count(X, rows, usual, ends[1:])
        np.testing.assert_array_equal(ends[1:], np.count_nonzero(usual != X[rows], axis=1))
        np.cumsum(ends, out=ends)
        indices, data = np.empty(ends[-1], np.int32), np.empty(ends[-1], np.float32)
        store(X, rows, usual, ends, indices, data)
        found.append((indices, data))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_slice_of_sparse_rows_is_what_scipy_makes_of_it():
    S = sparse.csr_array(np.where(RNG.random((20, 6)) < 0.5, 1.0, 0.0))
    rows = storage.rows_of(S, np.float64)
    for part in (slice(3, 9), slice(0, 20), slice(7, 7), slice(15, 99)):
        np.testing.assert_array_equal(storage.as_csr(storage.take_rows(rows, part)).toarray(), S[part].toarray())

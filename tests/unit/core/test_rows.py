"""Loops over rows, dense and sparse, against NumPy."""

import itertools

import numpy as np
import pytest
from scipy import sparse

from maxmargin.core import rows
from maxmargin.core.jit import jit

RNG = np.random.default_rng(0)
A = RNG.normal(size=(4, 6)) * (RNG.random((4, 6)) < 0.5)
B = RNG.normal(size=(3, 6)) * (RNG.random((3, 6)) < 0.5)
STORES = [np.asarray, sparse.csr_array]


@pytest.mark.parametrize(("left", "right"), list(itertools.product(STORES, STORES)))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_row_loops_for_every_storage(left, right, dtype):
    P, Q = rows.rows_of(left(A), dtype), rows.rows_of(right(B), dtype)
    wanted = {
        rows.inner_products: A @ B.T,
        rows.l1_distances: np.abs(A[:, None] - B[None]).sum(axis=2),
    }
    for loop, answer in wanted.items():
        for run in (loop, getattr(loop, "py_func", loop)):
            scratch, out = np.zeros(6), np.empty((4, 3), dtype)
            run(P, Q, scratch, out)
            np.testing.assert_allclose(out, answer, rtol=1e-5, atol=1e-6)
            assert not scratch.any()


@pytest.mark.parametrize("store", STORES)
def test_rows_are_views_that_cannot_be_written(store):
    view = rows.rows_of(store(A), np.float64)
    assert rows.count(view) == 4
    assert rows.width(view) == 6
    np.testing.assert_allclose(rows.squared_norms(view), (A**2).sum(axis=1))
    some = rows.take_rows(view, np.array([2, 0]))
    np.testing.assert_allclose(rows.squared_norms(some), (A[[2, 0]] ** 2).sum(axis=1))
    with pytest.raises(ValueError, match="read-only"):
        view[0][0] = 1.0
    assert A.flags.writeable


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_through_an_inverted_index(dtype):
    rng = np.random.default_rng(0)
    A, B = (sparse.random_array((n, 40), density=0.1, rng=rng, format="csr").astype(dtype) for n in (7, 9))
    index = rows.columns_of(rows.rows_of(B, dtype))
    outs = [np.full((7, 9), np.nan, dtype) for _ in range(2)]
    rows.products_by_column(rows.rows_of(A, dtype), index, outs[0])
    loop = rows.products_by_column
    getattr(loop, "py_func", loop)(rows.rows_of(A, dtype), index, outs[1])
    for out in outs:
        np.testing.assert_allclose(out, (A @ B.T).toarray(), rtol=1e-5)
    empty = sparse.csr_array((3, 1000), dtype=dtype)
    assert rows.columns_of(rows.rows_of(empty, dtype)) is None  # a thousand edges for nothing


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_that_are_fetched_are_as_they_were(store, dtype):
    X = np.random.default_rng(0).normal(size=(6, 1100))
    X[3] = 0.0
    kept = rows.rows_of(store(X.astype(dtype)), dtype)

    @jit()
    def fetch_all(stored, sums):
        for i in range(len(sums)):
            rows.row_fetch(stored, i)
            sums[i] = rows.row_dot(stored, i, np.ones(1100))

    sums = np.empty(6)
    fetch_all(kept, sums)
    np.testing.assert_allclose(sums, X.astype(dtype).sum(axis=1, dtype=np.float64), atol=1e-10)

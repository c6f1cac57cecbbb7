"""Passes over the rows of A = [X, s 1], against plain NumPy."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.core.rows import rows_of
from maxmargin.losses import Hinge
from maxmargin.problems import design as module
from maxmargin.problems import passes
from maxmargin.problems.design import ROUGH, SIZES, Design, design_of
from tests.linear_helpers import data


def made(kind, dtype, n=300, d=7, scale=2.0, n_jobs=1):
    rng = np.random.default_rng(3)
    X = (rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)).astype(dtype)
    A = np.hstack([X.astype(np.float64), np.full((n, 1), scale)]) if scale else X.astype(np.float64)
    stored = sparse.csr_array(X) if kind == "sparse" else X
    return Design(rows_of(stored, dtype), scale, n_jobs), A


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [0.0, 1.0, 2.5])
def test_products(kind, dtype, scale, monkeypatch):
    monkeypatch.setattr(module, "ONE_CHUNK", 0)
    monkeypatch.setattr(module, "CHUNK_ENTRIES", 256)
    design, A = made(kind, dtype, scale=scale)
    rng = np.random.default_rng(4)
    v, beta = rng.normal(size=A.shape[1]), rng.normal(size=len(A)) * (rng.random(len(A)) < 0.4)
    kappa = rng.random(len(A)) * (rng.random(len(A)) < 0.6)
    index = np.flatnonzero(kappa)
    np.testing.assert_allclose(design.scores(v), A @ v, atol=1e-12)
    np.testing.assert_allclose(design.combine(beta), A.T @ beta, atol=1e-12)
    H = (A.T * kappa) @ A
    np.testing.assert_allclose(np.triu(design.gram(index, kappa)), np.triu(H), atol=1e-10)
    signed = kappa * np.where(np.arange(len(A)) % 3, 1.0, -1.0)
    np.testing.assert_allclose(np.triu(design.gram(index, signed)), np.triu((A.T * signed) @ A), atol=1e-10)
    np.testing.assert_allclose(design.weighted_product(index, kappa, v), H @ v, atol=1e-10)
    np.testing.assert_allclose(design.column_squares(index, kappa), np.diag(H), atol=1e-10)
    np.testing.assert_allclose(design.squared_norms(), (A**2).sum(axis=1), atol=1e-5 if dtype == np.float32 else 1e-10)
    assert design.mean_square() == pytest.approx((A**2).sum(axis=1).mean(), rel=1e-3)
    assert design.norm_bound() >= np.linalg.norm(A)
    before = design.passes
    design.combine(beta)
    assert design.passes - before == pytest.approx(np.count_nonzero(beta) / len(A))
    assert design.shared(1).passes == 0.0


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [0.0, -2.5])
def test_products_with_several_vectors(kind, dtype, scale, monkeypatch):
    monkeypatch.setattr(module, "ONE_CHUNK", 0)
    monkeypatch.setattr(module, "CHUNK_ENTRIES", 256)
    monkeypatch.setattr(passes, "BLOCK_ROWS", 50)
    design, A = made(kind, dtype, scale=scale)
    rng = np.random.default_rng(4)
    V, B = rng.normal(size=(3, A.shape[1])), rng.normal(size=(len(A), 3))
    np.testing.assert_allclose(design.scores_of_several(V), A @ V.T, atol=1e-12)
    np.testing.assert_allclose(design.scores_of_several(V, SIZES), np.abs(A) @ np.abs(V).T, atol=1e-12)
    np.testing.assert_allclose(design.scores_of_several(V, ROUGH), A @ V.T, atol=1e-5)
    np.testing.assert_allclose(design.combine_several(B), B.T @ A, atol=1e-12)
    np.testing.assert_allclose(design.combine_several(B, ROUGH), B.T @ A, atol=1e-4)
    assert design.passes == 5.0
    sizes = np.linalg.norm(np.abs(B).T @ np.abs(A))
    assert sizes <= design.combined_bound(B)
    some = np.array([7, 3, 250])
    np.testing.assert_allclose(design.some(some).scores(V[0]), A[some] @ V[0], atol=1e-12)
    monkeypatch.setattr(module, "SEVERAL_BYTES", 0)  # two parts, of several chunks each
    assert len(design.chunks) > 2
    np.testing.assert_allclose(design.combine_several(B), B.T @ A, atol=1e-12)


def test_rows_too_large_for_their_squares_have_a_bound_where_there_are_no_multipliers():
    design = Design(rows_of(np.full((4, 3), 1e200), np.float64), 1.0)
    assert design.combined_bound(np.zeros((4, 2))) == 0.0
    assert design.combined_bound(np.ones((4, 2))) == np.inf


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_the_number_of_threads_changes_no_bit(kind, monkeypatch):
    monkeypatch.setattr(module, "ONE_CHUNK", 0)
    monkeypatch.setattr(module, "CHUNK_ENTRIES", 256)
    rng = np.random.default_rng(5)
    beta, kappa = rng.normal(size=3000), rng.random(3000)
    one, _ = made(kind, np.float32, n=3000)
    two, _ = made(kind, np.float32, n=3000, n_jobs=2)
    assert len(one.chunks) > 2
    np.testing.assert_array_equal(one.combine(beta), two.combine(beta))
    np.testing.assert_array_equal(one.gram(np.arange(3000), kappa), two.gram(np.arange(3000), kappa))


def test_no_rows_at_all():
    design, A = made("dense", np.float64)
    none = np.empty(0, np.int64)
    assert not design.gram(none, np.zeros(len(A))).any()
    assert not design.weighted_product(none, np.zeros(len(A)), np.ones(A.shape[1])).any()


def both(kernel):
    return kernel, getattr(kernel, "py_func", kernel)


def stored(kind, X):
    return rows_of(sparse.csr_array(X) if kind == "sparse" else X, np.float64)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_passes(kind):
    X, _ = data(Hinge(), n=20, d=4)
    rows, index, kappa, w = stored(kind, X), np.arange(0, 20, 3), np.linspace(0.1, 1, 20), np.arange(4.0)
    found = []
    loops = (passes.scores, passes.combine, passes.weighted_product, passes.column_squares)
    for names in zip(*map(both, loops), strict=True):
        z, sums, products, squares = np.zeros(20), np.zeros(4), np.zeros(4), np.zeros(4)
        names[0](rows, 0, 20, w, 0.5, z)
        names[1](rows, 0, 20, kappa, sums)
        names[2](rows, index, kappa, w, 0.5, products)
        names[3](rows, index, kappa, squares)
        found.append(np.concatenate([z, sums, products, squares]))
    np.testing.assert_allclose(found[0], found[1], atol=1e-12)
    blocks = []
    for write in both(passes.scaled_rows):
        out = np.empty((len(index), 5))
        write(rows, index, kappa, 2.0, out)
        blocks.append(out)
    np.testing.assert_allclose(blocks[0], blocks[1], atol=1e-12)
    wanted = np.hstack([X[index], np.full((len(index), 1), 2.0)]) * np.sqrt(kappa[index])[:, None]
    np.testing.assert_allclose(blocks[0], wanted, atol=1e-12)


def test_much_filled_sparse_rows_are_made_dense():
    A = np.random.default_rng(6).normal(size=(40, 5)) * (np.arange(200).reshape(40, 5) % 3 > 0)
    assert not design_of(sparse.csr_array(A), 1.0).sparse
    thin = A * (np.arange(200).reshape(40, 5) % 7 == 1)
    assert design_of(sparse.csr_array(thin), 1.0).sparse
    v = np.arange(6.0)
    expected = A @ v[:5] + v[5]
    np.testing.assert_allclose(design_of(sparse.csr_array(A), 1.0).scores(v), expected, atol=1e-12)
    np.testing.assert_allclose(design_of(A, 1.0).scores(v), expected, atol=1e-12)


def test_repeated_entries_are_added_up():
    """A row with more stored entries than columns: loops that copy rows have room for each column once."""
    dense = np.zeros((40, 10))
    dense[0, :3] = 1.0
    edges = np.full(41, 36)
    edges[0] = 0
    repeated = sparse.csr_array((np.full(36, 1.0 / 12.0), np.repeat(np.arange(3), 12), edges), shape=(40, 10))
    designs = [design_of(X, 1.0) for X in (sparse.csr_array(dense), repeated)]
    H = [design.gram(np.arange(40), np.arange(1.0, 41.0)) for design in designs]
    assert designs[1].sparse
    assert designs[1].entries == 3
    np.testing.assert_allclose(np.triu(H[1]), np.triu(H[0]), atol=1e-12)

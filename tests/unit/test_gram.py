"""The kernel matrix within a budget: three residences, one answer."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.kernels import RBF, Gram, GramFunction, Laplacian, Linear, Polynomial, Precomputed
from maxmargin.kernels.gram import Residence, add_rows, gather
from tests import helpers

N = 600
X = np.random.default_rng(0).normal(size=(N, 5))
FULL = RBF(0.3)(X)
BUDGETS = {Residence.WHOLE: 8 * N * N, Residence.CACHED: 8 * N * 300, Residence.STREAMED: 8 * N * 10}


@pytest.mark.parametrize("residence", Residence)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_residence_gives_the_same_matrix(residence, n_jobs):
    gram = Gram(RBF(0.3), X, budget=BUDGETS[residence], n_jobs=n_jobs)
    assert gram.residence is residence
    rng = np.random.default_rng(1)
    for _ in range(6):
        rows = rng.choice(N, 200, replace=False)
        np.testing.assert_allclose(gram.submatrix(rows), FULL[np.ix_(rows, rows)], atol=1e-12)
        weights, out = rng.normal(size=200), np.ones(N)
        gram.accumulate(rows, weights, out)
        np.testing.assert_allclose(out, 1.0 + FULL[:, rows] @ weights, atol=1e-10)
    np.testing.assert_allclose(gram.diagonal, 1.0)


def test_counters_and_eviction():
    gram = Gram(RBF(0.3), X, budget=BUDGETS[Residence.CACHED])
    assert gram.capacity == 300
    gram.submatrix(np.arange(200))
    gram.submatrix(np.arange(100, 300))
    assert gram.counters == (300, 100, 0)
    gram.submatrix(np.arange(300, 400))  # the oldest 100 rows, 0..99, make room
    assert gram.counters == (400, 100, 100)
    gram.submatrix(np.arange(100, 300))
    assert gram.counters == (400, 300, 100)


def test_float32_only_where_its_error_is_small():
    many = np.random.default_rng(2).normal(size=(2500, 4))
    assert Gram(RBF(0.1), many, accuracy=1e-3, budget=1 << 20).dtype == np.float32
    assert Gram(RBF(0.1), many, accuracy=1e-7, budget=1 << 20).dtype == np.float64
    assert Gram(RBF(1e4), many, accuracy=1e-3, budget=1 << 20).dtype == np.float64
    assert Gram(Linear(), many, accuracy=1e-3, budget=1 << 20).dtype == np.float64
    assert Gram(RBF(0.1), many[:500], accuracy=1e-3).dtype == np.float64


@pytest.mark.large
def test_scores_and_their_error_bound():
    many = 1e3 + np.random.default_rng(2).normal(size=(2500, 4))  # off centre: cancels badly unless centred
    beta = np.random.default_rng(3).normal(size=2500) * (np.random.default_rng(4).random(2500) < 0.3)
    exact = RBF(0.1)(many - many.mean(axis=0)) @ beta
    gram = Gram(RBF(0.1), many, accuracy=1e-3)
    scores, error = gram.scores(beta)
    assert np.all(np.abs(scores - exact) <= error)
    assert error.max() < 1e-2
    np.testing.assert_allclose(gram.scores(beta, exact=True)[0], exact, rtol=1e-8, atol=1e-10)
    rows = np.array([3, 77, 2400])
    np.testing.assert_allclose(gram.exact_scores(beta, rows), exact[rows], rtol=1e-8, atol=1e-10)


@pytest.mark.large
def test_sparse_rows_stay_sparse_when_wide():
    S, _ = helpers.sparse_counts()
    for kernel in (RBF(0.01), Laplacian(0.01), Linear()):
        wide = Gram(kernel, S)
        assert type(wide.points.rows).__name__ == "CsrRows"
        rows = np.arange(0, 200, 3)
        np.testing.assert_allclose(
            wide.submatrix(rows), kernel(S.toarray())[np.ix_(rows, rows)], rtol=1e-10, atol=1e-12
        )
    narrow = Gram(RBF(0.01), sparse.csr_array(X))
    assert type(narrow.points.rows).__name__ == "DenseRows"


def test_restricted_copies_what_is_known():
    gram = Gram(RBF(0.3), X)
    gram.submatrix(np.arange(N))
    rows = np.arange(5, 100)
    part = gram.restricted(rows, 1 << 30)
    np.testing.assert_array_equal(part.submatrix(np.arange(95)), gram.submatrix(rows))
    assert part.counters.computed == 0


def test_definiteness():
    assert Gram(RBF(1.0), X).definiteness(np.arange(3)) == (True, "")
    asked = GramFunction(lambda A, B: A @ B.T)
    assert Gram(asked, X).definiteness(np.arange(3)) == (True, "")
    many = np.random.default_rng(2).normal(size=(2500, 2))
    definite, note = Gram(asked, many).definiteness(np.arange(10))
    assert definite
    assert "of 2500 rows" in note
    swap = Precomputed()
    matrix = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert Gram(swap, matrix).definiteness(np.arange(2)) == (False, "the Gram matrix is not positive semidefinite")
    assert Gram(swap, matrix).smallest_eigenvalue() == pytest.approx(-1.0)


def test_loops_equal_their_python_text():
    store = np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32)
    slots, columns = np.array([2, 0]), np.array([5, 1, 3])
    outs = [np.empty((2, 3), np.float32) for _ in range(2)]
    gather(store, slots, columns, outs[0])
    getattr(gather, "py_func", gather)(store, slots, columns, outs[1])
    np.testing.assert_array_equal(*outs)
    sums = [np.ones(6) for _ in range(2)]
    add_rows(store, slots, np.array([0.5, -2.0]), sums[0], 1, 5)
    getattr(add_rows, "py_func", add_rows)(store, slots, np.array([0.5, -2.0]), sums[1], 1, 5)
    np.testing.assert_allclose(*sums, rtol=1e-12)
    assert sums[0][0] == sums[0][5] == 1.0


def test_overflow_is_named():
    with pytest.raises(ValueError, match="squared length overflows"):
        Gram(RBF(1.0), X * 1e200)
    with pytest.raises(ValueError, match="overflows on these data"):
        Gram(Polynomial(300, 1e9, 1.0), X)


def test_a_kernel_function_is_evaluated_once_per_pair():
    asked = []

    def gram(A, B):
        asked.append(len(A) * len(B))
        return A @ B.T

    matrix = Gram(GramFunction(gram), X)
    matrix.definiteness(np.arange(3))
    matrix.submatrix(np.arange(N))
    assert sum(asked) <= N * N + 32 * N

"""The kernel matrix within a budget: three residences, one answer."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.core import rows as storage
from maxmargin.gram import Gram
from maxmargin.gram.budget import Residence
from maxmargin.gram.sharing import SharedBlocks
from maxmargin.gram.tiles import (
    add_rows,
    assemble,
    copy_rows,
    gather,
    gather_into,
    mirror,
    scatter,
    scatter_across,
)
from maxmargin.kernels import RBF, GramFunction, Laplacian, Linear, Polynomial, Precomputed
from tests import helpers

N = 600
X = np.random.default_rng(0).normal(size=(N, 5))
FULL = RBF(0.3)(X)
BUDGETS = {Residence.WHOLE: 9 * N * N, Residence.CACHED: 8 * N * 450, Residence.STREAMED: 8 * N * 10}


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
    room = gram.capacity
    assert 300 < room < 400
    gram.stored(np.arange(200))
    gram.stored(np.arange(100, room))
    assert gram.counters == (room, 100, 0)
    gram.stored(np.arange(room, room + 80))  # the oldest 80 of the rows 0..99 make room
    assert gram.counters == (room + 80, 100, 80)
    slots = gram.stored(np.arange(100, room))
    assert gram.counters == (room + 80, room, 80)
    np.testing.assert_allclose(gram.stored_values[slots], FULL[100:room], atol=1e-12)


@pytest.mark.parametrize("picked", [True, False])
def test_a_working_set_takes_over_what_the_one_before_knew(picked, monkeypatch):
    monkeypatch.setattr("maxmargin.gram.matrix.PICK_NS", 0.0 if picked else 1e9)
    gram = Gram(RBF(0.3), X, n_jobs=2)
    first = np.arange(0, 300)
    older = gram.submatrix(first)
    gram.stored(np.arange(250, 280))
    before = gram.values_computed
    kept = np.arange(200, 300)
    rows = np.concatenate([kept, np.arange(400, 450)])
    newer = gram.submatrix(rows, older, kept)
    np.testing.assert_allclose(newer, FULL[np.ix_(rows, rows)], atol=1e-12)
    assert gram.values_computed - before == (70 if picked else 100) * 50 + 50 * 50


def test_classes_share_what_lies_within_them():
    segments = [slice(0, 200), slice(200, 350), slice(350, N)]
    whole = Gram(RBF(0.3), X)
    shared = SharedBlocks(segments, 1 << 24)
    for a, b in ((0, 1), (0, 2), (1, 2)):
        part = whole.part([segments[a], segments[b]], 1 << 24, shared)
        index = np.r_[segments[a], segments[b]]
        wanted = FULL[np.ix_(index, index)]
        rows = np.array([3, 150, 210, 340])
        np.testing.assert_allclose(part.stored_values[part.stored(rows)], wanted[rows], atol=1e-12)
        np.testing.assert_allclose(part.whole(), wanted, atol=1e-12)
    rows_alone = 6 * 250  # two rows of each class of a pair were asked for before the squares
    assert 0 < shared.take_count() <= sum((s.stop - s.start) ** 2 for s in segments) + rows_alone
    assert shared.take_count() == 0


def test_a_small_budget_shares_rows_but_no_squares():
    segments = [slice(0, 300), slice(300, N)]
    whole = Gram(RBF(0.3), X)
    shared = SharedBlocks(segments, 2 * 8 * 300 * 290)
    part = whole.part(segments, 1 << 24, shared)
    np.testing.assert_allclose(part.whole(), FULL, atol=1e-12)


def test_float32_only_where_its_error_is_small():
    many = np.random.default_rng(2).normal(size=(2500, 4))
    assert Gram(RBF(0.1), many, accuracy=1e-3, budget=1 << 20).dtype == np.float32
    assert Gram(RBF(0.1), many, accuracy=1e-7, budget=1 << 20).dtype == np.float64
    assert Gram(RBF(1e4), many, accuracy=1e-3, budget=1 << 20).dtype == np.float64
    assert Gram(Linear(), many, accuracy=1e-3, budget=1 << 20).dtype == np.float64
    assert Gram(RBF(0.1), many[:500], accuracy=1e-3).dtype == np.float64
    far = many.copy()
    far[:5] *= 15.0  # a few distant points do not make float32 useless for all
    assert Gram(RBF(0.1), far, accuracy=1e-3, budget=1 << 20).dtype == np.float32


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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_through_an_inverted_index(dtype):
    rng = np.random.default_rng(0)
    A, B = (sparse.random_array((n, 40), density=0.1, rng=rng, format="csr").astype(dtype) for n in (7, 9))
    index = storage.columns_of(storage.rows_of(B, dtype))
    outs = [np.full((7, 9), np.nan, dtype) for _ in range(2)]
    storage.products_by_column(storage.rows_of(A, dtype), index, outs[0])
    loop = storage.products_by_column
    getattr(loop, "py_func", loop)(storage.rows_of(A, dtype), index, outs[1])
    for out in outs:
        np.testing.assert_allclose(out, (A @ B.T).toarray(), rtol=1e-5)
    empty = sparse.csr_array((3, 1000), dtype=dtype)
    assert storage.columns_of(storage.rows_of(empty, dtype)) is None  # a thousand edges for nothing


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
    rng = np.random.default_rng(0)
    store, tile = rng.normal(size=(4, 6)).astype(np.float32), rng.normal(size=(2, 3)).astype(np.float32)
    slots, columns = np.array([2, 0]), np.array([5, 1, 3])
    square, other = rng.normal(size=(2, 2)), rng.normal(size=(3, 3))
    calls = [
        (gather, (store, slots, columns), (2, 3), (0, 2)),
        (gather_into, (store, slots, columns), (3, 5), (np.array([2, 1]), 1, 0, 2)),
        (scatter, (tile,), (4, 6), (slots, 2)),
        (scatter_across, (tile.T.copy(),), (4, 6), (slots, 2)),
        (copy_rows, (store, slots), (4, 8), (np.array([3, 1]), 2)),
        (assemble, (square, other, rng.normal(size=(2, 3))), (5, 5), ()),
    ]
    for loop, before, shape, after in calls:
        outs = [np.zeros(shape, np.float32) for _ in range(2)]
        loop(*before, outs[0], *after)
        getattr(loop, "py_func", loop)(*before, outs[1], *after)
        np.testing.assert_array_equal(*outs)
        assert outs[0].any()
    sums = [np.ones(6) for _ in range(2)]
    add_rows(store, slots, np.array([0.5, -2.0]), sums[0], 1, 5)
    getattr(add_rows, "py_func", add_rows)(store, slots, np.array([0.5, -2.0]), sums[1], 1, 5)
    np.testing.assert_allclose(*sums, rtol=1e-12)
    assert sums[0][0] == sums[0][5] == 1.0
    matrix = np.arange(25.0).reshape(5, 5)
    mirror(matrix, 0, 2, 2, 5)
    np.testing.assert_array_equal(matrix[2:, :2], matrix[:2, 2:].T)


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


def test_rows_stored_out_of_order_do_not_make_a_whole_matrix():
    gram = Gram(RBF(0.3), X)
    gram.stored(np.arange(N)[::-1])
    np.testing.assert_allclose(gram.whole(), FULL, atol=1e-12)
    np.testing.assert_allclose(gram.stored_values[gram.stored(np.array([7, 3]))], FULL[[7, 3]], atol=1e-12)


def test_a_tiny_budget_still_holds_a_tiny_problem():
    few = Gram(RBF(0.3), X[:50], budget=10)
    np.testing.assert_allclose(few.whole(), FULL[:50, :50], atol=1e-12)

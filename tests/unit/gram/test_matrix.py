"""The kernel matrix within a budget: three residences, one answer."""

import numpy as np
import pytest

from maxmargin.core import buffers
from maxmargin.gram import Gram, computing
from maxmargin.gram.budget import Residence
from maxmargin.kernels import RBF, GramFunction

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


@pytest.mark.skipif(not buffers.CAN_MARK, reason="NumPy's own memory is used")
def test_working_sets_that_grow_touch_the_memory_of_two(monkeypatch):
    asked, fresh = [], buffers._fresh
    monkeypatch.setattr(buffers, "_fresh", lambda size: asked.append(size) or fresh(size))
    monkeypatch.setattr("maxmargin.gram.loans.POOL", buffers.Buffers())
    gram, older, before = Gram(RBF(0.3), X), None, np.arange(0)
    for n in (20, 100, 300, 500):
        rows = np.arange(n)
        newer = gram.submatrix(rows, older, before, up_to=N)
        np.testing.assert_allclose(newer, FULL[:n, :n], atol=1e-12)
        if older is not None:
            gram.give_back(older)
        older, before = newer, rows
    assert asked == [8 * N * N] * 2


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


def test_a_kernel_function_is_evaluated_once_per_pair():
    asked = []

    def gram(A, B):
        asked.append(len(A) * len(B))
        return A @ B.T

    matrix = Gram(GramFunction(gram), X)
    matrix.definiteness(np.arange(3))
    matrix.submatrix(np.arange(N))
    assert sum(asked) <= N * N + 32 * N


def test_a_tiny_budget_still_holds_a_tiny_problem():
    few = Gram(RBF(0.3), X[:50], budget=10)
    np.testing.assert_allclose(few.whole(), FULL[:50, :50], atol=1e-12)


TILES = {"all": 6 << 20, "some": 3 << 20, "none": 8 * N * 10}


@pytest.mark.parametrize("kept", TILES)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_products_with_several_columns(kept, n_jobs):
    V = np.random.default_rng(5).normal(size=(N, 7))
    gram = Gram(RBF(0.3), X, budget=TILES[kept], n_jobs=n_jobs)
    assert gram.pair_tiles().complete == (kept == "all")
    for _ in range(2):
        np.testing.assert_allclose(gram.product(V), FULL @ V, rtol=1e-10, atol=1e-11)
    one = Gram(RBF(0.3), X, budget=TILES[kept], n_jobs=1)
    np.testing.assert_array_equal(one.product(V), gram.product(V))
    some = gram.part([slice(300, 600), slice(10, 200)], TILES[kept])  # rows in another order
    rows = np.r_[300:600, 10:200]
    np.testing.assert_allclose(some.product(V[rows]), FULL[np.ix_(rows, rows)] @ V[rows], rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize(("kept", "again"), [("all", 0), ("some", 88 * 600), ("none", 512 * 600 + 88 * 88)])
def test_a_product_computes_each_pair_once_and_what_is_kept_never_again(kept, again):
    gram, V = Gram(RBF(0.3), X, budget=TILES[kept]), np.ones((N, 1))
    gram.product(V)
    assert gram.values_computed == 512 * 600 + 88 * 88  # parts a, b of 512 and 88 rows: a, a; a, b; b, b
    gram.values_computed = 0
    gram.product(V)
    assert gram.values_computed == again
    gram.tidy()
    gram.product(V)
    assert gram.values_computed == again + 512 * 600 + 88 * 88


@pytest.mark.large
def test_exact_products_have_no_error_of_float32():
    many = np.random.default_rng(2).normal(size=(1500, 4))
    V = np.random.default_rng(3).normal(size=(1500, 3))
    gram = Gram(RBF(0.1), many, accuracy=1e-3)
    assert gram.dtype == np.float32
    expected = RBF(0.1)(many) @ V
    np.testing.assert_allclose(gram.product(V, exact=True), expected, rtol=1e-10, atol=1e-11)
    rough = np.abs(gram.product(V) - expected).max()
    assert 1e-8 < rough < 1e-3


def test_products_of_kernel_functions():
    function = GramFunction(lambda A, B: A @ B.T)
    for budget in (None, 8 * N * 10):
        gram = Gram(function, X, budget=budget)
        np.testing.assert_allclose(gram.product(X), X @ (X.T @ X), rtol=1e-10)


def test_only_rows_that_are_likely_to_be_wanted_again_are_stored():
    gram = Gram(RBF(0.3), np.tile(X, 9), budget=BUDGETS[Residence.CACHED])  # wide rows: worth storing at once
    rows, free = np.arange(40), np.arange(40) % 4 == 0
    above, below = np.zeros((2, N))
    weights = np.where(np.arange(40) % 2 == 0, 1.0, -2.0)
    gram.accumulate(rows, weights, above, free, below)
    full = RBF(0.3)(np.tile(X, 9))
    np.testing.assert_allclose(above, full[:, rows[::2]] @ weights[::2], atol=1e-10)
    np.testing.assert_allclose(below, full[:, rows[1::2]] @ weights[1::2], atol=1e-10)
    before = gram.values_computed
    gram.accumulate(rows, weights, above, False, below)
    assert gram.values_computed - before == 30 * N
    gram.hesitant = False
    gram.accumulate(rows, weights, above, free, below)
    before = gram.values_computed
    gram.accumulate(rows, weights, above, free, below)
    assert gram.values_computed == before


def test_rows_of_cheap_values_are_stored_when_they_are_asked_for_again(monkeypatch):
    monkeypatch.setattr("maxmargin.gram.matrix.CHEAP_NS", 1e9)
    gram = Gram(RBF(0.3), X, budget=BUDGETS[Residence.CACHED])
    computed = []
    for _ in range(3):
        before = gram.values_computed
        gram.accumulate(np.arange(10), np.ones(10), np.zeros(N), np.ones(10, bool))
        computed.append(gram.values_computed - before)
    assert computed == [10 * N, 10 * N, 0]


@pytest.mark.large
def test_rows_of_cheap_float32_values_are_stored_at_the_price_of_computing_them_again(monkeypatch):
    many = np.random.default_rng(2).normal(size=(1200, 5))
    gram = Gram(RBF(0.3), many, accuracy=1e-3, budget=4 * 1200 * 700)
    assert gram.residence is Residence.CACHED
    monkeypatch.setattr("maxmargin.gram.store.RENT_NS", 30.0 * 1200 * gram.value_ns)  # what 30 rows cost
    monkeypatch.setattr("maxmargin.gram.store.STORING_NS", 2.0 * gram.value_ns)  # as much as two of them
    full, rows, computed, sums = RBF(0.3)(many), np.arange(20), [], np.zeros(1200)
    for _ in range(6):
        before = gram.values_computed
        gram.accumulate(rows, np.ones(20), sums, np.ones(20, bool))
        computed.append((gram.values_computed - before) // 1200)
    # 20 rows are asked for again each time: after 40 there is room for 5 rows, after 55 for 12, after 63 for 16.
    assert computed == [20, 20, 20, 15, 8, 4]
    np.testing.assert_allclose(sums, 6.0 * full[:, :20].sum(axis=1), rtol=1e-5)
    gram.accumulate(rows, np.ones(20), sums, np.zeros(20, bool))  # not wanted any more: counted, but not stored
    gram.hesitant = False
    gram.accumulate(rows, np.ones(20), sums)
    before = gram.values_computed
    gram.accumulate(rows, np.ones(20), sums)
    assert gram.values_computed == before


@pytest.mark.large
def test_rows_that_are_asked_for_by_slot_are_stored_whatever_was_paid():
    many = np.random.default_rng(2).normal(size=(1200, 5))
    gram, sums = Gram(RBF(0.3), many, accuracy=1e-3, budget=4 * 1200 * 700), np.zeros((1200, 2))
    gram.accumulate(np.arange(20), np.ones(20), np.zeros(1200), np.ones(20, bool))  # too few to be stored
    before = gram.values_computed
    for _ in range(2):
        gram.accumulate_many(np.arange(10, 40), np.ones((30, 2)), sums)
    assert gram.values_computed - before == 30 * 1200
    np.testing.assert_allclose(sums[:, 1], 2.0 * RBF(0.3)(many)[:, 10:40].sum(axis=1), rtol=1e-5)


@pytest.mark.parametrize("room", [0, 4000])
@pytest.mark.parametrize("size", [100, 1500])
def test_exact_scores_are_the_same_bits_for_every_number_of_threads(size, room, monkeypatch):
    if room:  # bytes of float64 points: less than all rows take, and blocks of few support vectors
        monkeypatch.setattr(computing, "FEW_EXACT", room)
        monkeypatch.setattr(computing, "EXACT_BLOCK", room)
    rng = np.random.default_rng(5)
    X, beta = rng.normal(size=(1500, 5)).astype(np.float32), rng.normal(size=1500)
    beta[size:] = 0.0  # one block of the support, or several
    rows = np.arange(0, 1500, 7)
    one, two = (Gram(RBF(0.3), X, accuracy=1e-3, n_jobs=jobs).exact_scores(beta, rows) for jobs in (1, 2))
    np.testing.assert_array_equal(one, two)
    squares = ((X[rows, None].astype(np.float64) - X[None, :size]) ** 2).sum(axis=2)
    np.testing.assert_allclose(one, np.exp(-0.3 * squares) @ beta[:size], atol=1e-10)

"""A view repeats and permutes rows of a kernel matrix: the same answers as from a dense matrix, no row stored twice."""

import numpy as np
import pytest

from maxmargin.core import buffers
from maxmargin.gram import Gram, View
from maxmargin.gram.budget import Residence
from maxmargin.kernels import RBF, GramFunction, Linear, Precomputed, Sigmoid
from maxmargin.models import soft_margin
from maxmargin.solvers import Options, solve

N, MANY = 600, 1300
X = np.random.default_rng(0).normal(size=(N, 5))
WIDE = np.random.default_rng(1).normal(size=(MANY, 6))
RNG = np.random.default_rng(2)
INDEX = {
    "doubled": lambda n: np.tile(np.arange(n), 2),
    "permuted": lambda n: np.random.default_rng(3).permutation(n),
    "some rows, some of them often": lambda n: np.random.default_rng(4).integers(0, n // 2, n),
    "few": lambda n: np.array([5, 3, 3, 9, 5]),
}


def budgets(n, size):
    """Everything, a view whose base must store fewer rows, cached rows, streamed blocks."""
    return {
        "ample": 1 << 30,
        "no room beside": int(1.05 * size * n * n),
        "cached": 3 * size * n * n // 4,
        "streamed": 100 * size * n,
    }


CASES = {
    "float64": (lambda budget: Gram(RBF(0.3), X, budget=budget, n_jobs=2), RBF(0.3)(X), N, 8, 1e-10),
    "float32": (lambda budget: Gram(RBF(0.05), WIDE, 1e-3, budget, 2), RBF(0.05)(WIDE), MANY, 4, 1e-3),
    "function": (
        lambda budget: Gram(GramFunction(lambda A, B: A @ B.T + 1.0), X, budget=budget),
        X @ X.T + 1.0,
        N,
        8,
        1e-9,
    ),
}


@pytest.mark.large
@pytest.mark.parametrize("index", INDEX)
@pytest.mark.parametrize("budget", ["ample", "no room beside", "cached", "streamed"])
@pytest.mark.parametrize("case", CASES)
def test_a_view_answers_like_a_dense_matrix(case, budget, index):
    make, full, n, size, tolerance = CASES[case]
    index = INDEX[index](n)
    gram = make(budgets(n, size)[budget])
    assert gram.dtype.itemsize == size
    view, dense = gram.view(index), full[np.ix_(index, index)]
    assert isinstance(view, View)
    assert view.n == len(index)
    np.testing.assert_allclose(view.diagonal, np.diag(dense), rtol=1e-6)
    check_working_sets(view, dense, tolerance)
    check_sums(view, dense, tolerance)
    if view.working_rows >= view.n:
        np.testing.assert_allclose(view.whole(), dense, atol=tolerance)
        assert view.whole() is view.whole()


def check_working_sets(view, dense, tolerance):
    size = min(view.working_rows, view.n // 2)
    rows, K = RNG.permutation(view.n)[:size], None
    for _ in range(3):
        K = view.submatrix(rows)
        np.testing.assert_allclose(K, dense[np.ix_(rows, rows)], atol=tolerance)
        places = np.arange(1, size, 2)
        kept = rows[places]
        fresh = np.setdiff1d(np.arange(view.n), kept)[: size // 4]
        newer = np.concatenate([kept, fresh])
        older, K = K, view.submatrix(newer, K, places)
        np.testing.assert_allclose(K, dense[np.ix_(newer, newer)], atol=tolerance)
        view.give_back(older)
        view.give_back(K)
        rows = RNG.permutation(view.n)[:size]


def check_sums(view, dense, tolerance):
    for keep in (True, False):
        rows = RNG.permutation(view.n)[: view.n // 2 + 1]
        weights, out = RNG.normal(size=len(rows)), np.ones(view.n)
        view.accumulate(rows, weights, out, keep=keep)
        np.testing.assert_allclose(out, 1.0 + dense[:, rows] @ weights, atol=tolerance * np.abs(weights).sum())
    beta = RNG.normal(size=view.n) * (RNG.random(view.n) < 0.5)
    wanted = dense @ beta
    scores, error = view.scores(beta)
    assert np.all(np.abs(scores - wanted) <= error + 1e-9)
    exact, none = view.scores(beta, exact=True)
    np.testing.assert_allclose(exact, wanted, atol=1e-8)
    assert not none.any()
    some = RNG.integers(0, view.n, view.n // 2)
    np.testing.assert_allclose(view.exact_scores(beta, some), wanted[some], atol=1e-8)
    columns = np.column_stack([beta, -2.0 * beta])
    np.testing.assert_allclose(view.exact_scores(columns, some), (dense @ columns)[some], atol=1e-8)


@pytest.mark.large
def test_float32_bounds_are_those_of_the_base():
    gram = Gram(RBF(0.05), WIDE, 1e-3)
    index = INDEX["doubled"](MANY)
    beta = RNG.normal(size=2 * MANY)
    _, error = gram.view(index).scores(beta)
    assert error.min() > 0
    np.testing.assert_array_equal(error, gram.scores(beta[:MANY] + beta[MANY:])[1][index])


def test_equal_rows_are_computed_once():
    gram = Gram(RBF(0.3), X)
    view = gram.view(INDEX["doubled"](N))
    out, rows = np.zeros(2 * N), np.array([3, 3 + N, 7])
    view.accumulate(rows, np.ones(3), out)
    assert view.values_computed == gram.values_computed == 2 * N
    view.accumulate(np.array([11, 11 + N]), np.array([1.0, -1.0]), out)  # adds up to nothing
    assert view.values_computed == 2 * N
    gram.values_computed = 0
    gram.release()
    view.submatrix(np.concatenate([np.arange(50), N + np.arange(50)]))
    assert view.values_computed == 50 * 50


def test_a_newer_working_set_takes_over_what_the_older_one_knew():
    view = Gram(Linear(), X).view(INDEX["doubled"](N))
    older = view.submatrix(np.r_[0:100, N : N + 100])
    before = view.values_computed
    view.submatrix(np.r_[0:100, N : N + 100, 150:160], older, np.arange(200))
    assert view.values_computed - before == 10 * 100 + 10 * 10


@pytest.mark.large
def test_memory_is_given_back(monkeypatch):
    pool = buffers.Buffers()
    monkeypatch.setattr("maxmargin.gram.loans.POOL", pool)
    gram = Gram(RBF(0.3), X)
    view = gram.view(INDEX["doubled"](N))
    view.whole()
    view.submatrix(np.arange(0, 2 * N, 2))
    gram.tidy()
    assert gram.complete
    np.testing.assert_allclose(view.whole()[:N, N:], RBF(0.3)(X), atol=1e-12)
    gram.release()
    assert not gram.complete
    if buffers.CAN_MARK:
        assert len(pool._free) >= 2
    np.testing.assert_allclose(view.whole()[:N, N:], RBF(0.3)(X), atol=1e-12)  # worked out again


def test_the_memory_and_the_count_of_a_base_of_its_own_are_those_of_the_matrix(monkeypatch):
    pool = buffers.Buffers()
    monkeypatch.setattr("maxmargin.gram.loans.POOL", pool)
    monkeypatch.setattr(buffers, "POOLED", 1)
    gram = Gram(RBF(0.3), X, budget=budgets(N, 8)["no room beside"])
    view = gram.view(INDEX["doubled"](N))
    assert view.base is not gram
    rows = np.arange(100)
    view.accumulate(rows, np.ones(100), np.zeros(2 * N))
    assert gram.values_computed == view.values_computed >= 100 * (N - 100)
    assert not pool._free
    gram.tidy()
    assert pool._free or not buffers.CAN_MARK
    out = np.zeros(2 * N)
    view.accumulate(rows, np.ones(100), out)
    np.testing.assert_allclose(out[:N], RBF(0.3)(X)[:, :100].sum(axis=1), atol=1e-10)


def test_a_view_of_a_view_is_a_view_of_the_matrix():
    gram, first, second = Gram(RBF(0.3), X), np.array([5, 3, 3, 9]), np.array([2, 0, 1])
    np.testing.assert_allclose(gram.view(first).view(second).whole(), gram.view(first[second]).whole())


def test_plans_of_views():
    index = INDEX["doubled"](N)
    ample = Gram(RBF(0.3), X, budget=1 << 30).view(index)
    assert (ample.residence, ample.working_rows) == (Residence.WHOLE, 2 * N)
    tight = Gram(RBF(0.3), X, budget=budgets(N, 8)["cached"]).view(index)
    assert tight.residence is Residence.CACHED
    assert tight.working_rows < N
    streamed = Gram(RBF(0.3), X, budget=budgets(N, 8)["streamed"]).view(index)
    assert streamed.residence is Residence.STREAMED


def test_a_matrix_that_was_tested_and_its_view_keep_to_the_budget():
    """The test of definiteness stores all of K: a view that stands on fewer rows would come on top of that."""
    gram = Gram(Sigmoid(kappa=0.1, theta=0.0), X, budget=int(1.1 * 8 * N * N))
    known = gram.definiteness(np.empty(0, np.int64))
    assert gram.complete
    view = gram.view(INDEX["doubled"](N))
    assert view.base is not gram
    assert not gram.complete
    assert view.definiteness(np.empty(0, np.int64)) is known


def test_what_is_known_of_the_matrix():
    swap = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 2.0]])
    gram = Gram(Precomputed(), swap)
    doubled = np.tile(np.arange(3), 2)
    view = gram.view(doubled)
    assert view.definiteness(np.arange(6)) == gram.definiteness(np.arange(3))
    assert not view.definiteness(np.arange(6)).definite
    dense = swap[np.ix_(doubled, doubled)]
    assert view.smallest_eigenvalue() == pytest.approx(np.linalg.eigvalsh(dense)[0])
    uneven = np.array([0, 1, 1, 1, 2])
    assert gram.view(uneven).smallest_eigenvalue() <= np.linalg.eigvalsh(swap[np.ix_(uneven, uneven)])[0]
    assert gram.view(np.array([2, 0, 1])).smallest_eigenvalue() == pytest.approx(-1.0)
    definite = Gram(RBF(1.0), X[:20]).view(INDEX["doubled"](20))
    assert definite.definiteness(np.arange(3)).definite
    assert definite.smallest_eigenvalue() == 0.0
    assert not Gram(Sigmoid(1.0, -1.0), X).view(INDEX["doubled"](N)).definiteness(np.arange(3)).definite
    assert gram.view(doubled).certificate_seconds(6, 6) == gram.certificate_seconds(3, 3)
    assert definite.float64_error == Gram(RBF(1.0), X[:20]).float64_error


@pytest.mark.large
@pytest.mark.parametrize("budget", [1 << 30, 8 * MANY * MANY // 2])
def test_a_solver_works_on_a_view(budget):
    """Two copies of each row with half the cost are the problem of one copy."""
    y = np.where(WIDE[:, 0] + 0.3 * WIDE[:, 1] ** 2 > 0, 1.0, -1.0)
    index = INDEX["doubled"](MANY)
    gram = Gram(RBF(0.1), WIDE, budget=budget)
    once = solve(soft_margin(gram, y, 1.0), Options(1e-4))
    twice = solve(soft_margin(gram.view(index), y[index], 0.5), Options(1e-4))
    assert twice.certificate.dual == pytest.approx(once.certificate.dual, rel=1e-5)
    assert twice.certificate.relative_gap < 1e-3

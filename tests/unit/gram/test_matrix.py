"""The kernel matrix within a budget: three residences, one answer."""

import numpy as np
import pytest

from maxmargin.gram import Gram
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

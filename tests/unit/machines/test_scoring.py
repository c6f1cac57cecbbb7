"""Decision values of new points against dense NumPy."""

import itertools

import numpy as np
import pytest
from scipy import sparse

from maxmargin.kernels import RBF, Polynomial, Precomputed
from maxmargin.kernels.functions import from_function
from maxmargin.kernels.points import as_objects
from maxmargin.machines import scoring
from maxmargin.machines.scoring import Expansion, linear_decisions, scorer_of

RNG = np.random.default_rng(0)
VECTORS, POINTS = RNG.normal(size=(70, 5)), RNG.normal(size=(600, 5))
COEF, BIASES = RNG.normal(size=(3, 70)), RNG.normal(size=3)


def gaussian(A, B, gamma=0.3):
    return np.exp(-gamma * ((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2))


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_one_group(storage, n_jobs):
    scorer = scorer_of(Expansion(RBF(0.3), storage(VECTORS), None, COEF, 1e-3, False))
    expected = gaussian(POINTS, VECTORS) @ COEF.T + BIASES
    np.testing.assert_allclose(scorer.decisions(storage(POINTS), BIASES, n_jobs), expected, atol=1e-12)


def test_a_single_machine():
    scorer = scorer_of(Expansion(Polynomial(2, coef0=1.0).resolved(1.0), VECTORS, None, COEF[:1], 1e-3, False))
    K = (POINTS @ VECTORS.T + 1.0) ** 2
    np.testing.assert_allclose(scorer.decisions(POINTS, BIASES[:1], 1), K @ COEF[:1].T + BIASES[0], rtol=1e-10)


def in_pairs(K, counts, coef, biases):
    """Pair (a, b): row b - 1 of the coefficients of a's vectors, row a of those of b's."""
    edges = np.cumsum([0, *counts])
    of = [slice(a, b) for a, b in itertools.pairwise(edges)]
    pairs = itertools.combinations(range(len(counts)), 2)
    return np.column_stack(
        [
            K[:, of[a]] @ coef[b - 1, of[a]] + K[:, of[b]] @ coef[a, of[b]] + biases[number]
            for number, (a, b) in enumerate(pairs)
        ]
    )


@pytest.mark.parametrize("counts", [[20, 0, 30, 20], [70, 0, 0, 0]])
def test_groups_of_pairs_of_classes(counts):
    biases = RNG.normal(size=6)
    expected = in_pairs(gaussian(POINTS, VECTORS), counts, COEF, biases)
    scorer = scorer_of(Expansion(RBF(0.3), VECTORS, np.array(counts), COEF, 1e-3, False))
    np.testing.assert_allclose(scorer.decisions(POINTS, biases, 2), expected, atol=1e-12)


def test_positions():
    support, biases = RNG.permutation(90)[:70], RNG.normal(size=3)
    K = RNG.normal(size=(600, 90))
    scorer = scorer_of(Expansion(Precomputed(), support, None, COEF, 1e-3, False))
    np.testing.assert_allclose(scorer.decisions(K, biases, 1), K[:, support] @ COEF.T + biases, rtol=1e-10)
    counts = np.array([30, 15, 25])
    scorer = scorer_of(Expansion(Precomputed(), support, counts, COEF[:2], 1e-3, False))
    expected = in_pairs(K[:, support], counts, COEF[:2], biases)
    np.testing.assert_allclose(scorer.decisions(K, biases, 1), expected, rtol=1e-10)


def test_objects():
    words = as_objects(["a b", "b c", "c"])
    kernel = from_function(lambda a, b: float(len(set(a.split()) & set(b.split()))), words)
    scorer = scorer_of(Expansion(kernel, words, None, np.array([[1.0, 10.0, 100.0]]), 1e-3, False))
    np.testing.assert_allclose(scorer.decisions(as_objects(["b", "b c d"]), np.zeros(1), 2).ravel(), [11.0, 121.0])


@np.errstate(over="ignore")  # hashes wrap around, of which plain Python would warn
def test_equal_vectors_are_computed_once(monkeypatch):
    monkeypatch.setattr(scoring, "MERGED", 10)
    twice, coef = np.vstack([VECTORS, VECTORS]), RNG.normal(size=(2, 140))
    scorer = scoring.VectorScorer(Expansion(RBF(0.3), twice, None, coef, 1e-3, False))
    assert len(scorer.exact[0]) == 70
    expected = gaussian(POINTS, twice) @ coef.T
    np.testing.assert_allclose(scorer.decisions(POINTS, np.zeros(2), 1), expected, atol=1e-12)


def test_float32_tiles_err_less_than_the_tolerance():
    tol = 1e-2
    scorer = scoring.VectorScorer(Expansion(RBF(0.3), VECTORS, None, COEF, tol, True))
    assert scorer.rough is not None
    found = scorer.decisions(POINTS, BIASES, 2)
    exact = gaussian(POINTS, VECTORS) @ COEF.T + BIASES
    assert 0 < np.abs(found - exact).max() <= tol * np.abs(COEF).sum(axis=1).max()
    far = 1e4 * POINTS[:3]  # what float32 cannot tell apart is computed in float64
    np.testing.assert_allclose(scorer.decisions(far, BIASES, 1), np.tile(BIASES, (3, 1)), atol=1e-12)


def test_no_support_vectors():
    scorer = scorer_of(Expansion(RBF(0.3), VECTORS[:0], None, COEF[:1, :0], 1e-3, False))
    np.testing.assert_array_equal(scorer.decisions(POINTS[:4], np.array([0.5]), 1), np.full((4, 1), 0.5))


def test_a_scorer_serves_its_own_expansion_until_coefficients_change():
    expansion = Expansion(RBF(0.3), VECTORS, None, COEF.copy(), 1e-3, False)
    scorer = scorer_of(expansion)
    assert scorer.serves(expansion)
    assert scorer.serves(Expansion(*expansion))
    assert not scorer.serves(expansion._replace(vectors=VECTORS.copy()))
    expansion.dual_coef[0, 0] += 1.0
    assert not scorer.serves(expansion)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_weights(storage):
    weights = RNG.normal(size=(3, 5))
    np.testing.assert_allclose(linear_decisions(storage(POINTS), weights, BIASES), POINTS @ weights.T + BIASES)

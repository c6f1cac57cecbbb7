"""Probabilities of classes from those of pairs: against the definition."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from maxmargin.calibration import coupling
from maxmargin.calibration.coupling import coupled

PAIRS = {k: list(itertools.combinations(range(k), 2)) for k in (2, 3, 4, 6)}


def misfit(p, r, pairs):
    return sum((p[i] * (1.0 - r[n]) - p[j] * r[n]) ** 2 for n, (i, j) in enumerate(pairs))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**31), st.sampled_from([3, 4, 6]))
def test_it_minimises_what_it_should(seed, k):
    r = np.random.default_rng(seed).uniform(0.02, 0.98, (1, len(PAIRS[k])))
    (p,) = coupled(r, k)
    assert p.sum() == pytest.approx(1.0)
    assert p.min() >= 0.0
    best = minimize(
        misfit, np.full(k, 1 / k), (r[0], PAIRS[k]), constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
        options={"ftol": 1e-15, "maxiter": 500},
    )  # fmt: skip
    assert misfit(p, r[0], PAIRS[k]) <= best.fun + 1e-9


@pytest.mark.parametrize("k", [2, 3, 6])
def test_consistent_pairs_come_back(k):
    """r_ij = p_i / (p_i + p_j)."""
    p = np.random.default_rng(0).dirichlet(np.ones(k), 50)
    r = np.column_stack([p[:, i] / (p[:, i] + p[:, j]) for i, j in PAIRS[k]])
    np.testing.assert_allclose(coupled(r, k), p, atol=1e-6)


def test_certain_pairs_and_blocks(monkeypatch):
    r = np.array([[1.0, 1.0, 0.5], [0.0, 0.0, 1.0], [1.0, 0.0, 1.0]])
    p = coupled(r, 3)
    np.testing.assert_allclose(p[0], [1.0, 0.0, 0.0], atol=1e-6)
    np.testing.assert_allclose(p[1], [0.0, 1.0, 0.0], atol=1e-6)
    np.testing.assert_allclose(p[2], np.full(3, 1 / 3), atol=1e-6)  # each beats another
    monkeypatch.setattr(coupling, "AT_ONCE", 9)
    np.testing.assert_array_equal(coupled(r, 3), p)

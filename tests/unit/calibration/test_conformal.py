"""Sets and intervals by their definitions, and the coverage that they promise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.calibration.conformal import interval_bounds, ranked, set_members


def folds_of(values, folds, weights=None):
    weights = np.ones(len(values)) if weights is None else weights
    return [ranked(values[folds == k], weights[folds == k]) for k in range(folds.max() + 1)]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.sampled_from([0.5, 0.8, 0.9, 0.97]))
def test_intervals_are_order_statistics(seed, coverage):
    rng = np.random.default_rng(seed)
    n, points = 40, 7
    residuals, folds = np.abs(np.round(rng.normal(size=n), 1)), rng.permutation(n) % 4
    f = rng.normal(size=(4, points))
    lower, upper = interval_bounds(folds_of(residuals, folds), f, coverage)
    rank = int(np.ceil(coverage * (n + 1) - 1e-9))
    for t in range(points):
        above = np.sort(f[folds, t] + residuals)
        below = np.sort(f[folds, t] - residuals)
        assert upper[t] == pytest.approx(above[rank - 1], abs=1e-12)
        assert lower[t] == pytest.approx(below[n - rank], abs=1e-12)


def test_too_few_rows_give_infinite_intervals():
    lower, upper = interval_bounds(folds_of(np.ones(4), np.array([0, 0, 1, 1])), np.zeros((2, 3)), 0.95)
    assert np.all(np.isinf(lower))
    assert np.all(np.isinf(upper))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31))
def test_sets_by_counting(seed):
    rng = np.random.default_rng(seed)
    n, points, labels = 30, 5, 3
    misfits, folds = np.round(rng.normal(size=n), 1), rng.permutation(n) % 3
    new = [np.round(rng.normal(size=(points, labels)), 1) for _ in range(3)]
    found = set_members(folds_of(misfits, folds), new, 0.8)
    for t in range(points):
        for y in range(labels):
            worse = sum(misfits[i] >= new[folds[i]][t, y] for i in range(n))
            assert found[t, y] == ((1 + worse) / (n + 1) > 1 - 0.8)


def test_weights_are_repetitions():
    rng = np.random.default_rng(0)
    values, folds, often = np.abs(rng.normal(size=30)), np.arange(30) % 3, rng.integers(1, 4, 30)
    f = rng.normal(size=(3, 6))
    weighted = folds_of(values, folds, often.astype(float))
    repeated = folds_of(np.repeat(values, often), np.repeat(folds, often))
    np.testing.assert_allclose(interval_bounds(weighted, f, 0.85), interval_bounds(repeated, f, 0.85), atol=1e-12)
    new = [rng.normal(size=(5, 2)) for _ in range(3)]
    np.testing.assert_array_equal(set_members(weighted, new, 0.85), set_members(repeated, new, 0.85))


def test_exchangeable_rows_are_covered():
    """The machines of all folds are the same, so the share that is covered has the mean of an order statistic."""
    rng = np.random.default_rng(0)
    n, samples, coverage = 99, 150, 0.9
    folds, shares = np.arange(n) % 5, []
    for _ in range(samples):
        rows, new = rng.normal(size=n), rng.normal(size=200)
        lower, upper = interval_bounds(folds_of(np.abs(rows), folds), np.zeros((5, 1)), coverage)
        shares.append(np.mean((lower[0] <= new) & (new <= upper[0])))
    assert abs(np.mean(shares) - coverage) < 4 * np.std(shares) / np.sqrt(samples)

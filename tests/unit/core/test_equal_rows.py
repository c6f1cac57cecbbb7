"""Rows that occur more than once are found in small and in large data, dense and sparse."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from maxmargin.core import equal_rows
from maxmargin.core.equal_rows import find_equal

STORES = [np.asarray, sparse.csr_array]

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered")  # hashes wrap around, in plain Python too


def groups_of(found):
    return sorted(tuple(np.flatnonzero(found.group == g)) for g in range(len(found.first)))


def expected(X, labels):
    seen = {}
    for i, row in enumerate(X):
        seen.setdefault((labels[i], *(row + 0.0)), []).append(i)
    return sorted(map(tuple, seen.values()))


@given(st.integers(0, 10_000))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_both_ways_find_the_same_groups(dtype, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, size=(60, 3)).astype(dtype)
    X[rng.random(X.shape) < 0.1] = -0.0
    labels, weights = rng.integers(0, 2, size=60), rng.random(60) + 0.1
    wanted = expected(X, labels)
    for find in (equal_rows.find_equal, equal_rows.find_equal_among_many):
        for form in (X, sparse.csr_array(X)):
            found = find(form, labels, weights)
            assert groups_of(found) == wanted
            np.testing.assert_allclose(np.bincount(found.group, weights=found.share), 1.0)
            assert all(found.group[first] == g for g, first in enumerate(found.first))


@pytest.mark.parametrize("store", STORES)
def test_only_a_negative_zero_costs_a_copy(store):
    X = np.array([[1.0, 0.0], [0.0, -2.0]])
    plain, negative = store(X), store(X.copy())
    (negative.data if sparse.issparse(negative) else negative).flat[1] = -0.0
    for rows, copied in ((plain, False), (negative, True)):
        bits = equal_rows._bits(rows)
        values, given = (bits.data, rows.data) if sparse.issparse(rows) else (bits.values, rows)
        assert np.shares_memory(values, given) != copied
        np.testing.assert_array_equal(values.view(np.float64), given)
        assert not np.signbit(values.view(np.float64)[values.view(np.float64) == 0]).any()


def test_equal_hashes_of_different_rows_are_told_apart(monkeypatch):
    monkeypatch.setattr(equal_rows, "_multipliers", lambda count: np.zeros(count, np.uint64))
    X = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])
    found = equal_rows.find_equal_among_many(X, np.zeros(3, np.int64), np.ones(3))
    assert groups_of(found) == [(0, 2), (1,)]
    found = equal_rows.find_equal_among_many(sparse.csr_array(X), np.zeros(3, np.int64), np.ones(3))
    assert groups_of(found) == [(0, 2), (1,)]


def test_sorting_by_class_keeps_the_groups():
    labels = np.array([1, 0, 1, 0, 2])
    X = np.array([[1.0], [2.0], [1.0], [3.0], [4.0]])
    found = equal_rows.find_equal_among_many(X, labels, np.ones(5))
    ordered = equal_rows.by_class(found, labels[found.first])
    assert (np.diff(labels[ordered.first]) >= 0).all()
    assert groups_of(ordered) == groups_of(found)


@pytest.mark.parametrize("store", STORES)
def test_twins_are_found_and_ordered_by_content(store):
    base = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, -0.0], [0.0, 2.0], [1.0, 0.0]])
    labels, weights = np.array([0, 1, 0, 0, 0]), np.array([1.0, 1.0, 2.0, 1.0, 1.0])
    equal = find_equal(store(base), labels, weights)
    assert equal.group[0] == equal.group[2] == equal.group[4]
    assert len(set(equal.group[[0, 1, 3]])) == 3
    np.testing.assert_allclose(equal.share, [0.25, 1, 0.5, 1, 0.25])
    shuffled = np.array([3, 0, 4, 1, 2])
    again = find_equal(store(base[shuffled]), labels[shuffled], weights[shuffled])
    np.testing.assert_array_equal(base[equal.first], base[shuffled][again.first])

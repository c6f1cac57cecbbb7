"""Factors of low rank, from few rows of the kernel matrix."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.core import limits
from maxmargin.gram import Gram
from maxmargin.kernels import RBF, Linear, Polynomial
from maxmargin.solvers.box.low_rank import low_rank, needs_more, values_among

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))


def as_float32(kernel, n=1200):
    gram = Gram(kernel, RNG.normal(size=(n, 3)), accuracy=1.0)
    assert gram.dtype == np.float32
    return gram


@pytest.mark.parametrize(
    ("kernel", "rank"), [(Linear(), 3), (Linear() + 1.0, 4), (Polynomial(2, 1.0, 1.0), 10), (RBF(0.0), 1)], ids=str
)
@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
def test_kernels_with_few_features_have_as_many_columns(kernel, rank, store):
    gram = Gram(kernel, store(X))
    G = low_rank(gram, 20, 1e-13 * gram.diagonal.max())
    assert G.shape == (300, rank)
    np.testing.assert_allclose(G @ G.T, kernel(X), atol=1e-11)
    assert gram.values_computed <= 300 * rank


@pytest.mark.large
@pytest.mark.parametrize("error", [1e-3, 1e-6, 1e-10])
def test_no_value_is_off_by_more_than_asked_for(error):
    G = low_rank(Gram(RBF(0.3), X), 299, error)
    left = RBF(0.3)(X) - G @ G.T
    assert np.abs(left).max() <= 1.01 * error
    assert np.linalg.eigvalsh(left).min() >= -1e-13


def test_more_columns_than_allowed_are_none():
    gram = Gram(RBF(5.0), X)
    assert low_rank(gram, 30, 1e-6) is None
    assert needs_more(gram, 30, 1e-6)
    assert not needs_more(Gram(Linear(), X), 3, 1e-10)


def test_a_sample_never_needs_more_than_all_rows():
    for error in (1e-2, 1e-6, 1e-10):
        gram = Gram(RBF(0.3), X)
        columns = low_rank(gram, 299, error).shape[1]
        assert not needs_more(gram, columns, error)


def test_rows_of_zeros_have_one_column_of_them():
    G = low_rank(Gram(Linear(), np.zeros((5, 2))), 1, 0.0)
    np.testing.assert_array_equal(G, np.zeros((5, 1)))


@pytest.mark.large
def test_columns_are_float64_where_tiles_are_not():
    gram = as_float32(RBF(0.05))
    G = low_rank(gram, 300, 1e-10)
    exact = gram._values.exact_square(np.arange(gram.n))
    np.testing.assert_allclose(G @ G.T, exact, atol=1e-9)
    rows = np.arange(0, gram.n, 3)
    np.testing.assert_allclose(values_among(gram, rows), exact[np.ix_(rows, rows)], atol=1e-15)
    assert values_among(gram, rows).dtype == np.float64


def test_repeated_rows_of_a_view():
    view = Gram(RBF(0.3), X[:40]).view(np.tile(np.arange(40), 2))
    G = low_rank(view, 60, 1e-12)
    K = np.tile(RBF(0.3)(X[:40]), (2, 2))
    np.testing.assert_allclose(G @ G.T, K, atol=1e-10)
    np.testing.assert_allclose(values_among(view, np.arange(80)), K, atol=1e-15)
    np.testing.assert_allclose(values_among(view, np.array([3, 43, 5])), K[np.ix_([3, 43, 5], [3, 43, 5])], atol=1e-15)


def test_a_deadline_is_looked_at():
    with limits.limits(-np.inf), pytest.raises(limits.OutOfTime):
        low_rank(Gram(Linear(), X), 5, 0.0)

"""The points of a kernel matrix: their precision and their form."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.core.rows import CsrRows
from maxmargin.gram import Gram
from maxmargin.kernels import RBF, Laplacian, Linear, Polynomial
from maxmargin.kernels.points import ChosenRows
from maxmargin.machines.warm import fingerprint
from tests import helpers

N = 600
X = np.random.default_rng(0).normal(size=(N, 5))


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


def test_rows_are_moved_only_where_their_values_gain_by_it():
    rows = np.random.default_rng(3).random((2500, 4), np.float32)  # half a unit from the origin
    exact = rows[:300].astype(np.float64)
    for gamma, stays in ((0.01, True), (10.0, False)):
        source = Gram(RBF(gamma), rows, accuracy=1e-3, budget=1 << 20).values.source
        assert np.shares_memory(source.points.rows.values, rows) == stays
        some, K = source.points.take(slice(300)), RBF(gamma)(exact)
        assert (np.abs(source.kernel.block(some, some) - K) <= source.float32_errors[:300, None] * K).all()
        np.testing.assert_allclose(source.kernel.block(*[source.exact(np.arange(300))] * 2), K, rtol=1e-13)
    assert not np.shares_memory(Gram(RBF(0.01), rows, accuracy=1e-5).values.source.points.rows.values, rows)


@pytest.mark.large
@pytest.mark.parametrize("accuracy", [1e-3, 0.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("zeros", [0.0, 0.9])
def test_chosen_rows_are_those_of_the_array(accuracy, dtype, zeros):
    rng = np.random.default_rng(5)
    array = np.where(rng.random((1500, 30)) < zeros, 0.0, rng.normal(size=(1500, 30))).astype(dtype)
    index, some = rng.permutation(1500)[:1200], np.array([3, 1100, 7])
    chosen = ChosenRows(array, index)
    assert (len(chosen), chosen.shape, chosen.dtype) == (1200, (1200, 30), dtype)
    np.testing.assert_array_equal(chosen[some], array[index][some])
    one, other = (Gram(RBF(0.1), rows, accuracy=accuracy).values.source for rows in (chosen, array[index]))
    assert one.dtype == other.dtype == (np.float32 if accuracy else np.float64)
    assert isinstance(one.points.rows, CsrRows) == isinstance(other.points.rows, CsrRows) == bool(zeros and accuracy)
    for left, right in ((one.points, other.points), (one.exact(some), other.exact(some))):
        np.testing.assert_array_equal(one.kernel.block(left, left), other.kernel.block(right, right))
    assert fingerprint(chosen) == fingerprint(array[index])


def test_memory_of_float64_points():
    wide, _ = helpers.sparse_counts()
    for data in (X, X.astype(np.float32), sparse.csr_array(np.where(X > 1.0, X, 0.0)), wide):
        source = Gram(RBF(0.1), data, accuracy=1e-3).values.source
        rows = source.exact(np.arange(200)).rows
        taken = rows.values.nbytes if hasattr(rows, "values") else rows.data.nbytes + rows.indices.nbytes
        assert source.exact_bytes(200) == pytest.approx(taken, rel=0.2)


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


def test_overflow_is_named():
    with pytest.raises(ValueError, match="squared length overflows"):
        Gram(RBF(1.0), X * 1e200)
    with pytest.raises(ValueError, match="overflows on these data"):
        Gram(Polynomial(300, 1e9, 1.0), X)


@pytest.mark.large
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_with_a_usual_value_are_stored_without_it(dtype):
    rng = np.random.default_rng(1)
    counts = np.where(rng.random((1500, 60)) < 0.1, rng.integers(1, 5, (1500, 60)), 0)
    scaled = ((counts - counts.mean(axis=0)) / counts.std(axis=0)).astype(dtype)
    gram = Gram(RBF(0.02), scaled, accuracy=1e-3)
    assert gram.dtype == np.float32
    assert type(gram.points.rows).__name__ == "CsrRows"
    beta, exact = rng.normal(size=1500), RBF(0.02)(scaled)
    scores, error = gram.scores(beta)
    assert np.all(np.abs(scores - exact @ beta) <= error)
    np.testing.assert_allclose(gram.exact_scores(beta, np.arange(9)), (exact @ beta)[:9], atol=1e-9)
    rows = np.arange(0, 1500, 7)
    np.testing.assert_allclose(gram.submatrix(rows), exact[np.ix_(rows, rows)], atol=1e-5)


@pytest.mark.large
def test_rows_far_from_what_is_usual_are_dense_about_their_mean():
    rng = np.random.default_rng(2)
    X = np.zeros((1500, 40))
    X[:, 0] = np.where(rng.random(1500) < 0.4, 15.0, 0.0)  # float32 about zero is too rough, about the mean it serves
    gram = Gram(RBF(0.5), X, accuracy=1e-3)
    assert gram.dtype == np.float32
    assert type(gram.points.rows).__name__ == "DenseRows"
    np.testing.assert_allclose(gram.submatrix(np.arange(50)), RBF(0.5)(X[:50]), atol=1e-4)

"""The points of a kernel matrix: their precision and their form."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.gram import Gram
from maxmargin.kernels import RBF, Laplacian, Linear, Polynomial
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

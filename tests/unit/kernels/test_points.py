"""What kernels compare: inner products of sparse points."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.core import rows as storage


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_through_an_inverted_index(dtype):
    rng = np.random.default_rng(0)
    A, B = (sparse.random_array((n, 40), density=0.1, rng=rng, format="csr").astype(dtype) for n in (7, 9))
    index = storage.columns_of(storage.rows_of(B, dtype))
    outs = [np.full((7, 9), np.nan, dtype) for _ in range(2)]
    storage.products_by_column(storage.rows_of(A, dtype), index, outs[0])
    loop = storage.products_by_column
    getattr(loop, "py_func", loop)(storage.rows_of(A, dtype), index, outs[1])
    for out in outs:
        np.testing.assert_allclose(out, (A @ B.T).toarray(), rtol=1e-5)
    empty = sparse.csr_array((3, 1000), dtype=dtype)
    assert storage.columns_of(storage.rows_of(empty, dtype)) is None  # a thousand edges for nothing

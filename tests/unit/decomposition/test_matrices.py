"""Kernel matrices by their products: the same as the whole matrix times the columns, centred."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.decomposition.matrices import Centred, Factored, Given, KernelRows
from maxmargin.gram import Gram
from maxmargin.kernels import RBF, GramFunction, Linear, Precomputed

RNG = np.random.default_rng(0)
X, V = RNG.normal(size=(90, 5)) * (RNG.random((90, 5)) < 0.5), RNG.normal(size=(90, 4))
H = np.eye(90) - 1 / 90
KINDS = {
    "linear": (Linear(), X, Factored, X @ X.T),
    "linear, sparse": (Linear(), sparse.csr_array(X), Factored, X @ X.T),
    "rbf": (RBF(0.2), X, Gram, RBF(0.2)(X)),
    "given": (Precomputed(), RBF(0.2)(X), Given, RBF(0.2)(X)),
    "given, float32": (Precomputed(), RBF(0.2)(X).astype(np.float32), Given, RBF(0.2)(X)),
    "combined": (Precomputed() + 1.0, RBF(0.2)(X), Gram, RBF(0.2)(X) + 1.0),
}


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_products_and_whole(kind, center):
    kernel, rows, made, K = KINDS[kind]
    training = KernelRows(kernel, rows, center, 1 << 20, 2)
    A = H @ K @ H if center else K
    product = Centred(training.matrix(), center).product
    assert isinstance(training.matrix(), made)
    atol = 1e-5 if "float32" in kind else 1e-10
    np.testing.assert_allclose(product(V), A @ V, atol=atol)
    np.testing.assert_allclose(product(V, exact=True), A @ V, atol=atol)
    whole = training.stored().whole()
    np.testing.assert_allclose(H @ whole @ H if center else whole, A, atol=atol)
    trace = np.trace(H @ whole @ H) if center else training.matrix().diagonal.sum()
    np.testing.assert_allclose(trace, np.trace(A), rtol=1e-6)


def test_linear_rows_far_from_the_origin_lose_no_digits():
    far = KernelRows(Linear(), X + 1e8, True, 1 << 20, 1)
    near = KernelRows(Linear(), X, True, 1 << 20, 1)
    products = (Centred(rows.matrix(), True).product(V) for rows in (far, near))
    np.testing.assert_allclose(*products, atol=1e-5)


@pytest.mark.parametrize(
    ("kernel", "rows"),
    [(Precomputed(), np.triu(np.ones((90, 90)))), (GramFunction(lambda A, B: A[:, :1] + 0 * B[:, 0]), X)],
)
def test_values_from_outside_must_be_symmetric(kernel, rows):
    for made in (KernelRows.matrix, KernelRows.stored):
        with pytest.raises(ValueError, match="not symmetric"):
            made(KernelRows(kernel, rows, True, 1 << 20, 1))

"""Eigenpairs of centred kernel matrices by every solver, and whether what they say of themselves is so."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.core.blas import blas_held
from maxmargin.decomposition import spectrum
from maxmargin.decomposition.matrices import KernelRows
from maxmargin.decomposition.spectrum import SOLVERS, Asked, automatic, dense, lanczos
from maxmargin.kernels import RBF, Laplacian, Linear, Polynomial

AMPLE = 1 << 30
X = np.random.default_rng(0).normal(size=(300, 6)) * np.array([3, 2, 1.5, 1, 0.5, 0.2])
KERNELS = [Linear(), RBF(0.05), Laplacian(0.05), Polynomial(2, 0.1, 1.0), 2.0 * RBF(0.05) + Linear()]


def centred(kernel, X, center=True):
    K = kernel(X)
    if center:
        K = K - K.mean(axis=0)
        K -= K.mean(axis=1, keepdims=True)
    return K


def spectrum_of(A):
    with blas_held():  # several threads take long while other tests run
        return np.linalg.eigvalsh(A)[::-1]


def assert_proved(found, A, row_means):
    """What comes with the pairs, against the matrix itself."""
    true = np.linalg.norm(A @ found.vectors - found.vectors * found.values, axis=0)
    np.testing.assert_allclose(found.residuals, true, rtol=1e-2, atol=1e-12 * np.abs(found.values).max())
    np.testing.assert_allclose(found.trace, np.trace(A), rtol=1e-9)
    np.testing.assert_allclose(found.row_means, row_means, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(len(found.values)), atol=1e-10)
    assert found.found
    # Weyl: each value is within its residual of an eigenvalue of A
    near = np.abs(spectrum_of(A)[:, None] - found.values).min(axis=0)
    assert np.all(near <= found.residuals + 1e-12 * found.values[0])


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_finds_the_largest(solver, kernel, center):
    A = centred(kernel, X, center)
    rows = KernelRows(kernel, X, center, AMPLE, 2)
    found = SOLVERS[solver](rows, Asked(5))
    expected = spectrum_of(A)[:5]
    np.testing.assert_allclose(found.values, expected, rtol=1e-6 if solver == "randomized" else 1e-9)
    means = rows.matrix().product(np.ones((300, 1)))[:, 0] / 300  # of linear rows about their mean
    assert_proved(found, A, means)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_whole_spectrum_adds_up_to_the_trace(kernel):
    rows = KernelRows(kernel, X, True, AMPLE, 1)
    found = automatic(rows, Asked(6 if isinstance(kernel, Linear) else None))
    np.testing.assert_allclose(found.values.sum(), found.trace, rtol=1e-10)


def test_wide_and_sparse_rows_of_the_linear_kernel():
    wide = sparse.random_array((80, 400), density=0.05, rng=np.random.default_rng(1), format="csr")
    expected = spectrum_of(centred(Linear(), wide.toarray()))[:3]
    for rows in (wide, wide.toarray()):
        for solver in (dense, lanczos):
            found = solver(KernelRows(Linear(), rows, True, AMPLE, 2), Asked(3))
            np.testing.assert_allclose(found.values, expected, rtol=1e-9)


MANY = np.random.default_rng(2).normal(size=(1100, 8)) * 2.0 ** -np.arange(8)


@pytest.mark.large
@pytest.mark.parametrize("budget", [AMPLE, 3 << 20, 1 << 18], ids=["all values", "some", "none"])
def test_float32_values_within_any_budget(budget, monkeypatch):
    """The same pairs to the digits of the proof, which is that of the matrix in float64."""
    monkeypatch.setattr(spectrum, "SAMPLE", 200)  # a start from a sample
    A = centred(RBF(0.3), MANY)
    found = lanczos(KernelRows(RBF(0.3), MANY, True, budget, 2), Asked(6))
    assert found.float32
    np.testing.assert_allclose(found.values, spectrum_of(A)[:6], rtol=1e-8)
    assert_proved(found, A, RBF(0.3)(MANY).mean(axis=1))
    assert 1e-9 < found.residuals.max() / found.values[0] <= 1e-6


@pytest.mark.large
def test_float64_values_go_on_where_float32_ones_end():
    """Wide kernels leave little after centring: 1 - K is 1e-5 here, and float32 values know it to three digits."""
    kernel = RBF(1e-6)
    rows = KernelRows(kernel, MANY, True, AMPLE, 2)
    found = lanczos(rows, Asked(3))
    A = centred(kernel, MANY)
    np.testing.assert_allclose(found.values, spectrum_of(A)[:3], rtol=1e-6)
    assert found.found
    tight = lanczos(KernelRows(RBF(0.3), MANY, True, AMPLE, 2), Asked(3, tol=1e-10))
    assert tight.found
    assert tight.residuals.max() <= 1e-10 * tight.values[0]


@pytest.mark.large
def test_threads_change_no_bit():
    one, two = (lanczos(KernelRows(RBF(0.3), MANY, True, 3 << 20, jobs), Asked(4)) for jobs in (1, 2))
    np.testing.assert_array_equal(one.vectors, two.vectors)


def test_where_lanczos_comes_to_no_end_lapack_does(monkeypatch):
    monkeypatch.setattr(spectrum, "DENSE_ROWS", 10)
    narrow = KernelRows(RBF(5.0), X, True, AMPLE, 1)
    asked = Asked(3, max_iter=2)
    assert not lanczos(narrow, asked).found
    np.testing.assert_allclose(automatic(narrow, asked).values, dense(narrow, asked).values, rtol=1e-12)
    monkeypatch.setattr(spectrum, "LAST_RESORT", 10)
    assert not automatic(narrow, asked).found


def test_signs_are_fixed():
    found = dense(KernelRows(RBF(0.05), X, True, AMPLE, 1), Asked(8))
    largest = np.argmax(np.abs(found.vectors), axis=0)
    assert np.all(found.vectors[largest, np.arange(8)] > 0)

"""Is it a kernel? Eigenvalues of matrices, and where tanh is one."""

import numpy as np
import pytest

from maxmargin import mercer
from maxmargin.kernels import RBF, Laplacian, Linear, Polynomial, tanh_region

X = np.random.default_rng(0).normal(size=(30, 3))


@pytest.mark.parametrize("kernel", [Linear(), RBF(0.5), Laplacian(0.5), Polynomial(3, 1.0, 1.0)])
def test_kernels_satisfy_mercers_condition(kernel):
    report = mercer(kernel, X)
    assert report.symmetric
    assert report.positive_semidefinite
    assert report.rows == 30


def test_indefinite_and_asymmetric_matrices():
    report = mercer(np.array([[1.0, 2.0], [2.0, 1.0]]))
    assert not report.positive_semidefinite
    assert report.smallest_eigenvalue == pytest.approx(-1.0)
    assert "NOT positive semidefinite" in repr(report)
    lopsided = mercer(np.array([[1.0, 0.5], [0.0, 1.0]]))
    assert not lopsided.symmetric
    assert lopsided.asymmetry == 0.5


def test_a_function_is_checked_on_rows():
    assert mercer(lambda A, B: A @ B.T, X).positive_semidefinite
    assert mercer(lambda a, b: float(a @ b), X).positive_semidefinite
    assert mercer(lambda a, b: float(len(set(a) & set(b))), ["ab", "bc", "cde"]).positive_semidefinite
    with pytest.raises(ValueError, match="needs the rows"):
        mercer(RBF(1.0))
    with pytest.raises(ValueError, match="square"):
        mercer(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="NaN"):
        mercer(np.full((2, 2), np.nan))


def test_tanh_is_a_kernel_for_some_parameters_only():
    region = tanh_region(X[:3], kappas=[-0.5, 0.1, 1.0], thetas=[-1.0, 0.0, 1.0])
    assert region.smallest_eigenvalue.shape == (3, 3)
    assert region.positive_semidefinite.any()
    assert not region.positive_semidefinite.all()
    assert not region.positive_semidefinite[0, 0]  # kappa < 0, theta < 0: the diagonal is negative
    for i, kappa in enumerate(region.kappas):
        for j, theta in enumerate(region.thetas):
            matrix = np.tanh(kappa * X[:3] @ X[:3].T + theta)
            assert region.smallest_eigenvalue[i, j] == pytest.approx(np.linalg.eigvalsh(matrix)[0], abs=1e-12)

"""Whether a matrix is one of a kernel: symmetric and positive semidefinite."""

import numpy as np
import pytest

from maxmargin.gram import Gram
from maxmargin.gram.definiteness import definiteness_of
from maxmargin.kernels import RBF, GramFunction, Laplacian, Linear, Polynomial, Precomputed

N = 600
X = np.random.default_rng(0).normal(size=(N, 5))


def test_definiteness():
    assert Gram(RBF(1.0), X).definiteness(np.arange(3)) == (True, True, "")
    asked = GramFunction(lambda A, B: A @ B.T)
    assert Gram(asked, X).definiteness(np.arange(3)) == (True, True, "")
    many = np.random.default_rng(2).normal(size=(2500, 2))
    definite, symmetric, note = Gram(asked, many).definiteness(np.arange(10))
    assert definite
    assert symmetric
    assert "of 2500 rows" in note
    swap = Precomputed()
    matrix = np.array([[0.0, 1.0], [1.0, 0.0]])
    note = "the Gram matrix is not positive semidefinite"
    assert Gram(swap, matrix).definiteness(np.arange(2)) == (False, True, note)
    assert Gram(swap, matrix).smallest_eigenvalue() == pytest.approx(-1.0)


@pytest.mark.parametrize("kernel", [Linear(), RBF(0.5), Laplacian(0.5), Polynomial(3, 1.0, 1.0)])
def test_kernels_have_definite_matrices(kernel):
    assert definiteness_of(kernel(X[:30]), 30) == (True, True, "")


def test_indefinite_and_asymmetric_matrices_are_told_apart():
    indefinite, lopsided = np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([[1.0, 0.5], [0.0, 1.0]])
    assert definiteness_of(indefinite, 2) == (False, True, "the Gram matrix is not positive semidefinite")
    assert definiteness_of(lopsided, 2) == (False, False, "the Gram matrix is not symmetric")
    assert Gram(Precomputed(), lopsided).definiteness(np.arange(2)) == definiteness_of(lopsided, 2)

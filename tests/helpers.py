"""Data, problems and independent answers that the tests share."""

from __future__ import annotations

import clarabel
import numpy as np
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification, make_moons

# Example 23.3 of the notes (004): eight points of class +1, six of class -1.
NOTES_X = np.array(
    [
        [3.5, 4.25], [4, 3], [4, 4], [4.5, 1.75], [4.9, 4.5], [5, 4], [5.5, 2.5], [5.5, 3.5],
        [0.5, 1.5], [1, 2.5], [1.25, 0.5], [1.5, 1.5], [2, 2], [2.5, 0.75],
    ]
)  # fmt: skip
NOTES_Y = np.array([1] * 8 + [-1] * 6)
NOTES_SUPPORT = {0, 1, 3, 12, 13}  # x1, x2, x4, x13, x14
NOTES_ALPHA = np.zeros(14)
NOTES_ALPHA[[0, 1, 3, 12, 13]] = [0.0437, 0.2162, 0.1427, 0.3589, 0.0437]


def signs(y):
    """Two classes as -1 and +1."""
    return np.where(y == np.unique(y)[1], 1.0, -1.0)


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def iris_pair():
    X, y = load_iris(return_X_y=True)
    return X[y != 0], signs(y[y != 0])


def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return standardised(X), signs(y)


def cancer_as_it_is():
    """Features of spreads from 0.003 to 570, moved to their means."""
    X, y = load_breast_cancer(return_X_y=True)
    return X - X.mean(axis=0), signs(y)


def wine_pair():
    X, y = load_wine(return_X_y=True)
    return standardised(X[y != 2]), signs(y[y != 2])


def digits_pair():
    X, y = load_digits(return_X_y=True)
    pair = (y == 3) | (y == 8)
    return X[pair] / 16.0, signs(y[pair])


def moons(n=300, noise=0.25):
    X, y = make_moons(n, noise=noise, random_state=1)
    return X, signs(y)


def overlapping(n=400, d=6):
    X, y = make_classification(n, d, n_informative=3, n_redundant=0, flip_y=0.2, class_sep=0.5, random_state=2)
    return X, signs(y)


def separable(n=120, d=4):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, d))
    y = np.where(X @ np.arange(1.0, d + 1) > 0, 1.0, -1.0)
    return X + 0.2 * y[:, None], y


def unbalanced(n=400):
    X, y = make_classification(n, 5, weights=[0.93], flip_y=0.02, random_state=4)
    return X, signs(y)


def duplicated(n=80):
    X, y = overlapping(n, 3)
    return np.repeat(X, 3, axis=0), np.repeat(y, 3)


def sparse_counts(n=200, d=3000):
    """Wide sparse rows, as text gives: too wide to be made dense."""
    rng = np.random.default_rng(5)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    topic = rng.random((2, d)) ** 4
    rates = topic[(y > 0).astype(int)] * 0.05
    return sparse.csr_array(rng.poisson(rates).astype(float)), y


def multipliers(machine, n):
    """The notes' alpha of a fitted machine of two classes, one for each of its n rows."""
    alpha = np.zeros(n)
    alpha[machine.support_] = np.abs(machine.dual_coef_[0])
    return alpha


def dual_by_clarabel(K, y, C):
    """Optimal value of max sum(a) - a'(yy'K)a / 2 over 0 <= a <= C, a'y = 0, by an interior-point QP solver."""
    n = len(y)
    Q = sparse.csc_matrix(np.triu(np.outer(y, y) * K))
    A = sparse.vstack([sparse.csc_matrix(y[None, :]), sparse.eye(n), -sparse.eye(n)]).tocsc()
    b = np.concatenate([[0.0], np.full(n, C), np.zeros(n)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(2 * n)]
    answer = clarabel.DefaultSolver(Q, -np.ones(n), A, b, cones, settings).solve()
    assert str(answer.status) == "Solved", f"the reference solver ended with {answer.status}"
    return -answer.obj_val

"""Kernels and the spaces behind them (note 004).

A kernel is a function of two matrices of rows: ``linear(X, X)`` is the kernel matrix, as is ``gaussian(sigma)(X, X)``.
"""

import numpy as np

from maxmargin.textbook import inputs


def linear(A, B):
    """x'y."""
    return A @ B.T


def polynomial(d):
    """(x'y + 1)^d."""
    return lambda A, B: (A @ B.T + 1) ** d


def gaussian(sigma):
    """exp(-||x - y||^2 / (2 sigma^2)): the radial basis function of width sigma."""

    def K(A, B):
        squared = (A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1) - 2 * A @ B.T
        return np.exp(-np.maximum(squared, 0.0) / (2 * sigma**2))

    return K


def tanh(kappa, theta):
    """tanh(kappa x'y + theta): Mercer's condition does not hold for all kappa and theta."""
    return lambda A, B: np.tanh(kappa * A @ B.T + theta)


def plane(X):
    """Rows of two features, x1 and x2."""
    X = inputs.rows(X)
    if X.shape[1] != 2:
        raise ValueError(f"the map is of two features, x1 and x2; X has {X.shape[1]} columns")
    return X


def phi(X):
    """(1, sqrt2 x1, sqrt2 x2, x1^2, x2^2, sqrt2 x1 x2): phi(x)'phi(y) = (1 + x1 y1 + x2 y2)^2."""
    x1, x2 = plane(X).T
    root = np.sqrt(2)
    return np.column_stack([np.ones(len(X)), root * x1, root * x2, x1**2, x2**2, root * x1 * x2])


def lift_line(x):
    """z = (x, x^2): points on a line onto a parabola."""
    return np.column_stack([x, x**2])


def lift_xor(X):
    """(x1, x2, x1 x2): with the new feature XOR is linearly separable."""
    return np.column_stack([plane(X), np.prod(X, axis=1)])


def smallest_eigenvalue(K):
    """Mercer: a symmetric function is a kernel when every Gram matrix has no negative eigenvalue."""
    return np.linalg.eigvalsh((K + K.T) / 2)[0]


def distance(K_xx, K_xy, K_yy):
    """||phi(x) - phi(y)||, from inner products alone."""
    return np.sqrt(np.maximum(K_xx - 2 * K_xy + K_yy, 0.0))


def cosine(K_xx, K_xy, K_yy):
    """Of the angle between phi(x) and phi(y)."""
    return K_xy / np.sqrt(K_xx * K_yy)

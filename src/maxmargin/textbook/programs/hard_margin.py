"""The hard margin as a quadratic program (notes 003, section 2.2, and 004).

primal   min 1/2 ||w||^2                                        subject to y_i (w'x_i + b) >= 1
dual     max sum_i alpha_i - 1/2 sum_ij alpha_i alpha_j y_i y_j K_ij   subject to alpha_i >= 0, sum_i alpha_i y_i = 0
"""

import numpy as np

from maxmargin.textbook import inputs
from maxmargin.textbook.programs.interior_point import at_bounds, box, solve_qp

NOT_SEPARABLE = (
    "no solution: no hyperplane separates the classes, or by too little for the scale of X; soft_margin allows slack"
)


def lagrangian(w, b, alpha, X, y):
    """L(w, b, alpha) = 1/2 ||w||^2 - sum_i alpha_i (y_i (w'x_i + b) - 1)."""
    return 0.5 * w @ w - alpha @ (y * (X @ w + b) - 1)


def W(alpha, K, y):
    """The dual objective; it never exceeds 1/2 ||w||^2, and equals it at the optimum (strong duality)."""
    return alpha.sum() - 0.5 * (alpha * y) @ K @ (alpha * y)


def solved(*program):
    """The quadratic program's answer; where it has none, an error in the words of the hard margin."""
    try:
        return solve_qp(*program)
    except ValueError as error:
        raise ValueError(NOT_SEPARABLE) from error


def primal(X, y):
    """w, b, the multipliers alpha of the constraints, and the history (as of interior_point.solve_qp).

    X is n x p, y has the n labels -1 or +1.
    """
    X, y = inputs.examples(X, y)
    n, p = X.shape
    G = -y[:, None] * np.column_stack([X, np.ones(n)])  # -y (w'x + b) <= -1
    u, alpha, _, history = solved(np.diag([1.0] * p + [0.0]), np.zeros(p + 1), G, -np.ones(n))
    return u[:-1], u[-1], alpha, history


def dual(K, y):
    """alpha and the history, by the quadratic program -max = min 1/2 alpha'Q alpha - 1'alpha with Q_ij = y_i y_j K_ij.

    K is the n x n kernel matrix, y the n labels -1 or +1; the history's objective is the minimised one.
    """
    K, y = inputs.matrix(K, y)
    n = len(y)
    Q = y[:, None] * K * y
    alpha, z, _, history = solved(Q, -np.ones(n), *box(n, np.inf), y[None, :], np.zeros(1))
    return at_bounds(alpha, z, np.inf, y), history


def bias(alpha, K, y):
    """b = 1/|S| sum over S of (y_i - w'x_i)."""
    S = alpha > 0
    return np.mean(y[S] - K[S] @ (alpha * y))


def kkt(w, b, alpha, X, y):
    """How far each condition is from holding; all zero at the optimum."""
    gap = y * (X @ w + b) - 1
    return {
        "w - sum alpha_i y_i x_i": np.abs(w - (alpha * y) @ X).max(),
        "sum alpha_i y_i": abs(alpha @ y),
        "y_i (w'x_i + b) >= 1": max(0.0, -gap.min()),
        "alpha_i >= 0": max(0.0, -alpha.min()),
        "alpha_i [y_i (w'x_i + b) - 1]": np.abs(alpha * gap).max(),
    }
